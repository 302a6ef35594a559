"""Headings of a PDF without an outline, told by how they look. Rather none than a wrong one."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from documents.extractors.cleaning import clean_label
from documents.extractors.failures import MAX_OUTLINE_ENTRIES, MAX_TITLE
from documents.extractors.pdf.layout import is_tabular, line_key
from documents.extractors.pdf.pages import Look, RawPage

_LARGER = 1.15  # times the size of the body's letters
_FAR = 1.25  # times the usual distance of lines
_MOST_LINES = 3  # of one heading
_MOST_CHARS = 150  # of one line
_MOST_BOLD = 80  # of one that is only bold
_MOST_SHARE = 0.35  # of the document's letters: more are no headings
_MANY = 5  # headings that tell how the rest of the document is set
_WORDS = {"part": -2, "teil": -2, "chapter": -2, "kapitel": -2, "item": -1, "section": -1, "abschnitt": -1}
_NUMBER = re.compile(
    rf"(?:({'|'.join(_WORDS)})\s+)?((?:\d{{1,2}}|[IVX]{{1,5}})[A-Z]?(?:\.\d{{1,2}}){{0,4}})(?:[.:)]?\s+\S|[.:]?$)",
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
class FoundHeading:
    """lines: as `line_key` has them, to be kept together and apart from the rest."""

    level: int
    title: str
    page_index: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    page_index: int
    text: str
    look: Look
    above: float | None  # distance to the line before, None at the page's top or after a jump


@dataclass(frozen=True, slots=True)
class _Body:
    """size: of most letters. bold: whether most are. letters: in all.

    leading: the usual distance of lines; 0 if unknown.
    """

    size: float
    bold: bool
    leading: float
    letters: int


def find_headings(pages: Sequence[RawPage], running: Collection[str]) -> tuple[list[FoundHeading], str]:
    """(headings in reading order, the title or ""). running: keys of running heads and feet."""
    body = _body(pages)
    if body is None:
        return [], ""
    runs = list(_runs(list(_candidates(pages, body, running))))
    if _letters(runs) > _MOST_SHARE * body.letters:
        runs = [run for run in runs if run[0].look.size >= _LARGER * body.size]
    if _letters(runs) > _MOST_SHARE * body.letters:
        return [], ""
    headings, title = _with_levels(runs[:MAX_OUTLINE_ENTRIES], body)
    return (headings, title) if title or len(headings) > 1 else ([], "")


def _body(pages: Sequence[RawPage]) -> _Body | None:
    letters: Counter[tuple[float, bool]] = Counter()
    leading: Counter[float] = Counter()
    for page in pages:
        last: Look | None = None
        for text, look in zip(page.text.split("\n"), page.looks, strict=False):
            if look is None:
                continue
            letters[(round(look.size, 1), look.bold)] += len(text)
            if last and round(last.size, 1) == round(look.size, 1) and last.baseline > look.baseline:
                leading[round(2 * (last.baseline - look.baseline)) / 2] += len(text)
            last = look
    if not letters:
        return None
    (size, bold), _ = letters.most_common(1)[0]
    return _Body(size, bold, leading.most_common(1)[0][0] if leading else 0.0, letters.total())


def _letters(runs: Sequence[Sequence[_Line]]) -> int:
    return sum(len(line.text) for run in runs for line in run)


def _candidates(pages: Sequence[RawPage], body: _Body, running: Collection[str]) -> Iterator[_Line]:
    """Lines that may be one of a heading, each by itself."""
    for page_index, page in enumerate(pages):
        texts = page.text.split("\n")
        seen = [place for place, look in enumerate(page.looks) if look is not None]
        for order, place in enumerate(seen):
            look = page.looks[place]
            if look is None or not _looks_different(look, body) or line_key(texts[place]) in running:
                continue
            before = page.looks[seen[order - 1]] if order else None
            after = seen[order + 1] if order + 1 < len(seen) else None
            if look.beside(before) or (after is not None and look.beside(page.looks[after])):
                continue
            above = before.baseline - look.baseline if before and before.baseline > look.baseline else None
            line = _Line(page_index, clean_label(texts[place], max_chars=MAX_TITLE), look, above)
            if _stands_out(line, "" if after is None else texts[after].strip(), body):
                yield line


def _looks_different(look: Look, body: _Body) -> bool:
    larger = look.size >= _LARGER * body.size
    return larger or (look.bold and not body.bold and look.size >= 0.95 * body.size)


def _stands_out(line: _Line, below: str, body: _Body) -> bool:
    text = line.text
    if len(text) > _MOST_CHARS or not _reads_as_heading(text):
        return False
    if line.look.size >= _LARGER * body.size:
        return True
    apart = line.above is None or line.above >= _FAR * body.leading
    return apart and len(text) <= _MOST_BOLD and not (below and is_tabular(below))


def _reads_as_heading(text: str) -> bool:
    letters = len(_LETTER.findall(text))
    enough = 2 if _CJK.search(text) else 3
    if letters < enough or 2 * letters < len(text.replace(" ", "")) or is_tabular(text):
        return False
    if text.endswith((".", ",", ";", ":", "。", "，", "；", "：")):
        return False
    return _NO_HEADING.match(text) is None


def _runs(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Lines of one heading, which was too long for one; more lines than a heading has are none."""
    run: list[_Line] = []
    for line in lines:
        if run and _goes_on(run[-1], line):
            run.append(line)
            continue
        if 0 < len(run) <= _MOST_LINES:
            yield run
        run = [] if line.text[0].islower() else [line]
    if 0 < len(run) <= _MOST_LINES:
        yield run


