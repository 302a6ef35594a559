"""Heading detection by line styles, for a PDF without an outline. Rather no heading than a wrong one."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from documents.extractors.failures import MAX_OUTLINE_ENTRIES, MAX_TITLE
from documents.extractors.pdf.layout import is_tabular, line_key
from documents.extractors.pdf.pages import LineStyle, RawPage
from documents.text.characters import clean_label

_LARGER = 1.15  # times the size of the body's letters
_FAR = 1.25  # times the usual distance of lines
_MOST_LINES = 3  # of one heading
_MOST_CHARS = 150  # of one line
_MOST_BOLD = 80  # of one that is only bold
_MOST_SHARE = 0.35  # of the document's letters: more are no headings
_REPEATED = 3  # pages
_MANY = 5  # headings that tell how the rest of the document is set
_RANK_WORDS = {
    "part": -2,
    "teil": -2,
    "chapter": -2,
    "kapitel": -2,
    "item": -1,
    "section": -1,
    "abschnitt": -1,
}
_NUMBER = re.compile(
    rf"(?:({'|'.join(_RANK_WORDS)})\s+)?((?:\d{{1,2}}|[IVX]{{1,5}})[A-Z]?(?:\.\d{{1,2}}){{0,4}})(?:[.:)]?\s+\S|[.:]?$)",
    re.IGNORECASE,
)
_NO_HEADING = re.compile(
    r"(?:fig(?:ure|\.)?|table|tab\.|abb(?:ildung|\.)?|tabelle)\s*[\dIVX]|[(\[•·▪*–—-]"
    r"|.*(?:https?:|www\.|@|\.\s?\.\s?\.)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_CJK = re.compile("[\u2e80-\u9fff]")


@dataclass(frozen=True, slots=True)
class DetectedHeading:
    """A heading that was detected. lines: their `line_key`s, to be kept together and apart from the rest."""

    level: int
    title: str
    page_index: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _StyledLine:
    page_index: int
    text: str
    style: LineStyle
    above: float | None  # distance to the line before, None at the page's top or after a jump


@dataclass(frozen=True, slots=True)
class _BodyStyle:
    """The style of the body's text. size, bold: of most letters. letters: in all.

    leading: the usual distance of lines, 0 if unknown.
    """

    size: float
    bold: bool
    leading: float
    letters: int


def find_headings(pages: Sequence[RawPage]) -> tuple[list[DetectedHeading], str]:
    """Return headings in reading order, and the title or ""."""
    body = _find_body_style(pages)
    if body is None:
        return [], ""
    runs = list(_join_lines(_without_repeated(list(_iter_candidates(pages, body)))))
    if _count_letters(runs) > _MOST_SHARE * body.letters:
        runs = [run for run in runs if run[0].style.size >= _LARGER * body.size]
    if _count_letters(runs) > _MOST_SHARE * body.letters:
        return [], ""
    headings, title = _assign_levels(runs[:MAX_OUTLINE_ENTRIES], body)
    return (headings, title) if title or len(headings) > 1 else ([], "")


def _find_body_style(pages: Sequence[RawPage]) -> _BodyStyle | None:
    letters: Counter[tuple[float, bool]] = Counter()
    leading: Counter[float] = Counter()
    for page in pages:
        last: LineStyle | None = None
        for text, style in zip(page.text.split("\n"), page.styles, strict=False):
            if style is None:
                continue
            letters[(round(style.size, 1), style.bold)] += len(text)
            if last and round(last.size, 1) == round(style.size, 1) and last.baseline > style.baseline:
                leading[round(2 * (last.baseline - style.baseline)) / 2] += len(text)
            last = style
    if not letters:
        return None
    (size, bold), _ = letters.most_common(1)[0]
    return _BodyStyle(size, bold, leading.most_common(1)[0][0] if leading else 0.0, letters.total())


def _count_letters(runs: Sequence[Sequence[_StyledLine]]) -> int:
    return sum(len(line.text) for run in runs for line in run)


def _iter_candidates(pages: Sequence[RawPage], body: _BodyStyle) -> Iterator[_StyledLine]:
    """Yield the lines that may belong to a heading, each judged by itself."""
    for page_index, page in enumerate(pages):
        texts = page.text.split("\n")
        styled = [(text, style) for text, style in zip(texts, page.styles, strict=False) if style]
        for number, (text, style) in enumerate(styled):
            before = styled[number - 1][1] if number else None
            below_text, below = styled[number + 1] if number + 1 < len(styled) else ("", None)
            if not _differs_from_body(style, body) or style.table is not None:
                continue
            if style.is_level_with(before) or style.is_level_with(below):
                continue
            distance = None
            if before and before.baseline > style.baseline:
                distance = before.baseline - style.baseline
            line = _StyledLine(page_index, clean_label(text, max_chars=MAX_TITLE), style, distance)
            if _stands_out(line, below_text.strip(), body):
                yield line


def _without_repeated(lines: Sequence[_StyledLine]) -> list[_StyledLine]:
    """Leave out what stands at one place of several pages, as the heads of a table do that goes on."""
    places = Counter(map(_place, lines))
    return [line for line in lines if places[_place(line)] < _REPEATED]


def _place(line: _StyledLine) -> tuple[str, int, int]:
    return line.text, round(line.style.left), round(line.style.baseline)


def _differs_from_body(style: LineStyle, body: _BodyStyle) -> bool:
    larger = style.size >= _LARGER * body.size
    return larger or (style.bold and not body.bold and style.size >= 0.95 * body.size)


def _stands_out(line: _StyledLine, below: str, body: _BodyStyle) -> bool:
    text = line.text
    if len(text) > _MOST_CHARS or not _is_heading_text(text):
        return False
    if line.style.size >= _LARGER * body.size:
        return True
    apart = line.above is None or line.above >= _FAR * body.leading
    return apart and len(text) <= _MOST_BOLD and not (below and is_tabular(below))


def _is_heading_text(text: str) -> bool:
    letters = len(_LETTER.findall(text))
    enough = 2 if _CJK.search(text) else 3
    if letters < enough or 2 * letters < len(text.replace(" ", "")) or is_tabular(text):
        return False
    if text.endswith((".", ",", ";", ":", "。", "，", "；", "：")):
        return False
    return _NO_HEADING.match(text) is None


def _join_lines(lines: Sequence[_StyledLine]) -> Iterator[list[_StyledLine]]:
    """Yield headings as lists of lines; a run of more lines than a heading has is dropped."""
    run: list[_StyledLine] = []
    for line in lines:
        if run and _continues(run[-1], line):
            run.append(line)
            continue
        if 0 < len(run) <= _MOST_LINES:
            yield run
        run = [] if line.text[0].islower() else [line]
    if 0 < len(run) <= _MOST_LINES:
        yield run


def _continues(last: _StyledLine, line: _StyledLine) -> bool:
    near = line.above is not None and line.above <= 1.5 * max(line.style.size, 1.0)
    same = _style_key(last.style) == _style_key(line.style) and last.page_index == line.page_index
    adjacent = abs(last.style.baseline - line.style.baseline - (line.above or 0.0)) < 0.5
    return same and near and adjacent and not _NUMBER.match(line.text)


def _style_key(style: LineStyle) -> tuple[float, bool]:
    return round(style.size * 2) / 2, style.bold


def _assign_levels(runs: Sequence[list[_StyledLine]], body: _BodyStyle) -> tuple[list[DetectedHeading], str]:
    """Rank larger above smaller, bold above light, "Part" above "Item", "2" above "2.1"."""
    title = _find_title(runs, body)
    runs = _drop_cover(runs, bool(title))
    if title and len({_rank(run) for run in runs}) > 2:
        runs = runs[1:]  # with two levels below it, the title is no chapter
    ranks = {rank: level for level, rank in enumerate(sorted({_rank(run) for run in runs}), 1)}
    headings = [
        DetectedHeading(
            level=ranks[_rank(run)],
            title=clean_label(" ".join(line.text for line in run), max_chars=MAX_TITLE),
            page_index=run[0].page_index,
            lines=tuple(line_key(line.text) for line in run),
        )
        for run in runs
    ]
    return headings, title


def _drop_cover(runs: Sequence[list[_StyledLine]], titled: bool) -> list[list[_StyledLine]]:
    """Drop what is set on the first page as nowhere else, but the title, if there are many other headings."""
    later = {_style_key(run[0].style) for run in runs if run[0].page_index}
    kept = [run for run in runs if _style_key(run[0].style) in later]
    if len(kept) < _MANY:
        return list(runs)
    return [*runs[:1], *kept] if titled and runs[0] not in kept else kept


def _rank(run: Sequence[_StyledLine]) -> tuple[float, bool, int]:
    size, bold = _style_key(run[0].style)
    number = _NUMBER.match(run[0].text)
    if number is None:
        return -size, not bold, 0
    return -size, not bold, _RANK_WORDS.get((number[1] or "").lower(), number[2].count("."))


def _find_title(runs: Sequence[list[_StyledLine]], body: _BodyStyle) -> str:
    """Return the largest heading if it comes first, on page 1, and well above the body's size; else ""."""
    if not runs or runs[0][0].page_index or _NUMBER.match(runs[0][0].text):
        return ""
    size = runs[0][0].style.size
    others = [run[0].style.size for run in runs[1:]]
    if size < 1.3 * body.size or any(other > 0.95 * size for other in others):
        return ""
    return clean_label(" ".join(line.text for line in runs[0]), max_chars=MAX_TITLE)
