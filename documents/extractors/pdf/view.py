"""A page as a person sees it: a picture in colour, and where each letter stands. Runs in the sandbox only."""

import ctypes
from array import array
from math import ceil, isfinite

import pypdfium2
from pypdfium2 import PdfPage, PdfTextPage, raw

from documents.extractors.failures import BROKEN_PDF, MAX_TEXT_BYTES, TOO_MUCH_TEXT, Unreadable
from documents.extractors.pdf.pdfium import NOT_DRAWN, arrange_tables, read_edges
from documents.extractors.pdf.right_to_left import has_right_to_left, order_letters
from documents.types import PageLayout, PagePicture

MAX_PIXELS = 12_000_000
_USUAL_ASCENT = 0.72  # of the font's size: Helvetica's and Times's
_RULER = 1 << 20  # device units on which a corner of the page is measured


def draw_view(data: bytes, number: int, width: int) -> PagePicture:
    """Draw a page `width` pixels wide, in colour, as it is shown. Raises Unreadable."""
    page = _open(data, number)
    page_width, page_height = page.get_size()
    if not (isfinite(page_width * page_height) and page_width > 0 and page_height > 0):
        raise Unreadable(NOT_DRAWN)
    scale = width / page_width
    if ceil(page_height * scale) * width > MAX_PIXELS:
        scale = (MAX_PIXELS / (page_width * page_height)) ** 0.5
    bitmap = page.render(scale=scale, rev_byteorder=True, may_draw_forms=True)
    if bitmap.n_channels != 3:
        raise Unreadable(NOT_DRAWN)
    rows, row_bytes = memoryview(bitmap.buffer), bitmap.width * 3
    pixels = b"".join(rows[y * bitmap.stride : y * bitmap.stride + row_bytes] for y in range(bitmap.height))
    return PagePicture(number, bitmap.width, bitmap.height, pixels)


def read_layout(data: bytes, number: int) -> PageLayout:
    """Return the page's size, its letters and their boxes. Raises Unreadable."""
    page = _open(data, number)
    text_page = page.get_textpage()
    count = text_page.count_chars()
    if count > MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    width, height = page.get_size()
    letters = [_letter(raw.FPDFText_GetUnicode(text_page.raw, index)) for index in range(count)]
    placement, heights = _Placement(page), _LineHeights(text_page)
    box = raw.FS_RECTF()
    boxes = array("f", bytes(16 * count))
    for index in range(count):
        if raw.FPDFText_GetLooseCharBox(text_page.raw, index, box):
            top = box.bottom + (box.top - box.bottom) * heights.share(index)
            boxes[4 * index : 4 * index + 4] = placement.box(box.left, box.bottom, box.right, top)
    text = "".join(letters)
    if has_right_to_left(text):
        text, order = order_letters(text, lambda place: read_edges(text_page.raw, place))
        boxes = array("f", (edge for place in order for edge in boxes[4 * place : 4 * place + 4]))
    arranged = arrange_tables(page, text_page, str(text_page.get_text_range()))
    if arranged:
        spans = [span for line in arranged for cell in line.cells for span in cell]
        text = "".join(f"{text[slice(*span)]} " for span in spans)
        no_extent = array("f", bytes(16))  # of the space behind each
        boxes = array("f", b"".join((boxes[4 * a : 4 * b] + no_extent).tobytes() for a, b in spans))
    return PageLayout(number, width, height, text, boxes.tobytes())


def _open(data: bytes, number: int) -> PdfPage:
    try:
        document = pypdfium2.PdfDocument(data)
        if not 1 <= number <= len(document):
            raise Unreadable(NOT_DRAWN)
        document.init_forms()
        return document[number - 1]
    except pypdfium2.PdfiumError as exc:
        raise Unreadable(BROKEN_PDF) from exc


def _letter(code: int) -> str:
    """Return one character for a code, so that letters and boxes stay side by side."""
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


class _LineHeights:
    """Tells how much of a letter's height is its line's.

    A font that is not in the file is drawn by another one, whose height has room for accents on capitals: a
    third more than the usual line of text.
    """

    def __init__(self, text_page: PdfTextPage) -> None:
        self._text_page = text_page
        self._last: tuple[int | None, float] = (None, 1.0)

    def share(self, index: int) -> float:
        """Return the share from the bottom, 0 to 1; the same for all letters of a piece of text."""
        piece = raw.FPDFText_GetTextObject(self._text_page.raw, index)
        address = ctypes.cast(piece, ctypes.c_void_p).value if piece else None
        if address != self._last[0]:
            self._last = address, _height_share(raw.FPDFTextObj_GetFont(piece)) if piece else 1.0
        return self._last[1]


def _height_share(font: raw.FPDF_FONT) -> float:
    ascent, descent = ctypes.c_float(), ctypes.c_float()
    if not font or raw.FPDFFont_GetIsEmbedded(font) or not raw.FPDFFont_GetAscent(font, 1.0, ascent):
        return 1.0
    raw.FPDFFont_GetDescent(font, 1.0, descent)
    height = ascent.value - descent.value
    return min(1.0, (_USUAL_ASCENT - descent.value) / height) if height > 0 else 1.0


class _Placement:
    """Maps a point of the page's own space to the page as it is shown: 0 to 1, from the top left.

    PDFium knows crop boxes and rotation; three corners give the affine map.
    """

    def __init__(self, page: PdfPage) -> None:
        def shown(x: float, y: float) -> tuple[float, float]:
            right, down = ctypes.c_int(), ctypes.c_int()
            raw.FPDF_PageToDevice(page, 0, 0, _RULER, _RULER, 0, x, y, right, down)
            return right.value / _RULER, down.value / _RULER

        span = 1000.0
        (x0, y0), (x1, y1), (x2, y2) = shown(0, 0), shown(span, 0), shown(0, span)
        self._origin = x0, y0
        self._right = (x1 - x0) / span, (y1 - y0) / span
        self._up = (x2 - x0) / span, (y2 - y0) / span

    def box(self, left: float, bottom: float, right: float, top: float) -> "array[float]":
        (ax, ay), (bx, by) = self._point(left, bottom), self._point(right, top)
        return array("f", (min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)))

    def _point(self, x: float, y: float) -> tuple[float, float]:
        return (
            self._origin[0] + x * self._right[0] + y * self._up[0],
            self._origin[1] + x * self._right[1] + y * self._up[1],
        )
