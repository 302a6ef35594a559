"""Pictures of pages: PDFium draws a page of text, and the drawing becomes a page of its own."""

import io
import shutil
from collections.abc import Sequence

import pytest
from pypdf import PdfReader

from documents.extractors.pdf.reader import draw_page
from tests.support.typeset import Picture, Words, column, typeset

LETTER = (
    "The lighthouse keeper counted forty ships in the harbour.",
    "Each of them carried salt, timber and a barrel of apples.",
)
needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="needs Debian's package tesseract-ocr"
)
BLANK = Picture(8, 8, b"\xff" * 64)


def scanned(*lines: str) -> Picture:
    """Lines of text as a picture at 300 dpi."""
    return photographed(column(*lines, size=14, leading=20))


def photographed(page: Sequence[Words]) -> Picture:
    drawn = draw_page(typeset(page), 1)
    return Picture(drawn.width, drawn.height, drawn.pixels)


def rescanned(pdf: bytes) -> bytes:
    """Turn the pages of a PDF into pictures at 300 dpi, without a letter of text."""
    pictures = []
    for number in range(1, len(PdfReader(io.BytesIO(pdf)).pages) + 1):
        drawn = draw_page(pdf, number)
        pictures.append(Picture(drawn.width, drawn.height, drawn.pixels))
    return typeset(*pictures)
