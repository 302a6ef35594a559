"""Running heads, running feet and page numbers: lines at the edge of pages that say the same, or count."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import NamedTuple

from documents.extractors.pdf.layout import line_key
from documents.extractors.pdf.pages import LineStyle, RawPage
from documents.text.characters import clean_label, has_text

_EDGE = 0.09  # of the page's height
_LARGER = 1.15  # times the size of most lines
_SHARE = 0.4  # of the pages; heads of left and right pages differ
_TURNED_SHARE = 0.8  # of the pages; less may be the label of a diagram's axis
_FEWEST_PAGES = 3  # that say the same
_NEAR_PAGES = 2.5  # pages for each that says it: the heads of a chapter
_SAME_HEIGHT = 2.0  # points
_LONGEST = 300  # characters: what a server of preprints prints on each page has 150
_MOST_NUMBERS = 12  # of a line
_NUMBER = re.compile(r"\d+|\b[ivxlc]{1,6}\b")
_OUTER_NUMBER = re.compile(r"^(?:\d+|[ivxlc]{1,6})(?!\S)|(?<!\S)(?:\d+|[ivxlc]{1,6})$")
_DIGITS = re.compile(r"(?<!\d)\d{1,6}(?!\d)")
_PAGE_NUMBER = re.compile(
    r"\W*(?:p|pg|page|s|seite|página|pagina|strona|第)?\W*#\W*(?:(?:of|von|de|di|sur|z)?\W*#)?\W*[页頁]?\W*"
)


@dataclass(frozen=True, slots=True)
class TrimmedPage:
    """A page without its running lines. head, foot: these, before and behind the rest in reading order."""

    page: RawPage
    head: str = ""
    foot: str = ""


class _Shape(NamedTuple):
    """What a running line says on each page. text: without case, what may be a page's number left out.

    large: its letters are, and a number is a chapter's. offset: a number in it less its page's index, if it
    is known by that.
    """

    text: str
    large: bool
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class _EdgeLine:
    """A line at the upper or lower edge of a page, or its first or last line with a number.

    baseline: its height, not a number for a turned one. count: its first number less its page's index.
    """

    page: int
    line: int
    baseline: float
    count: int | None


def take_running_lines(pages: Sequence[RawPage]) -> list[TrimmedPage]:
    """Take the running lines out of each page; one with nothing else keeps them."""
    by_shape: dict[_Shape, list[_EdgeLine]] = defaultdict(list)
    for page_index, page in enumerate(pages):
        for shape, line in _iter_edge_lines(page, page_index):
            by_shape[shape].append(line)
    running: dict[int, set[int]] = defaultdict(set)
    for shape, lines in by_shape.items():
        for line in _select_running(shape, lines, len(pages)):
            running[line.page].add(line.line)
    return [_trim(page, running.get(index, set())) for index, page in enumerate(pages)]


def _iter_edge_lines(page: RawPage, page_index: int) -> Iterator[tuple[_Shape, _EdgeLine]]:
    """Yield the lines that may run, each with all shapes by which it may be known."""
    if not page.height:
        return
    sizes = sorted(style.size for style in page.styles if style)
    texts = page.text.split("\n")
    written = [number for number, text in enumerate(texts) if text.strip()]
    heights = {style.baseline for style in page.styles if style}
    outermost = {max(heights, default=0.0), min(heights, default=0.0)}
    tables = {style.table for style in page.styles if style and not _is_at_edge(style, page)}
    for number, (text, style) in enumerate(zip(texts, page.styles, strict=False)):
        if len(text) > _LONGEST or (style and style.table is not None and style.table in tables):
            continue
        if style is None:  # it runs up the page, along its edge
            if has_text(text):
                yield _Shape(line_key(text).casefold(), large=False), _EdgeLine(page_index, number, nan, None)
            continue
        at_edge = _is_at_edge(style, page)
        if not (at_edge or number in (written[0], written[-1]) or style.baseline in outermost):
            continue
        key = line_key(text).casefold()
        usual = sizes[len(sizes) // 2]
        numbers = [(match, int(match.group()) - page_index) for match in _DIGITS.finditer(key)]
        line = _EdgeLine(page_index, number, style.baseline, numbers[0][1] if numbers else None)
        large, small = style.size > _LARGER * usual, style.size < usual
        whole = _NUMBER.sub("#", key)
        if _PAGE_NUMBER.fullmatch(whole):
            yield _Shape(whole, large), line
            continue
        if at_edge:
            yield _Shape(key if large else _OUTER_NUMBER.sub("#", key), large), line
        if small or (at_edge and not large):
            for match, count in numbers[:_MOST_NUMBERS]:
                yield _Shape(f"{key[: match.start()]}#{key[match.end() :]}", large, count), line


def _is_at_edge(style: LineStyle, page: RawPage) -> bool:
    return not _EDGE < style.baseline / page.height < 1 - _EDGE


def _select_running(shape: _Shape, lines: Sequence[_EdgeLine], page_count: int) -> Sequence[_EdgeLine]:
    """Return those lines of one shape that run: page numbers that count with the pages, and what repeats."""
    if _PAGE_NUMBER.fullmatch(shape.text):
        pages_of_count: dict[int | None, set[int]] = defaultdict(set)
        for line in lines:
            pages_of_count[line.count].add(line.page)
        return [line for line in lines if line.count is not None and len(pages_of_count[line.count]) > 1]
    pages = {line.page for line in lines}
    share = _TURNED_SHARE if isnan(lines[0].baseline) else _SHARE
    if len(pages) >= max(_FEWEST_PAGES, share * page_count):
        return lines
    if len(pages) >= _FEWEST_PAGES and _stand_alike(lines):
        return lines
    return []


def _stand_alike(lines: Sequence[_EdgeLine]) -> bool:
    """Tell if the lines stand at one height, on pages near each other, as the heads of a chapter do."""
    heights = [line.baseline for line in lines]
    pages = [line.page for line in lines]
    return max(heights) - min(heights) < _SAME_HEIGHT and max(pages) - min(pages) < _NEAR_PAGES * len(
        set(pages)
    )


def _trim(page: RawPage, running: set[int]) -> TrimmedPage:
    if not running:
        return TrimmedPage(page)
    lines = page.text.split("\n")
    styles: list[LineStyle | None] = [*page.styles, *[None] * (len(lines) - len(page.styles))]
    body = [number for number in range(len(lines)) if number not in running]
    if not has_text("".join(lines[number] for number in body)):
        return TrimmedPage(page)
    first = next(number for number in body if lines[number].strip())
    return TrimmedPage(
        replace(
            page,
            text="\n".join(lines[number] for number in body),
            styles=[styles[number] for number in body],
        ),
        head="\n".join(clean_label(lines[number]) for number in sorted(running) if number < first),
        foot="\n".join(clean_label(lines[number]) for number in sorted(running) if number > first),
    )
