"""The reader of PDFs: bytes -> Extraction. Runs in the sandbox only."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import accumulate
from typing import TypeVar

from documents.extractors.failures import (
    BROKEN_PDF,
    MAX_PAGES,
    MAX_TEXT_BYTES,
    NO_TEXT,
    TOO_MANY_PAGES,
    TOO_MUCH_TEXT,
    PasswordNeeded,
    Unreadable,
)
from documents.extractors.job import OnPages, OutOfTime, cpu_limit
from documents.extractors.pdf.line_numbers import drop_line_numbers
from documents.extractors.pdf.pages import OpenReader, PdfReader, RawPage, ReaderName
from documents.extractors.pdf.pdfium import PdfiumReader
from documents.extractors.pdf.pypdf_reader import PypdfReader
from documents.extractors.pdf.structure import PdfStructure, build_structure
from documents.text.characters import clean_label, has_text
from documents.types import ExtractedPage, Extraction, PagePicture, ReadBy

_NAMES = {"Author": "author", "Subject": "subject", "Keywords": "keywords", "Creator": "creator"}
_DATES = {"CreationDate": "created", "ModDate": "modified"}
_DATE = re.compile(
    r"(?:D:)?(?P<year>\d{4})(?P<month>\d\d)?(?P<day>\d\d)?(?P<hour>\d\d)?(?P<minute>\d\d)?(?P<second>\d\d)?"
    r"(?:(?P<sign>[+-])(?P<off_hours>\d\d)'?(?P<off_minutes>\d\d)?|Z)?"
)

_NO_TITLES = ("untitled", "(anonymous)")  # of programs, for none


def parse_metadata(raw: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the title, and the rest under our names, dates in ISO 8601; without unusable values."""
    values = {ours: clean_label(raw.get(theirs, "")) for theirs, ours in _NAMES.items()}
    values |= {ours: parse_date(raw.get(theirs, "")) for theirs, ours in _DATES.items()}
    title = clean_label(raw.get("Title", ""))
    return "" if title.lower() in _NO_TITLES else title, {
        name: value for name, value in values.items() if value
    }


def parse_date(raw: str) -> str:
    """Turn "D:20240131120000+01'00'" (ISO 32000-1, 7.9.4) into "2024-01-31T12:00:00+01:00"; "" if no date."""
    values = _DATE.match(raw.strip())
    if values is None:
        return ""
    part = {name: int(value) for name, value in values.groupdict(default="0").items() if name != "sign"}
    offset = timedelta(hours=part["off_hours"], minutes=part["off_minutes"])
    day, time_of_day = (part["month"] or 1, part["day"] or 1), (part["hour"], part["minute"], part["second"])
    try:
        zone = timezone(-offset if values["sign"] == "-" else offset) if values["sign"] else UTC
        return datetime(part["year"], *day, *time_of_day, tzinfo=zone).isoformat()
    except ValueError:
        return ""


# Thresholds measured on 80 real files: glued text has over 1 % of words above 22 letters,
# or fewer than one space to 12 letters. Scripts written without spaces are not judged by them.
_LONG_WORD = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u04ff]{23,}")
_SPACED_LETTER = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u04ff]")
_MEANINGLESS = re.compile("[\x00-\x08\x0e-\x1f\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")
_ENOUGH = 60  # shorter pages say too little about themselves


def score_badness(text: str) -> float:
    """Score a text: 0.0 for plain prose, 0.5 for German compounds, over 1 for glued words or lost letters."""
    if not text.strip():
        return 9.0
    lost = 0.0 if text.isascii() else 20 * len(_MEANINGLESS.findall(text)) / len(text)
    if len(text) < _ENOUGH:
        return lost
    spaces = text.count(" ") + text.count("\n")
    long_words = 50 * len(_LONG_WORD.findall(text)) / (spaces + 1)
    few_spaces = 0.0
    if spaces * 13 < len(text):
        few_spaces = len(_SPACED_LETTER.findall(text)) / (12 * (spaces + 1))
    return lost + long_words + (few_spaces if few_spaces > 1.0 else 0.0)


