"""The numbers that drafts print beside their lines are no part of the text, and no column of a table."""

import time

import pytest

from documents.extractors.pdf.line_numbers import drop_line_numbers
from documents.extractors.pdf.pages import RawPage
from documents.extractors.pdf.reader import read_pdf
from documents.extractors.pdf.view import read_layout
from documents.viewing.alignment import PageAlignment
from tests.support.typeset import Words, typeset

PROSE = [
    "The lamp of the northern lighthouse was lit for the first",
    "time in the autumn of 1841, when the keeper and his two",
    "sons carried the oil up the stairs by hand. It burned for",
    "nine hours and was seen from eleven miles away, as the log",
    "of the harbour office says. In the years that followed the",
    "tower was raised twice. Nobody has lived in it since 1962,",
    "and the lamp is driven by a motor that the council keeps",
    "in order. On two days of the year visitors may walk up the",
    "stairs, of which there are ninety-one, and look over the",
    "bay. The council asks for a small fee.",
]
RANKING = [f"Club number {name} {10 * n} points" for n, name in enumerate("ABCDEFGHIJ", 1)]


def numbered(lines: list[str], first: int) -> list[Words]:
    """A number in the margin of each line, at the same height."""
    return [
        word
        for n, line in enumerate(lines)
        for word in (Words(str(first + n), 700 - 14 * n, x=30, size=8), Words(line, 700 - 14 * n))
    ]


@pytest.mark.parametrize("first_of_second", [1, 11])
def test_numbers_of_lines_are_left_out(first_of_second: int):
    data = typeset(numbered(PROSE, 1), numbered(PROSE, first_of_second))

    extraction = read_pdf(data, reader="auto")

    assert extraction.text.split("\n") == [" ".join(PROSE)] * 2
    assert not extraction.blocks


def test_a_short_last_page_loses_its_numbers_too():
    extraction = read_pdf(typeset(numbered(PROSE, 1), numbered(PROSE[:4], 11)), reader="auto")

    assert extraction.text.split("\n")[-1] == " ".join(PROSE[:4])


def test_the_number_of_a_blank_line_is_one_of_them():
    parted = [line for pair in zip(PROSE, [""] * len(PROSE), strict=True) for line in pair]

    text = read_pdf(typeset(numbered(parted, 1)), reader="auto").text

    assert text.split() == " ".join(PROSE).split()


def test_a_quote_is_found_on_the_numbered_page():
    data = typeset(numbered(PROSE, 1))
    text = read_pdf(data, reader="auto").text
    start = text.index("nine hours and was seen")

    layout = read_layout(data, 1)

    assert len(PageAlignment(text, layout).rectangles(start, start + 23)) == 1


@pytest.mark.parametrize("lines", [RANKING, PROSE[:5]])
def test_numbers_that_say_something_stay(lines: list[str]):
    """The places of a ranking; and a few lines are no proof."""
    text = read_pdf(typeset(numbered(lines, 1)), reader="auto").text

    assert all(str(n) in text.split() for n in range(1, len(lines) + 1))


def test_a_page_of_a_hundred_thousand_numbered_lines_takes_linear_time():
    def seconds(lines: int) -> float:
        page = RawPage("\n".join(f"{n} goes on" for n in range(lines)), [None] * lines, 800.0)
        started = time.process_time()
        (shorter,) = drop_line_numbers([page])
        assert shorter.text == "\n".join(["goes on"] * lines)
        return time.process_time() - started

    assert min(seconds(80_000) for _ in range(3)) < 16 * min(seconds(10_000) for _ in range(3))
