"""Tables of PDFs whose cells are parted by ruling lines: rows and cells in order, however they were drawn."""

from collections.abc import Sequence

import pytest

from documents.extractors.pdf.reader import read_pdf
from documents.extractors.pdf.view import read_layout
from documents.text.tables import describe_row, read_rows
from documents.types import Extraction, TableHead
from documents.viewing.alignment import PageAlignment
from tests.support.typeset import Rule, Words, column, typeset

Drawn = Words | Rule

PROSE = [
    "The keeper walked up the stairs every evening and lit the",
    "lamp, and every morning he walked down again to sleep.",
]
HEAD = ("Lamp", "Harbour", "Keeper", "Steps")
LAMPS = [HEAD, ("North", "Old Quay", "Anna Berg", "94"), ("South", "New Quay", "Ole Dahl", "120")]
TABLE = "\n".join(" | ".join(row) for row in LAMPS)
LEFT, TOP, WIDTH, HEIGHT = 60, 700, 110, 20


def read(*pages: Sequence[Drawn]) -> Extraction:
    return read_pdf(typeset(*pages), reader="auto")


def tables(found: Extraction) -> list[str]:
    return [found.text[block.start_char : block.end_char] for block in found.blocks if block.kind == "table"]


def cell(text: str, row: float, place: int, *, top: float = TOP) -> Words:
    return Words(text, top - HEIGHT * row - 14, x=LEFT + WIDTH * place + 4, size=10)


def cells(rows: Sequence[Sequence[str]], *, top: float = TOP) -> list[Words]:
    return [
        cell(text, n, place, top=top) for n, row in enumerate(rows) for place, text in enumerate(row) if text
    ]


def across(rows: int, columns: int, *, top: float = TOP) -> list[Rule]:
    right = LEFT + WIDTH * columns
    return [Rule(LEFT, top - HEIGHT * n, right, top - HEIGHT * n) for n in range(rows + 1)]


def upright(rows: int, columns: int, *, top: float = TOP) -> list[Rule]:
    places = (LEFT + WIDTH * n for n in range(columns + 1))
    return [Rule(x, top, x, top - HEIGHT * rows) for x in places]


def rules(rows: int, columns: int, *, top: float = TOP) -> list[Rule]:
    return [*across(rows, columns, top=top), *upright(rows, columns, top=top)]


def test_rows_that_are_drawn_from_below_are_read_from_above():
    drawn = [*reversed(cells(LAMPS)), *rules(3, 4)]
    found = read([*column(*PROSE, top=760), *drawn, *column(*PROSE, top=600)])
    assert tables(found) == [TABLE]
    assert found.text.replace(TABLE, "").split() == " ".join(PROSE + PROSE).split()
    assert found.blocks[0].head == TableHead("", HEAD)


def test_columns_that_are_drawn_one_after_the_other_are_read_as_rows():
    by_column = [cell(row[place], n, place) for place in range(4) for n, row in enumerate(LAMPS)]
    assert tables(read([*by_column, *rules(3, 4)])) == [TABLE]


def test_a_title_that_is_drawn_later_stands_above():
    drawn = [*reversed(cells(LAMPS)), *rules(3, 4), Words("Lamps of the coast", 720)]
    [block] = (found := read(drawn)).blocks
    assert block.head == TableHead("Lamps of the coast", HEAD)
    assert found.text == f"Lamps of the coast\n{TABLE}"


def test_the_lines_of_a_cell_are_one_text():
    keeper = [Words("Anna-", 666, x=284, size=10), Words("Maria Berg", 652, x=284, size=10)]
    lamps = [
        HEAD,
        ("North", "Old Quay", "", "94"),
        ("", "", "", ""),
        ("South", "New Quay", "Ole Dahl", "120"),
    ]
    lines = [line for line in across(4, 4) if line.y0 != TOP - 2 * HEIGHT]
    found = read([*cells(lamps), *keeper, *lines, *upright(4, 4)])
    assert tables(found)[0].split("\n")[1] == "North | Old Quay | Anna-Maria Berg | 94"


def test_an_empty_cell_keeps_its_place():
    lamps = [HEAD, ("North", "", "Anna Berg", "94"), ("South", "New Quay", "", "120")]
    assert tables(read([*cells(lamps), *rules(3, 4)]))[0].split("\n")[1:] == [
        "North | | Anna Berg | 94",
        "South | New Quay | | 120",
    ]


