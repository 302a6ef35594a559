"""A PDF's bytes -> Extraction. Runs in the sandbox only."""

from collections.abc import Sequence
from itertools import accumulate

from documents.extractors.cleaning import clean_page, has_text
from documents.extractors.failures import (
    BROKEN_PDF,
    NO_TEXT,
    TOO_MANY_PAGES,
    TOO_MUCH_TEXT,
    PasswordNeeded,
    Unreadable,
)
from documents.extractors.frames import Report, Silent
from documents.extractors.guarded import GuardedReader
from documents.extractors.layout import paragraphs
from documents.extractors.metadata import pdf_metadata
from documents.extractors.outline import place_headings
from documents.extractors.pages import MAX_PAGES, MAX_TEXT_BYTES
from documents.extractors.pdfium import PdfiumReader
from documents.extractors.pypdf import PypdfReader
from documents.extractors.quality import badness, reads_well
from documents.types import ExtractedPage, Extraction, ReadBy

NO_LIMIT = 1e6  # seconds: the process's own limit decides
COVER_CPU_S = 15.0  # for the reader that only covers for the other
MAX_MISSES = 3  # pages in a row on which the cover found nothing either: the pages are pictures


def read_pdf(data: bytes, *, reader: str, report: Report | None = None) -> Extraction:
    """reader: "pdfium", "pypdf", or "auto" for PDFium with pypdf where PDFium fails.

    Raises Unreadable.
    """
    main, cover = _main_and_cover(_readers(data, reader))
    if main.page_count() > MAX_PAGES:
        raise Unreadable(TOO_MANY_PAGES)
    texts, read_by = _read_pages(main, cover, report or Silent())
    if not any(has_text(text) for text in texts):
        raise Unreadable(NO_TEXT)
    starts = list(accumulate((len(text) + 1 for text in texts[:-1]), initial=0))
    title, metadata = pdf_metadata(main.ask(lambda opened: opened.metadata()) or {})
    entries = main.ask(lambda opened: opened.outline()) or []
    return Extraction(
        source="PDF",
        text="\n".join(texts),
        pages=_pages(texts, starts, read_by, main.name),
        headings=place_headings(entries, texts, starts),
        title=title,
        metadata=metadata,
    )


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
) -> tuple[list[str], list[ReadBy]]:
    texts: list[str] = []
    read_by: list[ReadBy] = []
    size = misses = 0
    for page_index in range(main.page_count()):
        name: ReadBy = main.name
        raw = main.text(page_index)
        if cover and misses < MAX_MISSES and not reads_well(raw):
            other = cover.text(page_index)
            misses = 0 if other.strip() else misses + 1
            if badness(other) < 0.8 * badness(raw):
                name, raw = cover.name, other
        text = paragraphs(clean_page(raw))
        size += len(text.encode())
        if size > MAX_TEXT_BYTES:
            raise Unreadable(TOO_MUCH_TEXT)
        texts.append(text)
        read_by.append(name if text else "none")
        report.progress(page_index + 1, main.page_count())
    return texts, read_by


def _pages(
    texts: Sequence[str], starts: Sequence[int], read_by: Sequence[ReadBy], main: ReadBy
) -> tuple[ExtractedPage, ...]:
    return tuple(
        ExtractedPage(number, start, start + len(text), name, _warnings(name, main))
        for number, (text, start, name) in enumerate(zip(texts, starts, read_by, strict=True), 1)
    )


def _warnings(name: ReadBy, main: ReadBy) -> tuple[str, ...]:
    if name == "none":
        return ("no_text",)
    return () if name == main else ("fallback",)
