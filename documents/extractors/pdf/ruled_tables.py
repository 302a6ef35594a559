"""The letters of a PDF page in the order of its ruled tables: row by row, and in a row cell by cell.

A page's letters stand in the order in which they were drawn, which may be column by column, or from below.
Where ruling lines part them into cells, each belongs to the cell that it stands in.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from documents.extractors.pdf.pages import Gap, LineStyle
from documents.extractors.pdf.rulings import Grid
from documents.text.tables import is_figure

_WORD = re.compile("[^\\s\ufffe]+\ufffe?")  # U+FFFE is a hyphen at a line's end
_FEWEST = 2  # columns and rows with text
_LEAST_FILLED = 0.5  # of the rows, in at least two columns: less is a drawing
_MOST_LETTERS = 600  # of a cell: more is a page laid out in boxes
_MOST_LINES = 200  # of one cell, that may be rows
_MOST = 0.75  # of rows, or columns, that are one cell: they are none
_FIGURE = re.compile(r"[<>≤≥±~]?[-–—−+]?\(?[$€£¥]?\d[\d.,]*[%)]*")
_EM = 1.5  # heights of a letter, in most words a small one
_WIDE = 1.5  # em between two words that are not of one cell
_FEW = 0.2  # of the cells or rows
_SIGN = re.compile(r"[$€£¥%()]+")
_SHORT = 2  # letters, that do not tell which way a word runs
_LEVEL = 4.0  # points between the heights of letters on one line

Span = tuple[int, int]
Cells = tuple[tuple[Span, ...], ...]
Boxes = Callable[[int], tuple[float, float, float, float]]  # left, right, bottom, top; zeros for none
_Place = tuple[int, int]  # the row from above, and the column


class ArrangedLine(NamedTuple):
    """A line, as spans of the page's letters by cell. table: its number on the page; None for other lines."""

    cells: Cells
    table: int | None = None


class _Word(NamedTuple):
    """A word. x, y: its middle. height: of its first letter. crosses: an edge of its grid. turned: it runs up
    or down the page.
    """

    span: Span
    left: float
    right: float
    y: float
    height: float
    crosses: bool
    turned: bool

    @property
    def x(self) -> float:
        return (self.left + self.right) / 2


def arrange_lines(text: str, grids: Sequence[Grid], boxes: Boxes) -> list[ArrangedLine] | None:
    """Return the lines of a page in reading order; None where no grid is a table.

    text: a character for each letter of the page. boxes: of the letter at a place, in points.
    """
    found: list[dict[_Place, list[_Word]]] = [{} for _ in grids]
    for place, number, word in _iter_words(text, grids, boxes):
        found[number].setdefault(place, []).append(word)
    tables = []
    for grid, cells in zip(grids, found, strict=True):
        if cells and not _goes_on_beside(text, cells) and (rows := _find_rows(text, cells, grid)):
            tables.append((grid, rows))
    if not tables:
        return None
    lines = list(_iter_others(text, [span for _, rows in tables for span in _iter_spans(rows)]))
    for number, (grid, rows) in enumerate(tables):
        before = _find_place(lines, text, rows, grid, boxes)
        lines[before:before] = [ArrangedLine(row, number) for row in rows]
    return lines


def write_lines(
    lines: Sequence[ArrangedLine], text: str, styles: Sequence[LineStyle | None], boxes: Boxes
) -> tuple[str, list[LineStyle | None]]:
    """Return the text of arranged lines, and the styles of these. styles: of the lines as they were."""
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    written: list[str] = []
    arranged: list[LineStyle | None] = []
    for line in lines:
        number = bisect_right(starts, next(_iter_spans([line.cells]))[0]) - 1
        style = styles[number]
        if line.table is not None:
            row, style = _write_row(line, text, style, boxes)
            written.append(row)
        else:
            (spans,) = line.cells
            written.append(" ".join(text[slice(*span)] for span in spans))
            if style and spans != ((starts[number], starts[number + 1] - 1),):
                style = replace(style, gaps=())
        arranged.append(style)
    return "\n".join(written), arranged


def _write_row(
    line: ArrangedLine, text: str, style: LineStyle | None, boxes: Boxes
) -> tuple[str, LineStyle | None]:
    """Return a row with spaces between its cells, and its style: in gaps, where the cells begin.

    style: of the line where its first word stood; None for one that is turned.
    """
    row, gaps, edge = "", [], 0.0
    for number, cell in enumerate(line.cells):
        begin = boxes(cell[0][0])[0] if cell else edge
        if number:
            gaps.append(Gap(len(row), edge, begin))
            row += " " if row else ""
        row += "".join(  # words that a hyphen at a line's end parts stay together
            text[start:end] + ("" if text[end - 1] == "\ufffe" else " ") for start, end in cell
        ).rstrip()
        edge = boxes(cell[-1][1] - 1)[1] if cell else edge
    left, _, bottom, top = boxes(next(_iter_spans([line.cells]))[0])
    size, bold = (style.size, style.bold) if style else (top - bottom, False)
    return row, LineStyle(size, bold, left, edge, bottom, tuple(gaps), line.table)


