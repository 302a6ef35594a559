"""The PdfReader over PDFium: ten times as fast as pypdf, and it reads words that pypdf glues together."""

import ctypes
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from math import ceil, hypot, isfinite, sqrt

import pypdfium2
from pypdfium2 import PdfPage, PdfTextPage, raw

from documents.extractors.failures import (
    MAX_OUTLINE_ENTRIES,
    MAX_PAGES,
    MAX_TEXT_BYTES,
    TOO_MUCH_TEXT,
    PasswordNeeded,
    Unreadable,
)
from documents.extractors.pdf.pages import MAX_OUTLINE_DEPTH, Gap, LineStyle, OutlineEntry, RawPage
from documents.extractors.pdf.right_to_left import has_right_to_left, order_letters
from documents.extractors.pdf.ruled_tables import ArrangedLine, arrange_lines, write_lines
from documents.extractors.pdf.rulings import find_grids
from documents.text.characters import has_text
from documents.types import PagePicture

_BOLD = re.compile(r"bold|black|heavy|demi|-bd\b", re.IGNORECASE)
_BOLD_WEIGHT = 600
_NAME_BYTES = 128
_LOOSE = 0.58  # em a letter: plain text takes less, so only looser lines are searched for gaps
_WIDE = 1.1  # em: a space is a third of it, in justified text hardly more than half
_JUSTIFIED = 2.5  # em: no word space is stretched more
_MOST_SPACES = 60  # of a row
_SIGNS_BEFORE, _SIGNS_BEHIND = "$€£¥(", "$€£¥%)"
# At a line's end, as PDFium tells of it. A number behind it may be that of the next line (`line_numbers`).
_HYPHEN = re.compile("(?<=\\w)\ufffe(?=\\w)(?!\\d{1,5} \\w)")
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_ANOTHER_SIZE = 1.15  # times
_SPACE = re.compile(r"(?<=\S) (?=\S)")


def read_line_styles(text_page: PdfTextPage, text: str) -> list[LineStyle | None]:
    """Return the style of each line of `text`, the page's whole text; [] where offsets do not match."""
    if not text.isascii() and max(text) > "\uffff":  # counted as two letters by PDFium
        return []
    handle = text_page.raw
    same = len(text) == text_page.count_chars()

    def index(offset: int) -> int:
        return offset if same else int(raw.FPDFText_GetCharIndexFromTextIndex(handle, offset))

    styles: list[LineStyle | None] = []
    lines, starts = text.split("\n"), []
    start = 0
    for line in lines:
        words = line.strip()
        first = start + len(line) - len(line.lstrip())
        style = _read_style(handle, index(first), index(first + len(words) - 1)) if words else None
        if style and style.right - style.left > _LOOSE * style.size * len(words):
            style = replace(style, gaps=_find_gaps(handle, line, index(start), style.size))
        styles.append(style)
        starts.append(start)
        start += len(line) + 1
    for number in _lines_near_gaps(styles):  # heads and long rows are as tight as prose
        style = styles[number]
        if style and not style.gaps:
            gaps = _find_gaps(handle, lines[number], index(starts[number]), style.size)
            styles[number] = replace(style, gaps=gaps)
    return styles


def _lines_near_gaps(styles: Sequence[LineStyle | None]) -> list[int]:
    """Return the lines within two of one with gaps, and the seven above the first such line."""
    near: set[int] = set()
    for number, style in enumerate(styles):
        if style and style.gaps:
            above = 2 if number and number - 1 in near else 7
            near.update(range(max(0, number - above), min(len(styles), number + 3)))
    return sorted(near)


# What PDFium writes into, allocated once: a page asks for thousands of letters, one at a time.
_matrix, _x, _y = raw.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
_left, _right, _bottom, _top = (ctypes.c_double() for _ in range(4))
_page_size = raw.FS_SIZEF()
_name, _flags = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_int()


def _read_style(handle: raw.FPDF_TEXTPAGE, first: int, last: int) -> LineStyle | None:
    if not raw.FPDFText_GetMatrix(handle, first, _matrix) or abs(_matrix.b) > 0.1 * abs(_matrix.a):
        return None
    if not raw.FPDFText_GetCharOrigin(handle, first, _x, _y):
        return None
    size = _read_size(handle, first)
    bold = _is_bold(handle, first) and _is_bold(handle, last)
    left, baseline = _x.value, _y.value
    right = read_edges(handle, last)[1]
    if last > first and chr(raw.FPDFText_GetUnicode(handle, last)) in _SIGNS_BEHIND:
        right = max(right, read_edges(handle, last - 1)[1])  # "5$", though the sign stands before
    return LineStyle(size, bold, left, right, baseline)


def _read_size(handle: raw.FPDF_TEXTPAGE, index: int) -> float:
    """Return the size of a letter in points, 0.0 where it has none."""
    if not raw.FPDFText_GetMatrix(handle, index, _matrix):
        return 0.0
    return float(raw.FPDFText_GetFontSize(handle, index) * hypot(_matrix.c, _matrix.d))


