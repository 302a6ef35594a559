"""Rows of tables: cells parted by " | " where the page shows columns; and where tables and lists stand."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from documents.extractors.layout import CELLS, is_item, is_tabular
from documents.extractors.looks import Look, RawPage
from documents.types import Block, ChunkType

_FEWEST = 2  # rows of a table, items of a list
_LONGEST_ROW = 300  # characters
_NEAR = 2.0  # points
_LINE = re.compile(r"[^\n]+")


def with_cells(page: RawPage) -> str:
    """The page's raw text; in rows whose cells align, what divides them is written out."""
    if not any(look and look.gaps for look in page.looks):
        return page.text
    lines = page.text.split("\n")
    for has_gaps, group in groupby(enumerate(page.looks), key=lambda line: bool(line[1] and line[1].gaps)):
        rows = [(place, look) for place, look in group if look]
        ends = [
            any(map(str.isdigit, lines[place][look.gaps[-1].place :])) for place, look in rows if look.gaps
        ]
        if has_gaps and len(rows) >= _FEWEST and _aligned([look for _, look in rows], ends):
            for place, look in rows:
                lines[place] = _parted(lines[place], look)
    return "\n".join(lines)


def _aligned(rows: Sequence[Look], figures: Sequence[bool]) -> bool:
    """Whether most rows have an edge of a cell in common with the row above, the outer left one aside.

    figures: whether the last cell of a row is one; of others the right edge is that of the text.
    """
    pairs = pairwise(zip(rows, figures, strict=True))
    shared = [_share_an_edge(above, below, ends=one and other) for (above, one), (below, other) in pairs]
    return 2 * sum(shared) >= len(shared)


def _share_an_edge(above: Look, below: Look, *, ends: bool) -> bool:
    if len(above.gaps) == len(below.gaps) > 1:
        return True
    edges = [(gap.right, other.right) for gap in above.gaps for other in below.gaps]
    edges += [(gap.left, other.left) for gap in above.gaps for other in below.gaps]
    edges += [(above.right, below.right)] if ends else []
    return any(abs(one - other) < _NEAR for one, other in edges)


def _parted(line: str, look: Look) -> str:
    cells, start = [], 0
    for end in (*(gap.place for gap in look.gaps), len(line)):
        cells.append(line[start:end].strip(" "))
        start = end
    return CELLS.join(cells)


def blocks_of(text: str, offset: int) -> Iterator[Block]:
    """Tables and lists of a page's text: two or more rows, or items, on lines below each other.

    offset: where the page begins in the document's text.
    """
    lines = [(found.start(), found.end(), _kind(found.group())) for found in _LINE.finditer(text)]
    for kind, group in groupby(lines, key=lambda line: line[2]):
        run = list(group)
        if kind != "paragraph" and len(run) >= _FEWEST:
            yield Block(offset + run[0][0], offset + run[-1][1], kind)


def _kind(line: str) -> ChunkType:
    if is_tabular(line) and len(line) <= _LONGEST_ROW:
        return "table" if any(letter.isalnum() for letter in line) else "paragraph"
    return "list" if is_item(line) else "paragraph"
