"""Pages that are pictures: telling them from blank ones, and drawing them for text recognition."""

from itertools import islice
from math import ceil, isfinite, sqrt

from pypdfium2 import PdfPage, raw

from documents.extractors.failures import Unreadable
from documents.extractors.frames import PagePicture

_DPI = 300.0  # what Tesseract reads best
_MAX_PIXELS = 9_000_000  # A4 at 300 dpi has 8.7 million
_MAX_SIDE = 12_000
_LOOKED_AT = 2_000  # objects of a page
_OUTLINES = 20  # so many drawn shapes may be letters; a frame or a rule is less
_SMALL = 1 / 200  # of the page's area: a smaller image holds no text worth mentioning
NOT_DRAWN = "The page cannot be drawn."


def shows_something(page: PdfPage) -> bool:
    """Whether a page without text holds an image, or shapes enough to be letters."""
    area = page.get_width() * page.get_height()
    shapes = 0
    for thing in islice(page.get_objects(max_depth=3), _LOOKED_AT):
        if thing.type == raw.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = thing.get_bounds()
            if abs((right - left) * (top - bottom)) >= _SMALL * area:
                return True
        elif thing.type in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_TEXT):
            shapes += 1
    return shapes >= _OUTLINES


def grey_picture(page: PdfPage, number: int) -> PagePicture:
    """At 300 dpi, less where that were more than 9 million pixels. Raises Unreadable."""
    width, height = page.get_size()
    if not (isfinite(width * height) and width * height > 0):
        raise Unreadable(NOT_DRAWN)
    scale = min(_DPI / 72, sqrt(_MAX_PIXELS / (width * height)), _MAX_SIDE / max(width, height))
    if min(ceil(width * scale), ceil(height * scale)) < 1:
        raise Unreadable(NOT_DRAWN)
    bitmap = page.render(scale=scale, grayscale=True, may_draw_forms=False)
    return PagePicture(number, bitmap.width, bitmap.height, bytes(bitmap.buffer))