def _iter_words(text: str, grids: Sequence[Grid], boxes: Boxes) -> Iterator[tuple[_Place, int, _Word]]:
    """Yield the words in the cells of grids: each with its cell and the grid's number."""
    for match in _WORD.finditer(text):
        start, end = match.span()
        last = end - 1 - (text[end - 1] == "\ufffe" and end - start > 1)
        first, final = boxes(start), boxes(last)
        left, right = first[0], final[1]
        if first[1] <= left or right <= final[0]:
            continue
        (x, y), (end_x, end_y) = _middle(first), _middle(final)
        for number, grid in enumerate(grids):
            place = grid.find_cell((left + right) / 2, y)
            if place:
                crosses = grid.find_cell(x, y) != grid.find_cell(end_x, y)
                turned = abs(end_y - y) > abs(end_x - x)
                yield place, number, _Word((start, end), left, right, y, first[3] - first[2], crosses, turned)
                break


def _middle(box: tuple[float, float, float, float]) -> tuple[float, float]:
    left, right, bottom, top = box
    return (left + right) / 2, (bottom + top) / 2


def _goes_on_beside(text: str, cells: Mapping[_Place, list[_Word]]) -> bool:
    """Tell if many rows go on outside the grid: the page has lines with words in it and others beside it."""
    rows = {word.span: row for (row, _), words in cells.items() for word in words}
    lines: defaultdict[int, set[int]] = defaultdict(set)
    for (start, _), row in rows.items():
        lines[text.rfind("\n", 0, start) + 1].add(row)
    shared: set[int] = set()
    for start, found in lines.items():
        end = text.find("\n", start)
        words = _WORD.finditer(text, start, len(text) if end < 0 else end)
        if any(match.span() not in rows for match in words):
            shared |= found
    return len(shared) > _FEW * len(set(rows.values()))


def _part_joined(text: str, cells: Mapping[_Place, list[_Word]], grid: Grid) -> dict[_Place, list[_Word]]:
    """Return the cells without those that are joined where rules were left out: several side by side over
    rows of which most have a line in each, or one over several columns with figures.
    """
    bases = {place: [grid.find_base(word.x, word.y) for word in words] for place, words in cells.items()}
    in_rows = {
        place
        for place, words in cells.items()
        if _fill_most({row for row, _ in bases[place]}, place[0])
        and len({round(word.y / _LEVEL) for word in words})
        < 2 * _MOST * len({row for row, _ in bases[place]})
    }
    beside = Counter(row for row, _ in in_rows)
    parted: dict[_Place, list[_Word]] = {}
    for place, words in cells.items():
        in_columns = _fill_most({column for _, column in bases[place]}, place[1]) and all(
            _is_figure(text, word) for word in words
        )
        for word, (row, column) in zip(words, bases[place], strict=True):
            row = row if place in in_rows and beside[place[0]] > 1 else place[0]
            parted.setdefault((row, column if in_columns else place[1]), []).append(word)
    return parted


def _fill_most(places: Collection[int], first: int) -> bool:
    return len(places) > max(1.0, _MOST * (max(places) - first + 1))


def _is_figure(text: str, word: _Word) -> bool:
    return _FIGURE.fullmatch(text, *word.span) is not None


