"""Ruling lines of a PDF page, and the grids of cells that they draw. Runs in the sandbox only.

A rule is drawn as a line, as one of many in a path, as an edge of a frame, or as a thin filled rectangle.
Rules that touch each other are one grid; where none parts two cells, they are one.
"""

import ctypes
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from pypdfium2 import PdfPage, raw

_THIN = 2.5  # points: more is no line
_SHORTEST = 4.0
_NEAR = 3.0  # between the parts of one rule, and between rules that touch
_MAX_OBJECTS = 20_000  # of a page, which one in a book of tables does not have
_MAX_SEGMENTS = 20_000
_MAX_RULES = 400  # each way; a page with more is a drawing
_MAX_GRIDS = 40  # of a page
_FURTHEST_ROW = 3.0  # heights of the head
_FEWEST = 2  # columns, and rows


class Rule(NamedTuple):
    """A line across at height `at`, or upright at `at` from the left, from `start` to `end`, in points."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells between ruling lines. edges: of the columns, from the left. heights: of the rows, from below.

    cells: for each row from below, and each column, the (row from above, column) where its cell begins.
    """

    edges: tuple[float, ...]
    heights: tuple[float, ...]
    cells: tuple[tuple[tuple[int, int], ...], ...]

    def find_cell(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the (row from above, column) where the cell at a point begins; None outside."""
        column, row = bisect_right(self.edges, x) - 1, bisect_right(self.heights, y) - 1
        inside = 0 <= column < len(self.edges) - 1 and 0 <= row < len(self.heights) - 1
        return self.cells[row][column] if inside else None

    def find_base(self, x: float, y: float) -> tuple[int, int]:
        """Return the (row from above, column) at a point inside, whatever cells are joined there."""
        return len(self.heights) - 1 - bisect_right(self.heights, y), bisect_right(self.edges, x) - 1


def find_grids(page: PdfPage) -> list[Grid]:
    """Return the grids of at least two columns and rows, from the top; none for a page that is a drawing."""
    across, upright = _read_rules(page)
    if min(len(across), len(upright)) < _FEWEST:
        return []
    across, upright = _merge(across), _merge(upright)
    if max(len(across), len(upright)) > _MAX_RULES:
        return []
    grids = [grid for group in _group(across, upright) if (grid := _make_grid(*group))]
    return sorted(grids, key=lambda grid: -grid.heights[-1])[:_MAX_GRIDS]


_edges = tuple(ctypes.c_float() for _ in range(4))
_matrix, _x, _y = raw.FS_MATRIX(), ctypes.c_float(), ctypes.c_float()


def _read_rules(page: PdfPage) -> tuple[list[Rule], list[Rule]]:
    """Return the rules across and upright, as they are drawn; those within forms are not looked for."""
    across: list[Rule] = []
    upright: list[Rule] = []
    left, bottom, right, top = _edges
    count = raw.FPDFPage_CountObjects(page.raw)
    if count > _MAX_OBJECTS:
        return [], []
    segments = 0
    for index in range(count):
        thing = raw.FPDFPage_GetObject(page.raw, index)
        if raw.FPDFPageObj_GetType(thing) != raw.FPDF_PAGEOBJ_PATH:
            continue
        if not raw.FPDFPageObj_GetBounds(thing, left, bottom, right, top):
            continue
        x0, y0, x1, y1 = left.value, bottom.value, right.value, top.value
        if y1 - y0 <= _THIN:
            across.append(Rule((y0 + y1) / 2, x0, x1))
        elif x1 - x0 <= _THIN:
            upright.append(Rule((x0 + x1) / 2, y0, y1))
        elif segments < _MAX_SEGMENTS:
            segments += raw.FPDFPath_CountSegments(thing)
            for (ax, ay), (bx, by) in _iter_strokes(thing):
                if abs(ay - by) <= 1:
                    across.append(Rule((ay + by) / 2, min(ax, bx), max(ax, bx)))
                elif abs(ax - bx) <= 1:
                    upright.append(Rule((ax + bx) / 2, min(ay, by), max(ay, by)))
    return (
        [rule for rule in across if rule.end - rule.start >= _SHORTEST],
        [rule for rule in upright if rule.end - rule.start >= _SHORTEST],
    )


_Point = tuple[float, float]


def _iter_strokes(path: raw.FPDF_PAGEOBJECT) -> Iterator[tuple[_Point, _Point]]:
    """Yield the straight strokes of a path, from point to point; none for one that is only filled: it may lie
    behind every other row.
    """
    mode, is_stroked = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(path, mode, is_stroked) or not is_stroked.value:
        return
    if not raw.FPDFPageObj_GetMatrix(path, _matrix):
        return
    a, b, c, d, e, f = (getattr(_matrix, name) for name in "abcdef")
    begin = here = (0.0, 0.0)
    for index in range(min(raw.FPDFPath_CountSegments(path), _MAX_SEGMENTS)):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, _x, _y)
        x, y = _x.value, _y.value
        point = a * x + c * y + e, b * x + d * y + f
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            begin = point
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield here, point
        here = point
        if raw.FPDFPathSegment_GetClose(segment):
            yield here, begin
            here = begin


def _merge(rules: Sequence[Rule]) -> list[Rule]:
    """Join the parts of each rule, and those side by side, as the borders of two cells are."""
    merged: list[Rule] = []
    for place in _cluster(rules, lambda rule: rule.at):
        at = sum(rule.at for rule in place) / len(place)
        start, end = place[0].start, place[0].start
        for rule in sorted(place, key=lambda rule: rule.start):
            if rule.start > end + _NEAR:
                merged.append(Rule(at, start, end))
                start = rule.start
            end = max(end, rule.end)
        merged.append(Rule(at, start, end))
    return merged


def _cluster(rules: Sequence[Rule], key: Callable[[Rule], float]) -> Iterator[list[Rule]]:
    near: list[Rule] = []
    for rule in sorted(rules, key=key):
        if near and key(rule) - key(near[0]) > _NEAR:
            yield near
            near = []
        near.append(rule)
    if near:
        yield near


def _group(across: Sequence[Rule], upright: Sequence[Rule]) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield the rules that touch each other, directly or by others, and those of the rows below them."""
    left, unseen = set(range(len(upright))), set(range(len(across)))
    while left:
        rows, columns, waiting = [], [], [left.pop()]
        while waiting:
            columns.append(upright[waiting.pop()])
            crossed = {number for number in unseen if _touch(across[number], columns[-1])}
            unseen -= crossed
            rows += [across[number] for number in crossed]
            met = {number for number in left if any(_touch(across[n], upright[number]) for n in crossed)}
            left -= met
            waiting += met
        alike = sorted(
            (n for n in unseen if rows and _is_alike(across[n], rows)), key=lambda n: -across[n].at
        )
        more = list(_iter_rows_below([across[n] for n in alike], rows)) if alike else []
        unseen -= set(alike[: len(more)])
        yield [*rows, *more], columns


def _is_alike(rule: Rule, rows: Sequence[Rule]) -> bool:
    """Tell if it is below all rows, from one side of them to the other."""
    start, end = min(row.start for row in rows), max(row.end for row in rows)
    below = rule.at < min(row.at for row in rows)
    return below and abs(rule.start - start) <= _NEAR and abs(rule.end - end) <= _NEAR


def _iter_rows_below(rules: Sequence[Rule], rows: Sequence[Rule]) -> Iterator[Rule]:
    """Yield the rules of rows below a head, of whose columns only it has the upright rules."""
    heights = sorted(row.at for row in rows)
    step = min((above - below for below, above in pairwise(heights)), default=0.0)
    last = heights[0]
    for rule in rules:
        if last - rule.at > _FURTHEST_ROW * step:
            return
        yield rule
        last = rule.at


def _touch(across: Rule, upright: Rule) -> bool:
    return (
        across.start - _NEAR <= upright.at <= across.end + _NEAR
        and upright.start - _NEAR <= across.at <= upright.end + _NEAR
    )


def _make_grid(across: Sequence[Rule], upright: Sequence[Rule]) -> Grid | None:
    """Return the grid of rules that touch; what they leave open at a side ends where they do."""
    if not across or not upright:
        return None
    edges = _find_edges(upright, across)
    heights = _find_edges(across, upright)
    columns, rows = len(edges) - 1, len(heights) - 1
    if min(columns, rows) < _FEWEST or max(columns, rows) > _MAX_RULES:
        return None
    beside = _find_parted(edges, upright, heights)
    if 2 * sum(map(bool, beside)) < rows:  # only the head has upright rules
        beside = [set(range(1, columns))] * rows
    begins = _join_cells(beside, _find_parted(heights, across, edges))
    cells = (
        tuple((rows - 1 - found[0], found[1]) for found in (begins[row, column] for column in range(columns)))
        for row in range(rows)
    )
    return Grid(tuple(edges), tuple(heights), tuple(cells))


def _join_cells(
    beside: Sequence[Collection[int]], below: Sequence[Collection[int]]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Return for each cell the upper left one of those that it is one with.

    beside: for each row from below, the edges that part its cells. below: the same for each column.
    """
    begins = {(row, column): (row, column) for row in range(len(beside)) for column in range(len(below))}

    def find(cell: tuple[int, int]) -> tuple[int, int]:
        while begins[cell] != cell:
            begins[cell] = begins[begins[cell]]
            cell = begins[cell]
        return cell

    for row, parted in enumerate(beside):
        for column in range(1, len(below)):
            if column not in parted:
                begins[row, column] = find((row, column - 1))
    for column, parted in enumerate(below):
        for row in range(len(beside) - 1, 0, -1):
            if row not in parted:
                lower, upper = sorted((find((row, column)), find((row - 1, column))))
                begins[lower] = upper
    return {cell: find(cell) for cell in begins}


def _find_edges(rules: Sequence[Rule], crossing: Sequence[Rule]) -> list[float]:
    """Return where the rules stand, and the ends of those that cross them where no rule stands."""
    edges = [sum(rule.at for rule in near) / len(near) for near in _cluster(rules, lambda rule: rule.at)]
    start, end = min(rule.start for rule in crossing), max(rule.end for rule in crossing)
    if start < edges[0] - 2 * _SHORTEST:
        edges.insert(0, start)
    if end > edges[-1] + 2 * _SHORTEST:
        edges.append(end)
    return edges


def _find_parted(edges: Sequence[float], rules: Sequence[Rule], crossing: Sequence[float]) -> list[set[int]]:
    """Return, for each row or column between the crossing edges, the numbers of the inner edges where a rule
    goes through its middle.
    """
    numbered = [
        (number, rule)
        for number, edge in enumerate(edges[1:-1], start=1)
        for rule in rules
        if abs(rule.at - edge) <= _NEAR
    ]
    middles = [(low + high) / 2 for low, high in pairwise(crossing)]
    return [{n for n, rule in numbered if rule.start <= middle <= rule.end} for middle in middles]
