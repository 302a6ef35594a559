"""The numbers of lines that drafts, laws and transcripts print beside their text: not a part of it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from documents.extractors.pdf.pages import LineStyle, RawPage

# At a line's beginning, or where PDFium joins two lines at a hyphen.
_NUMBER = re.compile(r"(?:^|(?<=\ufffe))[ ]?(\d{1,5})(?:[ ]+(?=\S)|(?=[ ]*\r?$))", re.MULTILINE)
_FEWEST = 8  # of a page, to know it by
_FEWEST_MORE = 3  # where other pages are known
_SHARE = 1 / 3  # of a page's lines
_GOING_ON = 0.3  # of the numbers, before a small letter: no row of a ranking begins so
_PAGES = 1 / 2  # of the document


def drop_line_numbers(pages: Sequence[RawPage]) -> list[RawPage]:
    """Return the pages without the numbers of their lines, if half of those with text have such numbers."""
    runs = [_find_run(page.text) for page in pages]
    known = sum(_are_of_lines(page.text, run) for page, run in zip(pages, runs, strict=True))
    if not known or known < _PAGES * sum(bool(page.text.strip()) for page in pages):
        return list(pages)
    return [
        _without(page, run) if len(run) >= _FEWEST_MORE else page
        for page, run in zip(pages, runs, strict=True)
    ]


def _find_run(text: str) -> list[re.Match[str]]:
    """Return the most numbers of which each is one more than the one before, with others between them."""
    length: dict[int, int] = {}
    before: dict[int, re.Match[str] | None] = {}
    latest: dict[int, re.Match[str]] = {}
    last = None
    for match in _NUMBER.finditer(text):
        value = int(match[1])
        previous = latest.get(value - 1)
        length[match.start()] = 1 + (length[previous.start()] if previous else 0)
        before[match.start()], latest[value] = previous, match
        if last is None or length[match.start()] > length[last.start()]:
            last = match
    run: list[re.Match[str]] = []
    while last is not None:
        run.append(last)
        last = before[last.start()]
    return run[::-1]


def _are_of_lines(text: str, run: Sequence[re.Match[str]]) -> bool:
    lines = sum(1 for line in text.split("\n") if line.strip()) + text.count("\ufffe")
    behind = [text[match.end() : match.end() + 1] for match in run]  # a blank line has a number, too
    told = [letter for letter in behind if letter.strip()]
    going_on = sum(map(str.islower, told))
    return len(run) >= max(_FEWEST, _SHARE * lines) and going_on >= max(1, _GOING_ON * len(told))


def _without(page: RawPage, run: Sequence[re.Match[str]]) -> RawPage:
    """Return the page without these numbers; the gaps of its lines stay where they are in the text."""
    parts, done, start, place = [], 0, 0, 0
    styles = list(page.styles)
    for number, line in enumerate(page.text.split("\n")):
        end, inside = start + len(line), []
        while place < len(run) and run[place].start() < end:
            first, last = run[place].span()
            parts.append(page.text[done:first])
            inside.append((first - start, last - start))
            done, place = last, place + 1
        if inside and number < len(styles):
            styles[number] = _moved(styles[number], inside)
        start = end + 1
    return replace(page, text="".join([*parts, page.text[done:]]), styles=styles)


def _moved(style: LineStyle | None, left_out: Sequence[tuple[int, int]]) -> LineStyle | None:
    if style is None:
        return None
    gaps = [
        replace(gap, index=gap.index - sum(last - first for first, last in left_out if last <= gap.index))
        for gap in style.gaps
        if not any(first <= gap.index < last for first, last in left_out)
    ]
    return replace(style, gaps=tuple(gaps))