def part_lines(text_page: PdfTextPage, text: str) -> str:
    """Return the text with a line end where PDFium joins what are no parts of one line.

    For a hyphen at the end of a line where letters of another size follow: the last word above a running
    line with this. And where letters that run up the page stand in it: what is printed along its edge. And
    between rows of small type that was scaled down.
    """
    if len(text) != text_page.count_chars():
        return text
    handle, parted = text_page.raw, list(text)
    for match in _HYPHEN.finditer(text):
        before, behind = _read_size(handle, match.start() - 1), _read_size(handle, match.end())
        if max(before, behind) > _ANOTHER_SIZE * min(before, behind):
            parted[match.start()] = "\n"
    for line in _LINE.finditer(text):
        begins = _is_turned(handle, line.start())
        if begins != _is_turned(handle, line.end() - 1):
            spaces = [line.start() + space.start() for space in _SPACE.finditer(line.group())]
            first = bisect_left(spaces, True, key=lambda space: _is_turned(handle, space + 1) != begins)
            if first < len(spaces):
                parted[spaces[first]] = "\n"
        elif _stands_below(handle, line.end() - 1, line.start()):
            for space in _SPACE.finditer(text, line.start(), line.end()):
                if _begins_line(handle, space.start()):
                    parted[space.start()] = "\n"
    return "".join(parted)


def _begins_line(handle: raw.FPDF_TEXTPAGE, space: int) -> bool:
    """Return whether what follows a space that PDFium put in stands below what comes before, to its left."""
    if raw.FPDFText_IsGenerated(handle, space) != 1 or not _stands_below(handle, space + 1, space - 1):
        return False
    return read_edges(handle, space + 1)[1] < read_edges(handle, space - 1)[0]


def _stands_below(handle: raw.FPDF_TEXTPAGE, letter: int, other: int) -> bool:
    left, _, bottom, _ = _read_box(handle, other)
    _, right, _, top = _read_box(handle, letter)
    return left > 0 < right and top <= bottom


def _is_turned(handle: raw.FPDF_TEXTPAGE, index: int) -> bool:
    return bool(raw.FPDFText_GetMatrix(handle, index, _matrix)) and abs(_matrix.b) > abs(_matrix.a)


def _find_gaps(handle: raw.FPDF_TEXTPAGE, line: str, start: int, size: float) -> tuple[Gap, ...]:
    """Return the wide spaces if they differ clearly from the narrow ones: justified text has some, too."""
    indexes = [match.start() for match in _SPACE.finditer(line)]
    if len(indexes) > _MOST_SPACES:
        return ()
    spaces = []
    for index in indexes:
        _, left = read_edges(handle, start + index - 1)
        right, _ = read_edges(handle, start + index + 1)
        spaces.append(Gap(index, left, right))
    wide = [gap for gap in spaces if gap.right - gap.left > _WIDE * size]
    widths = [gap.right - gap.left for gap in wide]
    narrow = [
        gap.right - gap.left for gap in spaces if gap not in wide and not _is_beside_sign(line, gap.index)
    ]
    if not wide or (narrow and min(widths) < 2 * max(narrow)):
        return ()
    equal = not narrow and max(widths) < min(1.25 * min(widths), _JUSTIFIED * size)
    return () if equal else tuple(wide)


def _is_beside_sign(line: str, space: int) -> bool:
    """Tell if a space is between a figure and its sign, "$ 5" or "5 %": in a table that may be wide, too."""
    return line[space - 1] in _SIGNS_BEFORE or line[space + 1] in _SIGNS_BEHIND


def read_edges(handle: raw.FPDF_TEXTPAGE, index: int) -> tuple[float, float]:
    """Return (left, right) of a letter, zeros where it has none."""
    if not raw.FPDFText_GetCharBox(handle, index, _left, _right, _bottom, _top):
        return 0.0, 0.0
    return _left.value, _right.value


def arrange_tables(page: PdfPage, text_page: PdfTextPage, text: str) -> list[ArrangedLine] | None:
    """Return the lines of a page in the order of its ruled tables; None where it has none, is read from the
    right, or its text has not one character for each letter.
    """
    if has_right_to_left(text) or len(text) != text_page.count_chars():
        return None
    grids = find_grids(page)
    return arrange_lines(text, grids, lambda place: _read_box(text_page.raw, place)) if grids else None


def _read_box(handle: raw.FPDF_TEXTPAGE, index: int) -> tuple[float, float, float, float]:
    """Return (left, right, bottom, top) of a letter, zeros where it has none."""
    left, right = read_edges(handle, index)
    return (left, right, _bottom.value, _top.value) if right > left else (0.0, 0.0, 0.0, 0.0)


def _is_bold(handle: raw.FPDF_TEXTPAGE, index: int) -> bool:
    """Judge by the font's weight, or its name: a subset of a font often has no weight."""
    if raw.FPDFText_GetFontWeight(handle, index) >= _BOLD_WEIGHT:
        return True
    length = raw.FPDFText_GetFontInfo(handle, index, _name, _NAME_BYTES, _flags)
    return 0 < length <= _NAME_BYTES and _is_bold_name(_name.value)


