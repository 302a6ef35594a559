"""Running heads, feet and page numbers are no part of the text: a sentence may run over the end of a page."""

import pytest

from documents.chunkers.packing import split_into_sentences
from documents.extractors.pdf.reader import read_pdf
from documents.extractors.pdf.view import read_layout
from documents.types import ChunkingSettings, Extraction
from documents.viewing.alignment import PageAlignment, with_running_lines
from tests.extraction.chunkers import COUNTER
from tests.support.typeset import Words, column, typeset

BEGINNING = ["The keeper walked up the stairs every evening and", "lit the lamp. He had done so for"]
END = ["twenty years and saw no reason to stop. Every", "morning he walked down again to sleep."]


def read(*pages: list[Words]) -> Extraction:
    return read_pdf(typeset(*pages), reader="auto")


def book(
    *, head: str = "The Lighthouse", foot: str = "Page {n} of {count}", count: int = 6
) -> list[list[Words]]:
    return [
        [
            Words(head.format(n=n, count=count), 770),
            *column(*(BEGINNING if n % 2 else END), top=700),
            Words(foot.format(n=n, count=count), 30),
        ]
        for n in range(1, count + 1)
    ]


def texts(extraction: Extraction) -> list[str]:
    return [extraction.text[page.start_char : page.end_char] for page in extraction.pages]


def test_a_sentence_runs_over_the_end_of_a_page():
    extraction = read(*book())
    page = extraction.pages[0]
    assert (page.head, page.foot) == ("The Lighthouse", "Page 1 of 6")
    assert texts(extraction)[:2] == [" ".join(BEGINNING), " ".join(END)]
    chunk = split_into_sentences(extraction, ChunkingSettings(), COUNTER)[0]
    assert "He had done so for\ntwenty years and saw no reason to stop." in chunk.content
    assert (chunk.page_number, chunk.last_page) == (1, 2)


@pytest.mark.parametrize(
    ("foot", "count"),
    [("{n} / {count}", 2), ("- {n} -", 2), ("Seite {n}", 3), ("{n}", 2), ("Chapter 4: Of Lamps {n}", 3)],
)
def test_pages_are_numbered_in_many_ways(foot: str, count: int):
    extraction = read(*book(head="", foot=foot, count=count))
    assert [page.foot for page in extraction.pages] == [
        foot.format(n=n, count=count) for n in range(1, count + 1)
    ]
    assert texts(extraction)[0] == " ".join(BEGINNING)


BANNER = (
    "The copyright holder of this preprint, which no peer review has certified, is its author, who gave the"
    " server a licence to show it in perpetuity to everybody."
)


def test_a_long_line_of_small_letters_on_each_page_is_one_too_also_behind_a_hyphen():
    bodies = [
        column("The keeper walked up all the stairs and lit the steam-", top=700),
        column(*END, top=700),
    ]
    extraction = read(*([*bodies[n % 2], Words(BANNER, 770, size=7)] for n in range(4)))
    assert texts(extraction)[0] == "The keeper walked up all the stairs and lit the steam"
    assert [page.foot for page in extraction.pages] == [BANNER] * 4


@pytest.mark.parametrize(
    ("foot", "y"),
    [
        ("PLOS ONE | https://doi.org/10.1371/journal.pone.0237628 August 13, 2020 {n} / 6", 30),
        ("Nutrients 2026, 18, 197 {n} of 6", 30),
        ("VerDate Sep 11 2014 15:31 Aug 06 Frm 0000{n} Fmt 4702 E:\\FR\\06AUP1.SGM", 30),
        ("The Keeper and the Lamp : 140{n}", 90),  # further inside, but the last line of each page, and small
    ],
)
def test_a_line_with_other_numbers_and_one_that_counts_the_pages_is_one(foot: str, y: int):
    pages = [
        [*column(*(BEGINNING if n % 2 else END), top=700), Words(foot.format(n=n), y, size=9)]
        for n in range(1, 7)
    ]
    extraction = read(*pages)
    assert [page.foot for page in extraction.pages] == [foot.format(n=n) for n in range(1, 7)]
    assert texts(extraction)[:2] == [" ".join(BEGINNING), " ".join(END)]


def test_a_line_along_the_edge_of_each_page_is_one():
    stamp = Words("For personal use only", 300, x=20, turned=True)
    extraction = read(*([*column(*(END if n % 2 else BEGINNING), top=700), stamp] for n in range(4)))
    assert texts(extraction)[:2] == [" ".join(BEGINNING), " ".join(END)]


def test_words_along_the_edge_are_no_part_of_the_last_line():
    """As on reports of companies that are listed in Australia: PDFium joins these to what is drawn last."""
    stamp = Words("For personal use only", 300, x=20, turned=True)
    extraction = read(
        *([Words("Contents", 700), Words(f"Lamps {n}", 302, x=22), stamp] for n in (7, 4, 9, 2))
    )
    assert texts(extraction)[0] == "Contents\nLamps 7"


def test_headings_that_count_stay():
    extraction = read(*([Words(f"Week {n}", 700), *column(*BEGINNING, top=660)] for n in range(1, 6)))
    assert [text.partition("\n")[0] for text in texts(extraction)] == [f"Week {n}" for n in range(1, 6)]


def test_a_last_line_whose_number_does_not_count_stays():
    feet = ["Lamps lit: 31", "Lamps lit: 12", "Lamps lit: 25", "Lamps lit: 7"]
    extraction = read(*([*column(*BEGINNING, top=700), Words(foot, 90, size=9)] for foot in feet))
    assert all(foot in text for foot, text in zip(feet, texts(extraction), strict=True))


def test_a_number_that_ends_a_page_early_is_one_too():
    """As in filings, where it follows the text."""
    pages = [[*column(*BEGINNING, top=700), Words(str(n + 20), 400 + 30 * (n % 3))] for n in range(1, 6)]
    assert [page.foot for page in read(*pages).pages] == ["21", "22", "23", "24", "25"]


@pytest.mark.parametrize(
    "feet",
    [
        ["Total 1,200", "Total 3,100", "Total 90"],  # figures, no numbers of pages
        ["Exhibit 31.1", "Exhibit 31.2", "Exhibit 32.1"],
        ["7", "7", "12"],
        ["Of oil.", "Of wicks.", "Of glass."],
    ],
)
def test_what_does_not_repeat_or_count_stays(feet: list[str]):
    extraction = read(*([*column(*BEGINNING, top=700), Words(foot, 30)] for foot in feet))
    assert [text.split()[-1] for text in texts(extraction)] == [foot.split()[-1] for foot in feet]


def test_a_page_with_nothing_else_keeps_its_lines():
    extraction = read(*([Words("The Lighthouse", 770)] for _ in range(4)))
    assert texts(extraction) == ["The Lighthouse"] * 4


def test_the_page_shows_its_running_lines_and_places_in_the_text_stay():
    pdf = typeset(*book())
    extraction = read_pdf(pdf, reader="auto")
    page, text = extraction.pages[2], texts(extraction)[2]
    alignment = PageAlignment(text, read_layout(pdf, 3), head=page.head, foot=page.foot)
    assert alignment.method == "exact"
    shown = with_running_lines(text, page.head, page.foot)
    assert shown == f"{text}\n\nThe Lighthouse\nPage 3 of 6"
    lines = {line.text: shown[line.start : line.end] for line in alignment.lines()}
    assert lines["Page 3 of 6"] == "Page 3 of 6"
    assert lines[BEGINNING[1]] == BEGINNING[1]
    (box,) = alignment.rectangles(text.index("lit"), len(text))
    assert 650 < 792 - box[3] < 700  # points from below: of the second line
