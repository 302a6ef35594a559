"""Text as it leaves a PDF library -> text that can be stored, searched and quoted."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.extractors.cleaning import clean_page
from documents.extractors.pdf.layout import join_paragraphs
from documents.extractors.pdf.reader import parse_date, parse_metadata, reads_well
from documents.text.characters import clean_characters, clean_label, has_text


def cleaned(page: str) -> str:
    return join_paragraphs(clean_page(page))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a\x00b\ud800c\x1b", "abc"),
        ("one\r\ntwo\rthree\x0cfour\u2028five", "one\ntwo\nthree\nfour\nfive"),
        ("tab\tstays", "tab\tstays"),
        ("\ufb01ne \ufb02ow e\ufb03cient", "fine flow efficient"),
        ("soft\u00adhyphen zero\u200bwidth \ufeffmark", "softhyphen zerowidth mark"),
        ("cafe\u0301", "caf\u00e9"),
        ("x\u00b2 and \u2122 stay", "x\u00b2 and \u2122 stay"),
        ("\u2f00\u2f08", "\u4e00\u4eba"),
        ("\ufeb3\ufefc\ufee1", "\u0633\u0644\u0627\u0645"),
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
    ],
)
def test_characters_are_made_fit(raw: str, expected: str) -> None:
    assert clean_characters(raw) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("the inter\ufffe\r\nnational law", "the international law"),
        ("the inter\ufffenational law", "the international law"),
        ("the inter\x02\r\nnational law", "the international law"),
        ("the inter-\nnational law", "the international law"),
        ("the inter\u00ad\nnational law", "the international law"),
        ("by photo-\nsynthesis alone", "by photosynthesis alone"),
        ("a third\ufffe\r\nparty vendor", "a third-party vendor"),
        ("grew year-over\ufffe\r\nyear again", "grew year-over-year again"),
        ("alle Vor-\nund Nachteile", "alle Vor- und Nachteile"),
        ("the Russia\ufffeUkraine war", "the Russia-Ukraine war"),
        ("pages 10\ufffe\r\n20 are lost", "pages 10-20 are lost"),
    ],
)
def test_words_broken_over_lines_are_whole_again(raw: str, expected: str) -> None:
    assert cleaned(raw) == expected


def test_wrapped_lines_become_paragraphs() -> None:
    page = (
        "The first paragraph goes over a number of lines, each of which\r\n"
        "is as full as the width of the column allows it to be, until\r\n"
        "it ends.\r\n"
        "The second paragraph begins on a line of its own and goes on to\r\n"
        "the next one."
    )
    first, second = cleaned(page).split("\n")
    assert first.endswith("to be, until it ends.")
    assert second.endswith("goes on to the next one.")


def test_a_heading_after_a_full_line_stands_alone() -> None:
    page = (
        "Tesla was renowned for his work on alternating current. He moved to New York in 1884.\n"
        "Early life\nTesla was born in Smiljan."
    )
    assert cleaned(page).split("\n\n")[1].split("\n") == ["Early life", "Tesla was born in Smiljan."]


def test_a_short_rest_of_a_sentence_is_no_heading() -> None:
    page = (
        "Tesla was renowned for his work on alternating current. He moved to New York in 1884.\n"
        "Later he lived in a hotel and fed the pigeons of the park that\nhe saw from his window."
    )
    assert cleaned(page).count("\n") == 0


def test_list_items_and_rows_of_figures_keep_their_lines() -> None:
    page = "Net income $ 461 $ 229\r\nTotal sales 1,204 998\r\n\u2022 first thing\r\n\u2022 second thing"
    assert cleaned(page) == page.replace("\r\n", "\n")


def test_chinese_lines_are_joined_without_a_space() -> None:
    line = "\u540c\u5e02\u573a\u5baa\u6cd5\u7535\u529b" * 4
    assert cleaned(f"{line}\r\n{line}") == line * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        (" \n\t", False),
        ("\u200b\u2060\u00ad\u3164\u2800", False),
        ("a", True),
        ("\u4e2d", True),
        ("1", True),
    ],
)
def test_only_what_can_be_seen_counts_as_text(text: str, expected: bool) -> None:
    assert has_text(text) is expected


@given(st.text(alphabet=st.characters(), max_size=200))
def test_cleaned_text_can_be_stored(text: str) -> None:
    page = cleaned(text)
    assert "\x00" not in page
    page.encode()  # no lone surrogates
    assert page == page.strip()
    assert clean_label(text) == " ".join(clean_label(text).split())


def test_glued_and_lost_text_does_not_read_well() -> None:
    good = "For more information on how to reach us, see the back of this page. " * 3
    assert reads_well(good)
    assert not reads_well(good.replace(" ", ""))
    assert not reads_well(good.replace("o", "\ufffd"))
    assert not reads_well("")
    assert reads_well("\u540c\u5e02\u573a\u5baa\u6cd5\u7535\u529b" * 30)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("D:20240131120000+01'00'", "2024-01-31T12:00:00+01:00"),
        ("D:20240131120000-0530", "2024-01-31T12:00:00-05:30"),
        ("20240131", "2024-01-31T00:00:00+00:00"),
        ("D:2024", "2024-01-01T00:00:00+00:00"),
        ("D:20241399", ""),
        ("yesterday", ""),
    ],
)
def test_dates_of_pdf_files(raw: str, expected: str) -> None:
    assert parse_date(raw) == expected


def test_metadata_is_cleaned_and_named_our_way() -> None:
    raw = {"Title": "A\x00 Title\n", "Author": "  ", "Keywords": "one,\ttwo", "Other": "x"}
    assert parse_metadata(raw) == ("A Title", {"keywords": "one, two"})
    for none in ("Untitled", "(anonymous)"):
        assert parse_metadata({"Title": none}) == ("", {})


@pytest.mark.parametrize(
    "unit", ["a", ".", "\n", "[", "(", " ", "a\n", "-\n", "a-\n", "\ufffe", "\x02 ", "\u0301", "\ufb01"]
)
@pytest.mark.parametrize("routine", [cleaned, has_text, reads_well])
def test_the_work_is_linear_in_the_text(routine: Callable[[str], object], unit: str) -> None:
    def cpu(chars: int) -> float:
        text = unit * (chars // len(unit))
        started = time.process_time()
        routine(text)
        return time.process_time() - started

    small = min(cpu(50_000) for _ in range(3))
    assert cpu(400_000) < 30 * small + 0.2  # a quadratic routine would need 64 times as much


def test_each_field_of_a_form_is_a_line():
    """Though some of them fill the width of the page, as a line of a paragraph does."""
    form = [
        "Survey record: 10071",
        "Survey coordinator: William Leacock (Wildlife Biologist)",
        "E-mail: leacock@refuges.example",
        "Frequency: recurring, every year",
    ]
    assert cleaned("\n".join(form)).split("\n") == form


def test_a_paragraph_in_which_a_line_begins_as_a_field_does_is_whole():
    paragraph = "The keeper has a duty on each and every day of the year, under\nLamp: he lights it at dusk."
    assert cleaned(paragraph) == paragraph.replace("\n", " ")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (
            "Reach\no The centre hosts users in forty\ndepartments.\n  o 56 nodes were added.",
            "Reach\n◦ The centre hosts users in forty departments.\n◦ 56 nodes were added.",
        ),
        (
            "o Brasil venceu\no jogo em casa e\no Peru perdeu",
            "o Brasil venceu o jogo em casa e o Peru perdeu",
        ),
        ("o The one line that begins so", "o The one line that begins so"),
        ("\uf0a7 Use of lamps rose.\n\uf0b7Boats fell.", "• Use of lamps rose.\n• Boats fell."),
    ],
)
def test_the_letter_that_word_sets_as_the_sign_of_an_item_is_a_bullet(raw: str, expected: str) -> None:
    assert cleaned(raw) == expected
