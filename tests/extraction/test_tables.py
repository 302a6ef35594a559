"""Tables and lists of PDFs: a row stays a line, its cells in order, and both are blocks."""

from collections.abc import Callable

import pytest

from documents.chunkers.sentence import SentenceChunker
from documents.extractors.html import read_html
from documents.extractors.markdown import read_markdown
from documents.extractors.pdf.reader import read_pdf
from documents.text.sentences import sentence_spans
from documents.text.tables import describe_row, is_figure, read_rows, says_row
from documents.text.tokens import WordPieceCounter
from documents.types import ChunkingSettings, Extraction, TableHead
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


STATEMENT = [
    Words("The keeper's accounts of three years were as follows (in thousands):", 720),
    Words("Year Ended May 31,", 690, x=360),
    *(Words(year, 674, x=x) for year, x in (("2019", 330), ("2018", 400), ("2017", 470))),
    Words("Income:", 658),
    *(Words(cell, 642, x=x) for cell, x in (("Net sales", 70), ("$", 318), ("1,200", 330), ("$", 388))),
    *(Words(cell, 642, x=x) for cell, x in (("1,100", 400), ("$", 458), ("1,000", 470))),
    *(Words(cell, 626, x=x) for cell, x in (("Grants", 70), ("80", 345), ("75", 485))),
    *(Words(cell, 610, x=x) for cell, x in (("Oil and wicks,", 70),)),
    *(
        Words(cell, 598, x=x)
        for cell, x in (("bought abroad", 70), ("(90)", 336), ("(85)", 406), ("(70)", 476))
    ),
    *column(*PROSE, top=560),
]


def test_a_table_of_figures_has_title_unit_and_heads():
    found = read(STATEMENT)
    [block] = found.blocks
    assert block.head == TableHead(
        "The keeper's accounts of three years were as follows (in thousands):",
        ("", "Year Ended May 31, 2019", "Year Ended May 31, 2018", "Year Ended May 31, 2017"),
    )
    assert found.text[block.start_char : block.end_char].split("\n") == [
        "Year Ended May 31,",
        "2019 | 2018 | 2017",
        "Income:",
        "Net sales | $ 1,200 | $ 1,100 | $ 1,000",
        "Grants | 80 | | 75",  # nothing in 2018
        "Oil and wicks, bought abroad | (90) | (85) | (70)",
    ]


def dues(*heads: Words) -> Extraction:
    rows = [("Sales", "1,200", "1,300"), ("Costs", "800", "850")]
    cells = [
        Words(cell, 668 - 16 * row, x=x)
        for row, cells in enumerate(rows)
        for cell, x in zip(cells, (60, 320, 450), strict=True)
    ]
    return read([Words("Harbour dues", 720), *heads, *cells])


def test_a_unit_above_the_columns_goes_to_the_title():
    years = (Words("2020", 700, x=320), Words("2021", 700, x=450))
    found = dues(*years, Words("(in millions)", 684, x=370))
    assert found.blocks[0].head == TableHead("Harbour dues (in millions)", ("", "2020", "2021"))


def test_a_unit_behind_the_year_stays_with_its_column():
    found = dues(Words("2020 $ million", 684, x=300), Words("2021 $ million", 684, x=430))
    assert found.blocks[0].head == TableHead("Harbour dues", ("", "2020 $ million", "2021 $ million"))


def test_each_chunk_of_a_long_table_knows_its_head():
    years = [Words(year, 740, x=x) for year, x in (("2019", 330), ("2018", 430))]
    rows = [
        Words(cell, 724 - 14 * row, x=x)
        for row in range(45)
        for cell, x in ((f"Lamp of harbour {row}", 60), (f"{row},120", 330), (f"{row},118", 430))
    ]
    found = read([*years, *rows])
    chunks = SentenceChunker(tokenizer=WordPieceCounter()).split(found, ChunkingSettings())
    assert len(chunks) > 1
    assert {chunk.table for chunk in chunks} == {TableHead("", ("", "2019", "2018"))}
    assert all(chunk.content == found.text[chunk.start_char : chunk.end_char] for chunk in chunks)


HTML = """<article><h1>Dues</h1><p>By year, in euros:</p><table><tr>
<th>Ship</th><th>2019</th><th>2020</th></tr><tr><td>Anna</td><td>5</td><td>6</td></tr></table></article>"""
MARKDOWN = """# Dues

By year, in euros:

| Ship | 2019 | 2020 |
|------|------|------|
| Anna | 5    | 6    |
"""


@pytest.mark.parametrize(("read_source", "source"), [(read_markdown, MARKDOWN), (read_html, HTML)])
def test_the_first_row_of_other_tables_is_their_head(
    read_source: Callable[[bytes], Extraction], source: str
) -> None:
    [block] = read_source(source.encode()).blocks
    assert block.head == TableHead("By year, in euros:", ("Ship", "2019", "2020"))


