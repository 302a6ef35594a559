"""Arabic and Hebrew lines of a PDF, whose letters come in the order in which they were drawn."""

import pytest

from documents.extractors.pdf.reader import read_pdf
from documents.extractors.pdf.right_to_left import order_letters
from tests.viewing import printed
from tests.viewing.printed import ARABIC, DEJAVU, PrintedPage

needs_dejavu = pytest.mark.skipif(not DEJAVU.exists(), reason="the font with Arabic letters is not here")


@needs_dejavu
def test_an_arabic_line_that_a_browser_printed_reads_as_it_was_written():
    page = PrintedPage()
    printed.arabic(page)
    assert read_pdf(page.pdf(), reader="pdfium").text.strip() == ARABIC


def drawn(line: str, *, width: float = 5.0) -> tuple[str, list[tuple[float, float]]]:
    """Letters with their edges as they stand side by side from the left, spaces left out of the page."""
    return line, [(n * width, (n + 1) * width) for n in range(len(line))]


@pytest.mark.parametrize(
    ("seen", "read"),
    [
        ("םולש", "שלום"),
        ("1995-1948 םינשב", "בשנים 1995-1948"),
        (".50% הלדג הסולכואה", "האוכלוסה גדלה 50%."),
        ("2018 يف (ةيناثلا) ةعبطلا", "الطبعة (الثانية) في 2018"),
        ("مايأ (Direct Manager( ريدملا", "المدير (Direct Manager) أيام"),
        ("12.5 يه ةبسنلا", "النسبة هي 12.5"),
        ("خيراتلا 2018/10/13", "2018/10/13 التاريخ"),
        ("سرادم يف Open Source Software ةلمج", "جملة Open Source Software في مدارس"),
    ],
)
def test_letters_are_read_from_the_right_and_numbers_from_the_left(seen: str, read: str):
    line, edges = drawn(seen)
    text, places = order_letters(line, edges.__getitem__)
    assert text == read
    assert sorted(places) == list(range(len(line)))


def test_marks_stay_with_their_letters_and_ligatures_with_their_parts():
    # Shadda over the first letter; lam and alef in one place, as PDFium returns a ligature from the left.
    line, edges = (
        "\u0627\u0627\u0644\u0651\u0633",
        [(0.0, 5.0), (5.0, 9.0), (5.0, 9.0), (11.0, 13.0), (10.0, 15.0)],
    )
    assert order_letters(line, edges.__getitem__)[0] == "\u0633\u0651\u0644\u0627\u0627"


def test_lines_without_such_letters_and_single_words_stay():
    text = "Before\r\nThe word \u05e9\u05dc\u05d5\u05dd means peace\r\nAfter"
    same, places = order_letters(text, lambda place: (0.0, 1.0))
    assert (same, places) == (text, list(range(len(text))))
