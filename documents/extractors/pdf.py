"""A PDF's bytes -> Extraction. Runs in the sandbox only."""

from collections.abc import Sequence
from itertools import accumulate

from documents.extractors.arrangement import Arrangement, arrange
from documents.extractors.cleaning import has_text
from documents.extractors.failures import (
    BROKEN_PDF,
    NO_TEXT,
    TOO_MANY_PAGES,
    TOO_MUCH_TEXT,
    PasswordNeeded,
    Unreadable,
)
from documents.extractors.frames import PagePicture, Report, Silent
from documents.extractors.guarded import GuardedReader
from documents.extractors.looks import RawPage
from documents.extractors.metadata import pdf_metadata
from documents.extractors.pages import MAX_PAGES, MAX_TEXT_BYTES
from documents.extractors.pdfium import PdfiumReader
from documents.extractors.pypdf import PypdfReader
from documents.extractors.quality import badness, doubts, reads_well
from documents.types import ExtractedPage, Extraction, ReadBy

NO_LIMIT = 1e6  # seconds: the process's own limit decides
COVER_CPU_S = 15.0  # for the reader that only covers for the other
MAX_MISSES = 3  # pages in a row on which the cover found nothing either: the pages are pictures


def read_pdf(data: bytes, *, reader: str, report: Report | None = None) -> Extraction:
    """reader: "pdfium", "pypdf", or "auto" for PDFium with pypdf where PDFium fails.

    A page that is a picture has the warning "image_only" and no text. Raises Unreadable, also where there
    is neither text nor picture.
    """
    main, cover = _main_and_cover(_readers(data, reader))
    if main.page_count() > MAX_PAGES:
        raise Unreadable(TOO_MANY_PAGES)
    pages, readers = _read_pages(main, cover, report or Silent())
    title, metadata = pdf_metadata(main.ask(lambda opened: opened.metadata()) or {})
    arranged = arrange(pages, main.ask(lambda opened: opened.outline()) or [])
    texts = arranged.texts
    if not any(has_text(text) for text in texts) and not any(page.pictures for page in pages):
        raise Unreadable(NO_TEXT)
    return Extraction(
        source="PDF",
        text="\n".join(texts),
        pages=_pages(pages, arranged, readers, main.name),
        headings=arranged.headings,
        blocks=arranged.blocks,
        title=title or arranged.title,
        metadata=metadata,
    )


def draw_page(data: bytes, number: int) -> PagePicture:
    """Page `number` (1-based), for text recognition. Raises Unreadable, and what PDFium raises."""
    return PdfiumReader(data).picture(number - 1)


def _readers(data: bytes, reader: str) -> list[GuardedReader]:
    pdfium = GuardedReader("pdfium", PdfiumReader, data, cpu_s=NO_LIMIT)
    if reader == "pdfium":
        return [pdfium]
    if reader == "pypdf":
        return [GuardedReader("pypdf", PypdfReader, data, cpu_s=NO_LIMIT)]
    return [pdfium, GuardedReader("pypdf", PypdfReader, data, cpu_s=COVER_CPU_S)]


def _main_and_cover(readers: Sequence[GuardedReader]) -> tuple[GuardedReader, GuardedReader | None]:
    """The first that opens the file, and the next one."""
    for index, reader in enumerate(readers):
        if reader.page_count():
            return reader, (readers[index + 1] if index + 1 < len(readers) else None)
    if any(reader.needs_password for reader in readers):
        raise PasswordNeeded
    raise Unreadable(BROKEN_PDF)


def _read_pages(
    main: GuardedReader, cover: GuardedReader | None, report: Report
) -> tuple[list[RawPage], list[ReadBy]]:
    pages: list[RawPage] = []
    readers: list[ReadBy] = []
    size = misses = pictures = 0
    for page_index in range(main.page_count()):
        name: ReadBy = main.name
        page = main.page(page_index)
        if cover and misses < MAX_MISSES and not reads_well(page.text):
            other = cover.page(page_index)
            misses = 0 if other.text.strip() else misses + 1
            if badness(other.text) < 0.8 * badness(page.text):
                name, page = cover.name, other
        size += len(page.text.encode("utf-8", "replace"))
        if size > MAX_TEXT_BYTES:
            raise Unreadable(TOO_MUCH_TEXT)
        pages.append(page)
        readers.append(name)
        pictures += page.pictures  # these are not done before they are recognised, or given up
        report.progress(page_index + 1 - pictures, main.page_count())
    return pages, readers


def _pages(
    pages: Sequence[RawPage], arranged: Arrangement, readers: Sequence[ReadBy], main: ReadBy
) -> tuple[ExtractedPage, ...]:
    starts = accumulate((len(text) + 1 for text in arranged.texts), initial=0)
    return tuple(
        ExtractedPage(
            number, start, start + len(text), name if text else "none", _warnings(page, text, name, main)
        )
        for number, (page, text, name, start) in enumerate(
            zip(pages, arranged.texts, readers, starts, strict=False), 1
        )
    )


def _warnings(page: RawPage, text: str, name: ReadBy, main: ReadBy) -> tuple[str, ...]:
    if not text:
        return ("image_only" if page.pictures else "no_text",)
    return (*(() if name == main else ("fallback",)), *doubts(page.text))