def test_a_cell_over_several_columns_names_each_of_them():
    heads = [("", "Visitors", "", ""), ("Lamp", "2019", "2020", "2021")]
    lamps = [*heads, ("North", "10", "12", "14"), ("South", "20", "22", "24")]
    lines = [rule for rule in upright(4, 4) if rule.x0 not in (LEFT + 2 * WIDTH, LEFT + 3 * WIDTH)]
    lines += [Rule(LEFT + n * WIDTH, TOP - HEIGHT, LEFT + n * WIDTH, TOP - 4 * HEIGHT) for n in (2, 3)]
    [block] = read([*cells(lamps), *across(4, 4), *lines]).blocks
    assert block.head == TableHead("", ("Lamp", "Visitors 2019", "Visitors 2020", "Visitors 2021"))


def test_upright_rules_in_the_head_alone_part_all_rows():
    assert tables(read([*reversed(cells(LAMPS)), *across(3, 4), *upright(1, 4)])) == [TABLE]


def test_rows_that_no_rule_parts_are_those_of_their_figures():
    wrapped = Words("and Per Lund", TOP - 3.5 * HEIGHT - 6, x=284, size=10)
    lamps = [HEAD, ("North", "Old Quay", "Anna Berg", "94"), (), ("South", "New Quay", "Ole Dahl", "120")]
    lines = [line for line in across(5, 4) if line.y0 in (TOP, TOP - HEIGHT, TOP - 5 * HEIGHT)]
    assert tables(read([*cells(lamps), wrapped, *lines, *upright(5, 4)])) == [
        TABLE.replace("Ole Dahl", "Ole Dahl and Per Lund")
    ]


def test_rules_that_are_left_out_over_several_columns_part_their_rows_all_the_same():
    lines = [rule for rule in across(3, 4) if rule.y0 != TOP - 2 * HEIGHT]
    lines.append(Rule(LEFT + 2 * WIDTH, TOP - 2 * HEIGHT, LEFT + 4 * WIDTH, TOP - 2 * HEIGHT))
    assert tables(read([*cells(LAMPS), *lines, *upright(3, 4)])) == [TABLE]


def test_a_table_that_goes_on_over_a_page_keeps_its_head():
    more = [("East", "Long Pier", "Eva Holm", "61"), ("West", "Short Pier", "Jan Vik", "70")]
    found = read([*cells(LAMPS), *rules(3, 4)], [*cells(more), *rules(2, 4), *column(*PROSE, top=600)])
    assert [block.head for block in found.blocks] == [TableHead("", HEAD)] * 2


def test_a_table_of_as_many_columns_below_other_text_is_another():
    more = [("East", "Long Pier", "Eva Holm", "61"), ("West", "Short Pier", "Jan Vik", "70")]
    found = read([*cells(LAMPS), *rules(3, 4)], [*column(*PROSE, top=760), *cells(more), *rules(2, 4)])
    assert found.blocks[1].head is None


def test_fields_in_two_columns_have_no_head():
    fields = [("Lamp", "North"), ("Harbour", "Old Quay"), ("Keeper", "Anna Berg")]
    [block] = read([*cells(fields), *rules(3, 2)]).blocks
    assert block.head is None


def test_two_columns_have_a_head_in_bold():
    fields = [("Lamp", "Harbour"), ("North", "Old Quay"), ("South", "New Quay")]
    drawn = [Words(one.text, one.y, one.x, one.size, bold=n < 2) for n, one in enumerate(cells(fields))]
    [block] = read([*drawn, *rules(3, 2)]).blocks
    assert block.head == TableHead("", ("Lamp", "Harbour"))


def boxed_keys() -> list[Drawn]:
    """Two keys in boxes that touch, within a sentence of two lines."""
    words = [Words("Press PLAY and then hold it until the lamp is lit,", 686), Words("or press STOP.", 672)]
    return [
        *words,
        Rule(92, 696, 126, 696),
        Rule(92, 682, 126, 682),
        Rule(92, 696, 92, 668),
        Rule(126, 696, 126, 668),
    ]


def two_articles() -> list[Drawn]:
    """Prose in two framed columns, with a title in a frame above each."""
    articles = [
        ("North", ["The lamp of the north was lit by hand"] * 24),
        ("South", ["And here by gas"] * 24),
    ]
    drawn = [
        cell(text, n, 2 * place)
        for place, (head, lines) in enumerate(articles)
        for n, text in enumerate((head, *lines))
    ]
    frames = [Rule(LEFT + 2 * WIDTH * n, TOP, LEFT + 2 * WIDTH * n, TOP - 520) for n in range(3)]
    return [*drawn, *frames, *(Rule(LEFT, y, LEFT + 4 * WIDTH, y) for y in (TOP, TOP - HEIGHT, TOP - 520))]


def chart() -> list[Drawn]:
    """The lines of a chart, with a figure here and there."""
    return [*rules(8, 4), cell("12", 2, 1), cell("15", 4, 2), cell("90", 7, 3), *column(*PROSE, top=400)]


