"""Headings and titles of PDFs without an outline, told by how their lines look."""

import pytest

from documents.extractors.pdf.pages import OutlineEntry
from documents.extractors.pdf.reader import read_pdf
from documents.extractors.pdf.structure import locate_outline
from documents.types import Extraction
from tests.support.typeset import Words, column, typeset

PROSE = [
    "The keeper walked up the stairs every evening and lit the",
    "lamp, and every morning he walked down again to sleep. He",
    "had done so for twenty years and saw no reason to stop.",
]


def read(*pages: list[Words], title: str = "") -> Extraction:
    return read_pdf(typeset(*pages, title=title), reader="auto")


def headings(found: Extraction) -> list[tuple[int, str]]:
    """(level, the line of the text at which it points)"""
    return [(h.level, found.text[h.start_char :].split("\n")[0]) for h in found.headings]


def chapter(number: int, *sections: str) -> list[Words]:
    parts: list[Words | str] = [Words(f"Chapter {number}: Of Lamps", 30, size=20, bold=True), *PROSE]
    for section in sections:
        parts += [Words(section, 10, size=14), *PROSE]
    return column(*parts)


def test_larger_letters_are_headings_and_their_size_is_the_level():
    found = read(chapter(1, "1.1 Oil", "1.2 Wicks"), chapter(2, "2.1 Glass"))
    assert headings(found) == [
        (1, "Chapter 1: Of Lamps"),
        (2, "1.1 Oil"),
        (2, "1.2 Wicks"),
        (1, "Chapter 2: Of Lamps"),
        (2, "2.1 Glass"),
    ]
    assert found.title == ""


def test_bold_lines_that_stand_alone_are_headings():
    page = column(
        *PROSE, Words("The Lamp", 10, bold=True), *PROSE, Words("The Stairs", 10, bold=True), *PROSE
    )
    assert headings(read(page)) == [(1, "The Lamp"), (1, "The Stairs")]


def test_the_largest_first_line_is_the_title():
    page = column(
        Words("Letters from a Lighthouse", 20, size=24), *PROSE, Words("Notes", 10, size=14), *PROSE
    )
    found = read(page)
    assert found.title == "Letters from a Lighthouse"
    assert headings(found) == [(1, "Letters from a Lighthouse"), (2, "Notes")]
    assert read(page, title="Its own").title == "Its own"


def test_a_heading_over_two_lines_is_one():
    page = column(Words("A Very Long History of the Lamps", 0, size=20), *PROSE, *PROSE)
    below = [Words(words.text, words.y - 30) for words in page[1:]]
    found = read([page[0], Words("and the Stairs", 716, size=20), *below])
    assert headings(found) == [(1, "A Very Long History of the Lamps and the Stairs")]


def test_a_numbered_heading_with_a_dash_is_no_row_of_figures():
    page = column(*PROSE, Words("Note 6 - Lamps", 10, size=14), *PROSE, Words("Note 7 - Oil", 10, size=14))
    assert headings(read(page)) == [(1, "Note 6 - Lamps"), (1, "Note 7 - Oil")]


def test_what_heads_the_columns_of_a_table_is_no_heading():
    prose = column(*PROSE, Words("The Lamp", 10, size=14), *PROSE, Words("The Oil", 10, size=14), *PROSE)
    heads = [Words(text, y, x=x, size=13) for text, y, x in (("Gross", 560, 310), ("Net", 538, 510))]
    rows = [
        Words(cell, 520 - 16 * n, x=x)
        for n, cells in enumerate((("Lamps", "1,200", "100", "1,100"), ("Wicks", "800", "100", "700")))
        for cell, x in zip(cells, (60, 310, 410, 510), strict=True)
    ]
    found = read([*prose, *heads, *rows])
    assert [block.kind for block in found.blocks] == ["table"]
    assert headings(found) == [(1, "The Lamp"), (1, "The Oil")]


def test_what_stands_at_one_place_of_three_pages_is_no_heading():
    """The name of the harbour in the middle of each page; a heading that comes again stands elsewhere."""

    def page(above: int) -> list[Words]:
        own = column(*PROSE, Words("The Stairs", above, size=14), *PROSE)
        return [*own, Words("Old Quay Harbour", 500, size=14), *column(*PROSE, top=470)]

    stairs = [(1, "The Stairs")] * 3
    assert headings(read(page(10), page(20), page(30))) == stairs
    assert headings(read(page(10), page(20))) == [(1, "The Stairs"), (1, "Old Quay Harbour")] * 2


def test_what_is_no_heading():
    """A label beside a figure, a caption, a sum in bold, a quotation in large letters."""
    page = column(
        *PROSE, Words("Total 1,200 1,300", 10, bold=True), *PROSE,
        Words("Figure 3 The lamp", 10, bold=True), *PROSE,
        Words("He said that it was late.", 10, size=14), *PROSE,
    )  # fmt: skip
    beside = [Words("Lamp", 200, bold=True), Words("left behind", 200, x=300)]
    assert headings(read([*page, *beside])) == []


def test_a_text_of_one_size_has_no_headings():
    assert headings(read(column(*PROSE, *PROSE))) == []


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("Consistent hashing places the keys.", "Consistent hashing places"),
        ("The keys are placed.\nHashing\nThey are placed.", "Hashing\nThey"),
        ("The keys are placed.\n2.1 Hashing of keys", "2.1 Hashing"),
        ("The keys are placed.\nChapter 2: HASHING\nThey are.", "Chapter 2: HASHING"),
        ("The keys are placed. Hashing They are.", "Hashing They"),
        ("Authors: Lund, Maria Date: 2020 License: cc-by Hashing\nTo place keys.", "Hashing\nTo"),
        ("There are many kinds of keys that are placed by Hashing\nthat is", "There are"),
    ],
)
def test_an_outlines_heading_is_where_its_title_is_no_word_of_a_sentence(text: str, heading: str):
    """It cuts the text there, and "Consistent" would be a chunk of its own."""
    (found,) = locate_outline([OutlineEntry(1, "Hashing", 0)], [text], [0])
    assert text[found.start_char :].startswith(heading)