def find_text_warnings(text: str) -> tuple[str, ...]:
    """Return words of PAGE_WARNINGS for a text that was kept for want of a better one."""
    if not text.strip():
        return ()
    if not text.isascii() and 20 * len(_MEANINGLESS.findall(text)) / len(text) > 1.0:
        return ("garbled",)
    return () if reads_well(text) else ("glued",)


def reads_well(text: str) -> bool:
    return score_badness(text) <= 1.0


T = TypeVar("T")


class GuardedReader:
    """One library's view of one file, opened on first use, within a CPU budget of its own.

    Nothing is raised but Unreadable: what fails is None, and a reader out of budget is not used again.
    """

    def __init__(self, name: ReaderName, open_reader: OpenReader, data: bytes, *, cpu_s: float) -> None:
        self.name = name
        self.needs_password = False
        self._open_reader, self._data, self._left_s = open_reader, data, cpu_s
        self._reader: PdfReader | None = None
        self._tried = False

    def page_count(self) -> int:
        """Return the number of pages; 0 if the file cannot be opened."""
        reader = self._open_once()
        return reader.page_count if reader else 0

    def page(self, page_index: int) -> RawPage:
        """Read a page; it is empty where the library fails."""
        return self.call(lambda reader: reader.page(page_index)) or RawPage()

    def call(self, method: Callable[[PdfReader], T]) -> T | None:
        reader = self._open_once()
        return self._guard(lambda: method(reader)) if reader else None

    def _open_once(self) -> PdfReader | None:
        if not self._tried:
            self._tried = True
            self._reader = self._guard(lambda: self._open_reader(self._data))
        return self._reader

    def _guard(self, call: Callable[[], T]) -> T | None:
        started = time.process_time()
        try:
            with cpu_limit(self._left_s):
                return call()
        except PasswordNeeded:
            self.needs_password = True
        except Unreadable:
            raise
        except OutOfTime:
            self._reader = None
        except Exception:  # noqa: BLE001 - 14 kinds were seen, from AssertionError to RecursionError
            return None
        finally:
            self._left_s -= time.process_time() - started
        return None


NO_LIMIT = 1e6  # seconds: the process's own limit decides
FALLBACK_CPU_S = 15.0  # of the second reader
MAX_MISSES = 3  # pages in a row on which the fallback read nothing either: the pages are pictures


def read_pdf(data: bytes, *, reader: str, on_pages: OnPages | None = None) -> Extraction:
    """Read a PDF. reader: "pdfium", "pypdf", or "auto" for PDFium with pypdf where PDFium fails.

    A page that is a picture has the warning "image_only" and no text. Raises Unreadable, also where there
    is neither text nor picture.
    """
    main, fallback = _choose_readers(_make_readers(data, reader))
    count, warnings = _count_pages(main, fallback, data)
    if count > MAX_PAGES:
        raise Unreadable(TOO_MANY_PAGES)
    pages, readers = _read_pages(main, fallback, count, on_pages)
    title, metadata = parse_metadata(main.call(lambda opened: opened.metadata()) or {})
    pages = drop_line_numbers(pages)
    arranged = build_structure(pages, main.call(lambda opened: opened.outline()) or [])
    texts = arranged.texts
    if not any(has_text(text) for text in texts) and not any(page.pictures for page in pages):
        raise Unreadable(NO_TEXT)
    return Extraction(
        source="PDF",
        text="\n".join(texts),
        pages=_make_pages(pages, arranged, readers, main.name),
        headings=arranged.headings,
        blocks=arranged.blocks,
        title=title or arranged.title,
        metadata=metadata,
        warnings=warnings,
    )


def draw_page(data: bytes, number: int) -> PagePicture:
    """Draw page `number` (1-based), for text recognition. Raises Unreadable, and what PDFium raises."""
    return PdfiumReader(data).picture(number - 1)