@pytest.mark.parametrize("cell", ["22,516", "$ 24,284", "$ (1,696)", "-$ 1,696", "(1,696)", "43%", "7.3 g"])
def test_a_figure_may_have_a_sign_apart_from_it(cell: str):
    assert is_figure(cell)


@pytest.mark.parametrize("cell", ["2021", "Dec. 28", "$", "—", "Note 6"])
def test_a_year_or_a_sign_alone_is_no_figure(cell: str):
    assert not is_figure(cell)


def test_a_first_row_of_figures_is_no_head():
    table = "<table><tr><td>Anna</td><td>5</td></tr><tr><td>Ole</td><td>6</td></tr></table>"
    found = read_html(f"<article><p>Dues:</p>{table}</article>".encode())
    assert [block.head for block in found.blocks] == [None]


def test_a_row_is_read_with_its_head():
    found = read(STATEMENT)
    [block] = found.blocks
    assert block.head
    text = found.text[block.start_char : block.end_char]
    rows = [row for _, row in read_rows(text, sentence_spans(text), block.head)]
    assert [row.cells[0] for row in rows] == ["Net sales", "Grants", "Oil and wicks, bought abroad"]
    said = describe_row(rows[0], block.head, frozenset({2}))
    assert said == f"{block.head.title} Income: Net sales, Year Ended May 31, 2018: $ 1,100"
    assert says_row(said, rows[0], block.head)
    assert says_row("Income: Net sales, Year Ended May 31, 2018: $ 1,100", rows[0], block.head)
    assert not says_row("Net sales, Year Ended May 31, 2018: $ 1,100", rows[0], block.head)
    assert not says_row(said.replace("1,100", "1,200"), rows[0], block.head)  # of another year


def test_a_line_above_a_table_and_one_below_are_in_its_chunk():
    page = [Words("Mirow Lighthouses Inc.", 760), *STATEMENT[:-2], Words("See accompanying notes.", 560)]
    chunks = SentenceChunker(tokenizer=WordPieceCounter()).split(read(page), ChunkingSettings())
    assert [(chunk.content[:22], chunk.content[-23:]) for chunk in chunks] == [
        ("Mirow Lighthouses Inc.", "See accompanying notes.")
    ]
    assert chunks[0].table


def test_a_caption_is_the_title_of_its_table_also_where_it_takes_two_lines():
    """A year that begins a row names it; a head of several columns is told for each of them."""
    caption = [
        Words("Table 2:", 716, x=60),
        Words("Unemployment by gender for the population", 716, x=120),
        Words("under 25 in Finland (in %)", 704, x=120),
    ]
    heads = [
        *(Words(name, 688, x=x) for name, x in (("Finland", 207), ("EU-15", 352))),
        *(Words(name, 676, x=x) for name, x in (("Women", 180), ("Men", 240), ("Women", 325), ("Men", 385))),
    ]
    figures = [
        Words(cell, top, x=x)
        for top, cells in ((664, "2000 10.6 9.1 9.3 6.4"), (652, "2005 8.6 8.2 8.9 7.0"))
        for cell, x in zip(cells.split(), (60, 185, 245, 330, 390), strict=True)
    ]
    [block] = read([*caption, *heads, *figures]).blocks
    assert block.head == TableHead(
        "Table 2: Unemployment by gender for the population under 25 in Finland (in %)",
        ("", "Finland Women", "Finland Men", "EU-15 Women", "EU-15 Men"),
    )


def test_heads_that_are_drawn_after_their_rows_name_the_columns():
    figures = rows(("London", "25.25", "54.69"), ("Yorkshire", "25.13", "67.54"), top=600)
    later = rows(("Region", "Unit rate", "Charge"), top=616)
    [block] = read([*figures, *later]).blocks
    assert block.head == TableHead("", ("Region", "Unit rate", "Charge"))


def test_a_row_with_a_year_for_its_head_is_read_with_its_columns():
    """The caption's own line is none of them; in what is told, its number ends no sentence."""
    head = TableHead("Table 1. Growth", ("", "Finland", "EU-15"))
    text = "Table 1. | Growth\n2000 | 5.0 | 3.9\n2005 | 1.5 | 1.5"
    told = [describe_row(row, head) for _, row in read_rows(text, sentence_spans(text), head)]
    assert told == [
        "Table 1: Growth: 2000, Finland: 5.0; EU-15: 3.9",
        "Table 1: Growth: 2005, Finland: 1.5; EU-15: 1.5",
    ]


def accounts(*heads: Words) -> Extraction:
    """Three rows of three columns below these heads."""
    figures = [
        ("Net sales", "1,200", "1,100", "1,000"),
        ("Grants", "1,300", "1,400", "1,500"),
        ("Gifts", "2,100", "2,200", "2,300"),
    ]
    cells = [
        Words(cell, 660 - 16 * row, x=x)
        for row, line in enumerate(figures)
        for cell, x in zip(line, (70, 330, 400, 470), strict=True)
    ]
    return read([Words("Accounts", 720), *heads, *cells])


