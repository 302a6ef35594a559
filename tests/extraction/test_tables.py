"""Tables and lists of PDFs: a row stays a line, its cells in order, and both are blocks."""

from documents.extractors.pdf.reader import read_pdf
from documents.types import Extraction
from tests.support.typeset import Words, column, typeset

PROSE = [
    "The keeper walked up the stairs every evening and lit the",
    "lamp, and every morning he walked down again to sleep.",
]
ROWS = [("Lamp", "Harbour", "Keeper"), ("North", "Old Quay", "Anna Berg"), ("South", "New Quay", "Ole Dahl")]


def read(*pages: list[Words]) -> Extraction:
    return read_pdf(typeset(*pages), reader="auto")


def blocks(found: Extraction) -> list[tuple[str, str]]:
    return [(block.kind, found.text[block.start_char : block.end_char]) for block in found.blocks]


def rows(*lines: tuple[str, ...], top: float, step: float = 130) -> list[Words]:
    return [
        Words(cell, top - 16 * row, x=60 + step * place)
        for row, cells in enumerate(lines)
        for place, cell in enumerate(cells)
    ]


def test_cells_are_parted_where_columns_are_clear():
    found = read([*column(*PROSE), *rows(*ROWS, top=690), *column(*PROSE, top=600)])
    table = "Lamp | Harbour | Keeper\nNorth | Old Quay | Anna Berg\nSouth | New Quay | Ole Dahl"
    assert blocks(found) == [("table", table)]
    assert found.text.replace(table, "").split() == " ".join(PROSE + PROSE).split()


def test_figures_keep_their_label():
    figures = [("Net sales", "1,200", "1,300"), ("Cost of sales", "(800)", "(850)"), ("Profit", "400", "450")]
    [(kind, table)] = blocks(read(rows(*figures, top=700)))
    assert kind == "table"
    assert table.split("\n")[1] == "Cost of sales | (800) | (850)"


def test_a_list_is_a_block():
    items = ["- a lamp of brass, filled with oil", "- a rope of forty metres", "- a book of tides"]
    found = read(column(*PROSE, "The keeper has:", *items))
    assert blocks(found) == [("list", "\n".join(items))]


def test_prose_holds_no_blocks():
    assert read(column(*PROSE, *PROSE, "It was 1912.", *PROSE)).blocks == ()