def _make_readers(data: bytes, reader: str) -> list[GuardedReader]:
    if reader == "pypdf":
        return [GuardedReader("pypdf", PypdfReader, data, cpu_s=NO_LIMIT)]
    readers = [GuardedReader("pdfium", PdfiumReader, data, cpu_s=NO_LIMIT)]
    if reader == "auto":
        readers.append(GuardedReader("pypdf", PypdfReader, data, cpu_s=FALLBACK_CPU_S))
    return readers


def _choose_readers(readers: Sequence[GuardedReader]) -> tuple[GuardedReader, GuardedReader | None]:
    """Return the first reader that opens the file, and the next one as its fallback."""
    for index, reader in enumerate(readers):
        if reader.page_count():
            return reader, (readers[index + 1] if index + 1 < len(readers) else None)
    if any(reader.needs_password for reader in readers):
        raise PasswordNeeded
    raise Unreadable(BROKEN_PDF)


_HUGE_COUNT = re.compile(rb"/Count\s*\d{7}")  # PDFium does not tell of one that it does not believe


def _count_pages(
    main: GuardedReader, fallback: GuardedReader | None, data: bytes
) -> tuple[int, tuple[str, ...]]:
    """Return the number of pages that are there, and a warning where the file says that it has more."""
    count = main.page_count()
    claimed = main.call(lambda opened: opened.claimed_pages) or count
    if fallback and claimed > count:  # it may know pages that the main reader cannot load
        count = max(count, min(claimed, fallback.page_count()))
    if fallback and _HUGE_COUNT.search(data):
        claimed = max(claimed, fallback.call(lambda opened: opened.claimed_pages) or 0)
    if claimed <= count:
        return count, ()
    was = "1 was" if count == 1 else f"{count:,} were"
    return count, (f"The PDF says it has {claimed:,} pages; {was} found.",)


def _read_pages(
    main: GuardedReader, fallback: GuardedReader | None, count: int, on_pages: OnPages | None = None
) -> tuple[list[RawPage], list[ReadBy]]:
    pages: list[RawPage] = []
    readers: list[ReadBy] = []
    size = misses = pictures = 0
    for page_index in range(count):
        name: ReadBy = main.name
        page = main.page(page_index)
        if fallback and misses < MAX_MISSES and not reads_well(page.text):
            other = fallback.page(page_index)
            misses = 0 if other.text.strip() else misses + 1
            if score_badness(other.text) < 0.8 * score_badness(page.text):
                name, page = fallback.name, other
        size += len(page.text.encode("utf-8", "replace"))
        if size > MAX_TEXT_BYTES:
            raise Unreadable(TOO_MUCH_TEXT)
        pages.append(page)
        readers.append(name)
        pictures += page.pictures  # these are not done before they are recognised, or given up
        if on_pages:
            on_pages(page_index + 1 - pictures, count)
    return pages, readers


def _make_pages(
    pages: Sequence[RawPage], arranged: PdfStructure, readers: Sequence[ReadBy], main: ReadBy
) -> tuple[ExtractedPage, ...]:
    starts = accumulate((len(text) + 1 for text in arranged.texts), initial=0)
    return tuple(
        ExtractedPage(
            number,
            start,
            start + len(text),
            name if text else "none",
            _page_warnings(page, text, name, main),
            head=trimmed.head,
            foot=trimmed.foot,
        )
        for number, (page, trimmed, text, name, start) in enumerate(
            zip(pages, arranged.trimmed, arranged.texts, readers, starts, strict=False), 1
        )
    )


def _page_warnings(page: RawPage, text: str, name: ReadBy, main: ReadBy) -> tuple[str, ...]:
    if not text:
        return ("image_only" if page.pictures else "no_text",)
    return (*(() if name == main else ("fallback",)), *find_text_warnings(page.text))