def _goes_on(last: _Line, line: _Line) -> bool:
    near = line.above is not None and line.above <= 1.5 * max(line.look.size, 1.0)
    same = _style(last.look) == _style(line.look) and last.page_index == line.page_index
    adjacent = abs(last.look.baseline - line.look.baseline - (line.above or 0.0)) < 0.5
    return same and near and adjacent and not _NUMBER.match(line.text)


def _style(look: Look) -> tuple[float, bool]:
    return round(look.size * 2) / 2, look.bold


def _with_levels(runs: Sequence[list[_Line]], body: _Body) -> tuple[list[FoundHeading], str]:
    """Larger before smaller, bold before light, "Part" before "Item", "2" before "2.1"."""
    title = _title(runs, body)
    runs = _without_cover(runs, bool(title))
    if title and len({_rank(run) for run in runs}) > 2:
        runs = runs[1:]  # with two levels below it, the title is no chapter
    ranks = {rank: level for level, rank in enumerate(sorted({_rank(run) for run in runs}), 1)}
    headings = [
        FoundHeading(
            level=ranks[_rank(run)],
            title=clean_label(" ".join(line.text for line in run), max_chars=MAX_TITLE),
            page_index=run[0].page_index,
            lines=tuple(line_key(line.text) for line in run),
        )
        for run in runs
    ]
    return headings, title


def _without_cover(runs: Sequence[list[_Line]], titled: bool) -> list[list[_Line]]:
    """Without what is set on the first page as nowhere else, but for the title, if there are many others."""
    later = {_style(run[0].look) for run in runs if run[0].page_index}
    kept = [run for run in runs if _style(run[0].look) in later]
    if len(kept) < _MANY:
        return list(runs)
    return [*runs[:1], *kept] if titled and runs[0] not in kept else kept


def _rank(run: Sequence[_Line]) -> tuple[float, bool, int]:
    size, bold = _style(run[0].look)
    number = _NUMBER.match(run[0].text)
    if number is None:
        return -size, not bold, 0
    return -size, not bold, _WORDS.get((number[1] or "").lower(), number[2].count("."))


def _title(runs: Sequence[list[_Line]], body: _Body) -> str:
    """The largest heading, if it is the first one too, on the first page, and well above the body's size."""
    if not runs or runs[0][0].page_index or _NUMBER.match(runs[0][0].text):
        return ""
    size = runs[0][0].look.size
    others = [run[0].look.size for run in runs[1:]]
    if size < 1.3 * body.size or any(other > 0.95 * size for other in others):
        return ""
    return clean_label(" ".join(line.text for line in runs[0]), max_chars=MAX_TITLE)