def test_one_line_above_all_columns_belongs_to_the_title():
    found = accounts(Words("Crowns a year", 690, x=390))
    assert found.blocks[0].head == TableHead("Accounts Crowns a year", ("", "", "", ""))


def test_a_first_row_whose_sign_stands_behind_its_figure_is_no_head():
    fees = [("Parcel fees", "946,181$"), ("Interest", "720,000"), ("Total", "946,907"), ("Rest", "100,000")]
    [block] = read(rows(*fees, top=700, step=260)).blocks
    assert block.head is None


def balance(*heading: Words, group: str = "Assets") -> Extraction:
    """A statement of one column; the sign of its first figure was drawn behind it, and stands before it."""
    cash = [Words("Cash", 600), Words("741,053", 600, x=360, sign="$")]
    figures = rows(("Receivables", "102,152"), ("Total assets", "843,205"), top=584, step=300)
    return read([*heading, Words(group, 620), *cash, *figures])


def test_the_heading_of_a_statement_is_the_title_of_its_rows():
    found = balance(
        Words("Statement of Net Position", 740, x=230),
        Words("Old Quay Harbour Trust", 720, x=236),
        Words("December 31, 2021", 700, x=248),
    )
    [block] = found.blocks
    title = "Statement of Net Position Old Quay Harbour Trust December 31, 2021"
    assert block.head == TableHead(title, ("", ""))
    table = found.text[block.start_char : block.end_char]
    told = [describe_row(row, block.head) for _, row in read_rows(table, sentence_spans(table), block.head)]
    assert told == [
        f"{title}: Assets: Cash, $741,053",
        f"{title}: Assets: Receivables, 102,152",
        f"{title}: Assets: Total assets, 843,205",
    ]


def test_lines_above_that_name_no_year_or_are_not_centred_are_no_heading():
    own = TableHead("Assets", ("", ""))
    undated = Words("Old Quay Harbour Trust", 740, x=236), Words("Statement of Net Position", 720, x=230)
    assert balance(*undated).blocks[0].head == own
    on_the_left = Words("Statement of Net Position", 740), Words("December 31, 2021", 720)
    assert balance(*on_the_left).blocks[0].head == own


def test_a_caption_is_the_title_also_below_a_heading():
    heading = Words("Old Quay Harbour Trust", 740, x=236), Words("December 31, 2021", 720, x=248)
    assert balance(*heading, group="Table 3: What is owned").blocks[0].head == TableHead(
        "Table 3: What is owned", ("", "")
    )


@pytest.mark.parametrize(
    "end", ["harbour was given by the county for its lamps, were as follows:", "years 2020 and 2021:"]
)
def test_a_sentence_over_two_lines_that_leads_to_a_table_is_its_title_whole(end: str) -> None:
    years = [Words(year, 672, x=x) for year, x in (("2020", 320), ("2021", 450))]
    figures = rows(("Sales", "1,200", "1,300"), ("Costs", "800", "850"), top=656)
    begin = "The dues of the last two years, with the grants that the"
    paragraph = column(f"The lamp was lit. {begin}", end, top=714)
    head = read([*paragraph, *years, *figures]).blocks[0].head
    assert head is not None
    assert head.title == f"{begin} {end}"


def test_a_heading_above_the_sentence_that_leads_to_a_table_is_no_part_of_it():
    years = [Words(year, 672, x=x) for year, x in (("2020", 320), ("2021", 450))]
    figures = rows(("Sales", "1,200", "1,300"), ("Costs", "800", "850"), top=656)
    lead = "What the harbour was given was as follows:"
    for heading in (
        Words("Dues", 714),
        Words("The dues of the harbour and of all its lamps", 714, bold=True),
    ):
        head = read([heading, Words(lead, 700), *years, *figures]).blocks[0].head
        assert head is not None
        assert head.title == lead


def titles_below(*lines: str) -> list[str]:
    """The titles of a table that has none of its own, below a part, a note of it, and these lines."""
    marked = "\n".join(("# Report", "## Part II", "### Note 6", *lines))
    table = "| Lamps | 2020 |\n|---|---|\n| Oil | 5 |\n| Wicks | 6 |\n"
    found = read_markdown(f"{marked}\n\n{table}".encode())
    chunks = SentenceChunker(tokenizer=WordPieceCounter()).split(found, ChunkingSettings())
    return [chunk.table.title for chunk in chunks if chunk.table]


def test_a_table_without_a_title_has_the_heading_next_above_it():
    assert titles_below("The lamps burn.") == ["Note 6"]


def test_a_heading_pages_above_a_table_is_not_its_title():
    assert titles_below("The lamps burn. " * 700) == [""]


def test_a_heading_that_heads_a_column_is_not_its_tables_title():
    assert titles_below("#### Lamps", "They burn.") == ["Note 6"]
