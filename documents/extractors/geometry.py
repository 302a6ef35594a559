"""Asks PDFium how the lines of a page look. A few calls a line; not one a letter."""

import ctypes
import re
from collections.abc import Callable
from dataclasses import replace
from math import hypot

from pypdfium2 import PdfTextPage, raw

from documents.extractors.looks import Gap, Look

_BOLD = re.compile(r"bold|black|heavy|demi|-bd\b", re.IGNORECASE)
_BOLD_WEIGHT = 600
_NAME_BYTES = 128
_LOOSE = 0.58  # em a letter: plain text takes less, so only looser lines are searched for gaps
_WIDE = 1.1  # em: a space is a third of it, in justified text hardly more than half
_JUSTIFIED = 2.5  # em: no word space is stretched more
_MOST_SPACES = 60  # of a row
_SPACE = re.compile(r"(?<=\S) (?=\S)")


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
        look = _look(handle, index(first), index(first + len(words) - 1)) if words else None
        if look and look.right - look.left > _LOOSE * look.size * len(words):
            look = replace(look, gaps=_gaps(handle, line, index(start), look.size))
        looks.append(look)
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
    return Look(size, bold, x.value, _edges(handle, last)[1], y.value)


def _gaps(handle: raw.FPDF_TEXTPAGE, line: str, start: int, size: float) -> tuple[Gap, ...]:
    """() unless the wide spaces are clearly others than the narrow ones: justified text has wide ones too."""
    places = [found.start() for found in _SPACE.finditer(line)]
    if len(places) > _MOST_SPACES:
        return ()
    spaces = [
        Gap(place, _edges(handle, start + place - 1)[1], _edges(handle, start + place + 1)[0])
        for place in places
    ]
    wide = [gap for gap in spaces if gap.right - gap.left > _WIDE * size]
    widths = [gap.right - gap.left for gap in wide]
    narrow = [gap.right - gap.left for gap in spaces if gap not in wide]
    if not wide or (narrow and min(widths) < 2 * max(narrow)):
        return ()
    equal = not narrow and max(widths) < min(1.25 * min(widths), _JUSTIFIED * size)
    return () if equal else tuple(wide)


def _edges(handle: raw.FPDF_TEXTPAGE, place: int) -> tuple[float, float]:
    """(left, right) of a letter."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(handle, place, left, right, bottom, top)
    return left.value, right.value


def _is_bold(handle: raw.FPDF_TEXTPAGE, place: int) -> bool:
    """By the font's weight, or by its name: a font that was cut down often tells no weight."""
    if raw.FPDFText_GetFontWeight(handle, place) >= _BOLD_WEIGHT:
        return True
    name, flags = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_int()
    length = raw.FPDFText_GetFontInfo(handle, place, name, _NAME_BYTES, flags)
    return 0 < length <= _NAME_BYTES and _BOLD.search(name.value.decode("utf-8", "replace")) is not None
