"""Asks PDFium how the lines of a page look. A few calls a line; not one a letter."""

import ctypes
import re
from collections.abc import Callable
from math import hypot

from pypdfium2 import PdfTextPage, raw

from documents.extractors.looks import Look

_BOLD = re.compile(r"bold|black|heavy|demi|-bd\b", re.IGNORECASE)
_BOLD_WEIGHT = 600
_NAME_BYTES = 128


def line_looks(text_page: PdfTextPage, text: str) -> list[Look | None]:
    """Of each line of `text`, which is the whole page's as PDFium gives it. [] where places do not match."""
    if not text.isascii() and max(text) > "\uffff":  # counted as two letters by PDFium
        return []
    handle = text_page.raw
    same = len(text) == text_page.count_chars()
    index: Callable[[int], int] = (
        (lambda place: place)
        if same
        else (lambda place: int(raw.FPDFText_GetCharIndexFromTextIndex(handle, place)))
    )
    looks: list[Look | None] = []
    start = 0
    for line in text.split("\n"):
        words = line.strip()
        first = start + len(line) - len(line.lstrip())
        looks.append(_look(handle, index(first), index(first + len(words) - 1)) if words else None)
        start += len(line) + 1
    return looks


def _look(handle: raw.FPDF_TEXTPAGE, first: int, last: int) -> Look | None:
    matrix, x, y = raw.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
    if not raw.FPDFText_GetMatrix(handle, first, matrix) or abs(matrix.b) > 0.1 * abs(matrix.a):
        return None
    if not raw.FPDFText_GetCharOrigin(handle, first, x, y):
        return None
    size = raw.FPDFText_GetFontSize(handle, first) * hypot(matrix.c, matrix.d)
    bold = _is_bold(handle, first) and _is_bold(handle, last)
    left, baseline = x.value, y.value
    edges = [ctypes.c_double() for _ in range(4)]
    raw.FPDFText_GetCharBox(handle, last, *edges)
    return Look(size, bold, left, edges[1].value, baseline)


def _is_bold(handle: raw.FPDF_TEXTPAGE, place: int) -> bool:
    """By the font's weight, or by its name: a font that was cut down often tells no weight."""
    if raw.FPDFText_GetFontWeight(handle, place) >= _BOLD_WEIGHT:
        return True
    name, flags = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_int()
    length = raw.FPDFText_GetFontInfo(handle, place, name, _NAME_BYTES, flags)
    return 0 < length <= _NAME_BYTES and _BOLD.search(name.value.decode("utf-8", "replace")) is not None
