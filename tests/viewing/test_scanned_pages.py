"""A quote is marked on a page that is a picture, by the boxes of the words that were recognised on it."""

from pathlib import Path
from statistics import median
from typing import Any

import httpx
import pytest

from documents.extractors.pdf.view import read_layout
from documents.extractors.sandbox.extractor import SandboxedExtractor
from documents.types import ExtractedPage, PageLayout, PlacedWord
from documents.viewing.alignment import PageAlignment, lay_out_words, normalized
from tests.extraction.scans import needs_tesseract, rescanned
from tests.support.stack import Stack
from tests.viewing import printed
from tests.viewing.conftest import Ingest
from tests.viewing.printed import PrintedPage
from tests.viewing.test_rectangles import find_words, overlap

PRINTS = {
    "plain": (printed.plain, {}),
    "columns": (printed.columns, {}),
    "hyphenated": (printed.hyphenated, {}),
    "cropped": (printed.plain, {"crop": (40.0, 500.0, 400.0, 800.0)}),
}
SIZE = PageLayout(1, 600.0, 800.0, "", b"")


def recognize(pdf: bytes, folder: Path) -> tuple[str, ExtractedPage]:
    """Return the text and the one page of a scan."""
    path = folder / "scan.pdf"
    path.write_bytes(pdf)
    extraction = SandboxedExtractor(ocr_languages="eng").extract(path, filename=path.name, patient=True)
    (page,) = extraction.pages
    assert page.read_by == "ocr"
    return extraction.text, page


@needs_tesseract
@pytest.mark.parametrize("name", PRINTS)
def test_each_phrase_of_a_scan_is_marked_where_it_was_printed(name: str, tmp_path: Path):
    prints, options = PRINTS[name]
    page = PrintedPage(**options)
    prints(page)
    scan = rescanned(page.pdf())
    text, recognized = recognize(scan, tmp_path)
    layout = lay_out_words(read_layout(scan, 1), recognized.words or ())
    alignment = PageAlignment(text, layout)

    shares = []
    for phrase in page.phrases:
        marked = [normalized(box, layout) for box in alignment.rectangles(*find_words(text, phrase.words))]
        assert len(marked) == len(phrase.boxes), (phrase, marked)
        shares += [overlap(*pair) for pair in zip(marked, phrase.boxes, strict=True)]

    print(name, round(min(shares), 3), round(median(shares), 3))
    assert min(shares) > 0.5
    assert median(shares) >= 0.8


def word(text: str, left: int, top: int = 1000) -> PlacedWord:
    return (text, left, top, left + 100 * len(text), top + 200)


def test_each_letter_has_an_equal_share_of_its_word():
    layout = lay_out_words(SIZE, [word("lamp", 1000), word("lit", 1500)])
    alignment = PageAlignment("lamp lit", layout)

    assert alignment.method == "exact"
    (whole,) = alignment.rectangles(0, 8)
    assert normalized(whole, layout) == pytest.approx((0.1, 0.1, 0.18, 0.12))
    (part,) = alignment.rectangles(1, 3)
    assert normalized(part, layout) == pytest.approx((0.11, 0.1, 0.13, 0.12))


def test_what_has_no_words_on_the_page_is_not_marked():
    layout = lay_out_words(SIZE, [word("lamp", 1000), word("lit", 1500)])
    text = "lamp lit, and nothing of the rest was found"

    assert PageAlignment(text, layout).rectangles(0, len(text)) == []
    assert PageAlignment(text, SIZE).rectangles(0, 8) == []


@needs_tesseract
def test_a_quote_of_a_scan_is_marked_and_a_page_recognised_before_is_not(
    server: Stack, ingest: Ingest, client: httpx.Client
):
    page = PrintedPage()
    printed.plain(page)
    id_ = ingest("scan.pdf", rescanned(page.pdf()))
    text = client.get(f"/v1/documents/{id_}").json()["content"]
    (phrase,) = (phrase for phrase in page.phrases if "253 steps" in phrase.words)
    start, end = find_words(text, phrase.words)

    def highlights() -> dict[str, Any]:
        path = f"/v1/documents/{id_}/highlights"
        return client.get(path, params={"start": start, "end": end}).json()

    (marked,) = highlights()["pages"]
    assert (marked["number"], marked["method"]) == (1, "exact")
    (box,) = marked["rects"]
    assert overlap(tuple(box), phrase.boxes[0]) > 0.7
    lines = client.get(f"/v1/documents/{id_}/pages/1").json()
    assert (lines["method"], len(lines["lines"])) == ("exact", len(page.phrases))

    server.sql(f"UPDATE documents_page SET words = NULL WHERE document_id = '{id_}'")  # before this release
    found = highlights()
    assert found["quoted_text"] == text[start:end]
    assert [(page["method"], page["rects"]) for page in found["pages"]] == [("none", [])]
    lines = client.get(f"/v1/documents/{id_}/pages/1").json()
    assert (lines["method"], lines["lines"], lines["width"]) == ("none", [], 612)