@pytest.mark.parametrize("drawn", [boxed_keys(), two_articles(), chart()], ids=["keys", "articles", "chart"])
def test_what_is_in_boxes_is_read_as_without_them(drawn: list[Drawn]) -> None:
    words = [one for one in drawn if isinstance(one, Words)]
    assert read(drawn).text == read(words).text


def test_columns_within_the_ruled_ones_are_found_by_where_they_stand():
    """Two ruled columns of two each: rules tell less of this table than its figures do."""
    lamps = [("Lamp", "2019", "2020", "2021"), ("North", "10", "11", "12"), ("South", "20", "21", "22")]
    lines = [Rule(x, TOP, x, TOP - 3 * HEIGHT) for x in (LEFT, LEFT + WIDTH, LEFT + 4 * WIDTH)]
    found = read([*cells(lamps), *across(3, 4), *lines])
    assert "North | 10 | 11 | 12" in found.text


def test_a_head_that_every_page_repeats_is_no_running_line():
    lamps = [HEAD, *((f"Lamp {n}", "Old Quay", "Anna Berg", f"{n}0") for n in range(1, 6))]
    drawn = [*cells(lamps, top=780), *rules(6, 4, top=780), *column(*PROSE, top=400)]
    assert [block.head for block in read(*[drawn] * 5).blocks] == [TableHead("", HEAD)] * 5


def test_a_head_whose_words_are_turned_names_its_columns():
    head = [Words(text, 648, x=LEFT + WIDTH * n + 20, size=10, turned=True) for n, text in enumerate(HEAD)]
    lines = [*across(2, 4, top=TOP - 60), Rule(LEFT, TOP, LEFT + 4 * WIDTH, TOP)]
    lines += [Rule(LEFT + WIDTH * n, TOP, LEFT + WIDTH * n, TOP - 100) for n in range(5)]
    [block] = read([*head, *cells(LAMPS[1:], top=TOP - 60), *lines]).blocks
    assert block.head == TableHead("", HEAD)


def test_a_table_that_is_turned_as_a_whole_is_read_as_without_its_rules():
    words = [
        Words(text, 100 + 110 * place, x=200 + 20 * n, size=10, turned=True)
        for n, row in enumerate(LAMPS)
        for place, text in enumerate(row)
    ]
    lines = [Rule(186 + 20 * n, 90, 186 + 20 * n, 530) for n in range(4)]
    lines += [Rule(186, 90 + 110 * n, 246, 90 + 110 * n) for n in range(5)]
    assert read([*words, *lines]).text == read(words).text


def test_a_drawing_of_many_lines_is_none():
    lines = [Rule(60 + n % 500, 700 - n / 50, 62 + n % 500, 700 - n / 50) for n in range(25_000)]
    assert read([*cells(LAMPS), *rules(3, 4), *lines]).text == read(cells(LAMPS)).text


def test_a_quoted_row_is_marked_where_it_stands_though_it_was_drawn_backwards():
    pdf = typeset([*reversed(cells(LAMPS)), *rules(3, 4), *column(*PROSE, top=600)])
    [page] = (found := read_pdf(pdf, reader="auto")).pages
    text = found.text[page.start_char : page.end_char]
    row = "South | New Quay | Ole Dahl | 120"
    start = text.index(row)
    boxes = PageAlignment(text, read_layout(pdf, 1)).rectangles(start, start + len(row))
    # Four cells on one line, each a rectangle: the third row from above.
    assert len(boxes) == 4
    assert all(
        792 - (TOP - 2 * HEIGHT) < top < bottom < 792 - (TOP - 3 * HEIGHT) for _, top, _, bottom in boxes
    )
    assert [round(left) for left, *_ in boxes] == [LEFT + WIDTH * n + 4 for n in range(4)]


def test_a_row_that_begins_with_a_date_is_told_with_the_name_of_its_column():
    head = TableHead("Wrecks", ("Date", "Ship", "No. Of Lost"))  # where no sentence ends
    text = "07/02/1894 | Aurora | 12\n09/02/1894 | Boreas | 3"
    told = [describe_row(row, head) for _, row in read_rows(text, [(0, 24), (25, 48)], head)]
    assert told == [
        "Wrecks: Date: 07/02/1894, Ship: Aurora; No Of Lost: 12",
        "Wrecks: Date: 09/02/1894, Ship: Boreas; No Of Lost: 3",
    ]


def test_a_row_below_a_cell_that_goes_over_several_rows_is_told_with_it():
    head = TableHead("", ("Session", "Paper", "Title"))
    text = "Parsing | 42 | Trees\n | 52 | Graphs"
    told = [describe_row(row, head) for _, row in read_rows(text, [(0, 20), (21, 35)], head)]
    assert told == ["Parsing, Paper: 42; Title: Trees", "Parsing, Paper: 52; Title: Graphs"]