@lru_cache(maxsize=256)
def _is_bold_name(name: bytes) -> bool:
    return _BOLD.search(name.decode("utf-8", "replace")) is not None


_DPI = 300.0  # what Tesseract reads best
_MAX_PIXELS = 9_000_000  # A4 at 300 dpi has 8.7 million
_MAX_SIDE = 12_000
_MAX_OBJECTS = 2_000  # of a page that are inspected
_OUTLINES = 20  # so many drawn shapes may be letters; a frame or a rule is less
_SMALL = 1 / 200  # of the page's area: a smaller image holds no text worth mentioning
NOT_DRAWN = "The page cannot be drawn."


def has_visible_content(page: PdfPage) -> bool:
    """Tell if a page without text holds an image, or shapes enough to be letters."""
    area = page.get_width() * page.get_height()
    shapes = 0
    for thing in islice(page.get_objects(max_depth=3), _MAX_OBJECTS):
        if thing.type == raw.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = thing.get_bounds()
            if abs((right - left) * (top - bottom)) >= _SMALL * area:
                return True
        elif thing.type in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_TEXT):
            shapes += 1
    return shapes >= _OUTLINES


def draw_grey_picture(page: PdfPage, number: int) -> PagePicture:
    """Draw a page at 300 dpi, less where that were more than 9 million pixels. Raises Unreadable."""
    width, height = page.get_size()
    if not (isfinite(width * height) and width * height > 0):
        raise Unreadable(NOT_DRAWN)
    scale = min(_DPI / 72, sqrt(_MAX_PIXELS / (width * height)), _MAX_SIDE / max(width, height))
    if min(ceil(width * scale), ceil(height * scale)) < 1:
        raise Unreadable(NOT_DRAWN)
    bitmap = page.render(scale=scale, grayscale=True, may_draw_forms=False)
    return PagePicture(number, bitmap.width, bitmap.height, bytes(bitmap.buffer))


class PdfiumReader:
    def __init__(self, data: bytes) -> None:
        """Open with the empty password. Raises PasswordNeeded, or PdfiumError for a broken file."""
        try:
            self._document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as exc:
            if getattr(exc, "err_code", None) == raw.FPDF_ERR_PASSWORD:
                raise PasswordNeeded from exc
            raise
        self.claimed_pages = len(self._document)
        self.page_count = self._find_end()

    def _find_end(self) -> int:
        """Return the number of pages up to the last that is there, MAX_PAGES + 1 if there are more.

        PDFium believes a /Count below 2^20 and counts by itself above it; a page is looked up in 2 µs.
        """
        if self._has_page(self.claimed_pages - 1):
            return self.claimed_pages
        end = 0
        for page_index in range(self.claimed_pages):
            if self._has_page(page_index):
                end = page_index + 1
                if end > MAX_PAGES:
                    break
        return end

    def _has_page(self, page_index: int) -> bool:
        return bool(raw.FPDF_GetPageSizeByIndexF(self._document.raw, page_index, _page_size))

    def page(self, page_index: int) -> RawPage:
        page = self._document[page_index]
        text_page = page.get_textpage()
        try:
            if text_page.count_chars() > MAX_TEXT_BYTES:
                raise Unreadable(TOO_MUCH_TEXT)
            text = str(text_page.get_text_range())
            if not has_text(text):  # letters without meaning are U+FFFE, which would be taken for hyphens
                return RawPage("", pictures=has_visible_content(page))
            text = part_lines(text_page, text)
            styles = read_line_styles(text_page, text)
            arranged = arrange_tables(page, text_page, text) if styles else None
            if arranged:
                text, styles = write_lines(
                    arranged, text, styles, lambda place: _read_box(text_page.raw, place)
                )
            if has_right_to_left(text) and len(text) == text_page.count_chars():
                text, _ = order_letters(text, lambda place: read_edges(text_page.raw, place))
            return RawPage(text, styles, page.get_height())
        finally:
            text_page.close()
            page.close()

    def picture(self, page_index: int) -> PagePicture:
        """Draw the page in grey, for text recognition. Raises Unreadable where it cannot be drawn."""
        return draw_grey_picture(self._document[page_index], page_index + 1)

    def outline(self) -> list[OutlineEntry]:
        """Return the outline. PDFium's iterator remembers what it has seen, so a circular one ends."""
        bookmarks = self._document.get_toc(max_depth=MAX_OUTLINE_DEPTH)
        entries = []
        for bookmark in islice(bookmarks, MAX_OUTLINE_ENTRIES):
            destination = bookmark.get_dest()
            page_index = destination.get_index() if destination else None
            if page_index is not None:
                entries.append(OutlineEntry(bookmark.level + 1, bookmark.get_title(), page_index))
        return entries

    def metadata(self) -> dict[str, str]:
        return dict(self._document.get_metadata_dict(skip_empty=True))