def _find_rows(text: str, ruled: Mapping[_Place, list[_Word]], grid: Grid) -> list[Cells]:
    """Return the rows of a table, with what stands in each column that has something; [] if it is none."""
    words = [word for own in ruled.values() for word in own if word.span[1] - word.span[0] > _SHORT]
    if 2 * sum(word.turned for word in words) > len(words):
        return []  # and what are its rows stands side by side
    cells = _part_joined(text, ruled, grid)
    heights = sorted(word.height for words in cells.values() for word in words)
    em = _EM * heights[len(heights) // 2]
    parted = Counter(row for (row, _), words in cells.items() if _have_columns(text, words, em))
    crossed = {row for (row, _), words in cells.items() if any(word.crosses for word in words)}
    few = _FEW * len({row for row, _ in cells})
    if max(parted.total(), len(crossed)) > few or not crossed.isdisjoint(parted):
        return []
    columns = sorted({column for _, column in cells})
    rows: list[Cells] = []
    for number, places in groupby(sorted(cells), key=lambda place: place[0]):
        row = {column: cells[number, column] for _, column in places}
        if number in crossed:  # it has one cell
            row = {columns[0]: sorted(word for words in row.values() for word in words)}
        rows += [
            tuple(tuple(word.span for word in part.get(column, ())) for column in columns)
            for part in _split_row(text, row)
        ]
    texts = [["".join(text[slice(*span)] for span in cell) for cell in row] for row in rows]
    least = max(_FEWEST, _LEAST_FILLED * len(rows))
    full = sum(sum(map(bool, column)) >= least for column in zip(*texts, strict=True))
    filled = [cell for row in texts for cell in row if cell]
    if full < _FEWEST or max(map(len, filled)) > _MOST_LETTERS:
        return []
    return [] if any(map(_SIGN.fullmatch, filled)) else rows


def _have_columns(text: str, words: Sequence[_Word], em: float) -> bool:
    """Tell if a cell has two figures on a line, or a wide space: not all of the table's columns are ruled."""
    return any(
        abs(one.y - other.y) < _LEVEL
        and (other.left - one.right > _WIDE * em or (_is_figure(text, one) and _is_figure(text, other)))
        for one, other in pairwise(words)
    )


def _split_row(text: str, row: Mapping[int, list[_Word]]) -> Iterator[dict[int, list[_Word]]]:
    """Yield the rows that no rule parts, where a column has a figure on each of several lines."""
    heights: list[float] = []
    for words in row.values():
        lines = [list(line) for _, line in groupby(words, key=lambda word: round(word.y / _LEVEL))]
        told = [" ".join(text[slice(*word.span)] for word in line) for line in lines]
        if _MOST_LINES > len(lines) > max(1, len(heights)) and all(map(is_figure, told)):
            heights = sorted((line[0].y for line in lines), reverse=True)
    top = max(word.y for words in row.values() for word in words)
    centred = bool(heights) and top > heights[0] + _LEVEL  # else the lines of a row begin at one height
    edges = [(above + below) / 2 if centred else below + _LEVEL for above, below in pairwise(heights)]
    for high, low in zip([float("inf"), *edges], [*edges, float("-inf")], strict=True):
        part = {column: [word for word in words if low < word.y <= high] for column, words in row.items()}
        if any(part.values()):
            yield part


def _iter_spans(rows: Sequence[Cells]) -> Iterator[Span]:
    return (span for row in rows for cell in row for span in cell)


def _iter_others(text: str, taken: Sequence[Span]) -> Iterator[ArrangedLine]:
    """Yield the lines without what stands in tables; a line of which nothing is left is none."""
    spans = iter(sorted(taken))
    span = next(spans, None)
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        parts, at = [], start
        while span and span[0] < end:
            parts.append((at, span[0]))
            at = span[1]
            span = next(spans, None)
        parts.append((at, end))
        left = tuple(part for part in parts if text[slice(*part)].strip())
        if left or len(parts) == 1:
            yield ArrangedLine((left or tuple(parts),))
        start = end + 1


def _find_place(
    lines: Sequence[ArrangedLine], text: str, rows: Sequence[Cells], grid: Grid, boxes: Boxes
) -> int:
    """Return before which line a table stands: where its letters stood, if these were together and in order.

    Else it is where fewest of the lines above it would come behind it, and of those below it before it.
    """
    spans = list(_iter_spans(rows))
    first, last = min(spans)[0], max(spans)[0]
    starts = [next((span[0] for cell in line.cells for span in cell), -1) for line in lines]
    begin = next((place for place, start in enumerate(starts) if start > first), len(lines))
    if spans == sorted(spans) and not any(first < start < last for start in starts):
        return begin
    above = [_is_above(line, text, grid, boxes) for line in lines]
    wrong = above.count(True)
    best = (wrong, begin, 0)
    for place, one in enumerate(above, 1):
        wrong += (one is False) - (one is True)
        best = min(best, (wrong, abs(place - begin), place))
    return best[-1]


def _is_above(line: ArrangedLine, text: str, grid: Grid, boxes: Boxes) -> bool | None:
    """Tell if a line stands above a grid, rather than below; None for one beside it, and for a table's."""
    words = [match for span in line.cells[0] for match in _WORD.finditer(text, *span)]
    if line.table is not None or not words:
        return None
    left, _, bottom, top = boxes(words[0].start())
    right = boxes(words[-1].end() - 1)[1]
    if top <= bottom or right < grid.edges[0] or left > grid.edges[-1]:
        return None
    return (bottom + top) / 2 > (grid.heights[0] + grid.heights[-1]) / 2
