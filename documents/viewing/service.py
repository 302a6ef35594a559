"""Use cases of looking at a document: a page's picture and text, where a quote stands, the original file."""

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from django.db.models.functions import Length
from PIL import Image

from documents.access import Access
from documents.library import page_cache, storage
from documents.library.listing import get_document_text
from documents.models import Document
from documents.models import Page as DocumentPage
from documents.protocols import PageViewer
from documents.types import Box, PageLayout, PagePicture
from documents.viewing.alignment import (
    Method,
    PageAlignment,
    TextLine,
    lay_out_words,
    normalized,
    with_running_lines,
)
from knowlex.base.errors import InvalidInput, NotAPdf, NotFound, Replaced, UnreadableDocument
from knowlex.db.threads import execute, with_retries
from knowlex.runtime.components import component

MAX_QUOTE_CHARS = 20_000
MAX_QUOTE_PAGES = 5
MAX_TEXT_CHARS = 5_000_000
AROUND_CHARS = 20_000  # of the text before and after a quote, where there are no pages
_MANY_COLOURS = 4096  # a page with more of them shows a photograph
_PALETTE = 48
_LAYOUT_HEAD = struct.Struct("!ddI")


@dataclass(frozen=True, slots=True)
class PageImage:
    """data: of a PNG or JPEG, as media_type says. etag: names document, page and width."""

    data: bytes
    media_type: str
    etag: str


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's stored text and, behind it, its running lines; with its lines where they are known.

    start_char: of the page in the document.
    """

    document: Document
    number: int
    start_char: int
    text: str
    width: float | None
    height: float | None
    method: Method
    lines: list[TextLine]


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """A page with the boxes of a quote, one a line, in shares of the page; none where it is not sure."""

    number: int
    width: float | None
    height: float | None
    rects: list[Box]
    method: Method


@dataclass(frozen=True, slots=True)
class QuoteContext:
    """A quote in a document without pages, and the text around it."""

    before: str
    quote: str
    after: str


@dataclass(frozen=True, slots=True)
class Highlights:
    """Where a quote stands. replaced: the document is another version; nothing is marked then."""

    document: Document
    replaced: bool
    quoted_text: str
    pages: list[MarkedPage]
    context: QuoteContext | None


@dataclass(frozen=True, slots=True)
class StoredFile:
    """source: to be read from its beginning, and closed."""

    source: IO[Any]
    filename: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class TextWindow:
    """The part `[start:end]` of a document's text, total_chars long. pages: the numbers of those it is of."""

    document: Document
    text: str
    start: int
    end: int
    total_chars: int
    pages: list[int]


def draw_page(
    document_id: UUID, number: int, *, width: int, checksum: str | None, access: Access
) -> PageImage:
    """Return a page's picture.

    Raises NotFound, NotAPdf, Replaced, UnreadableDocument, DependencyUnavailable.
    """
    document = _require_pdf(find_document(document_id, access=access))
    if checksum and checksum != document.checksum:
        raise Replaced("The document has been replaced since.", details={"field": "checksum"})
    if not 1 <= number <= document.page_count:
        raise NotFound(f"The document has no page {number}.")
    name = f"{number}-{width}"
    data = page_cache.read(document.checksum, name)
    if data is None:
        with _open_locally(document) as path:
            picture = component("PAGE_VIEWER", PageViewer).draw(path, number, width=width)
        data = encode_picture(picture)
        page_cache.write(document.checksum, name, data)
    media_type = "image/png" if data.startswith(b"\x89PNG") else "image/jpeg"
    return PageImage(data, media_type, f'"{document.checksum[:20]}-{name}"')


def read_page(document_id: UUID, number: int, *, access: Access) -> PageText:
    """Return a page's text with the boxes of its lines. Raises NotFound, DependencyUnavailable."""
    document = find_document(document_id, access=access)
    page = with_retries(
        DocumentPage.objects.of_document(document_id).filter(number=number).first, reader=access.reads_as
    )
    if page is None:
        raise NotFound(f"The document has no page {number}.")
    text = with_running_lines(page.text, page.head, page.foot)
    layout = _layout(document, page)
    if layout is None:
        return PageText(document, number, page.start_char, text, None, None, "none", [])
    alignment = PageAlignment(page.text, layout, head=page.head, foot=page.foot)
    lines = [
        TextLine(line.start, line.end, line.text, normalized(line.box, layout)) for line in alignment.lines()
    ]
    method = alignment.method if lines or not text else "none"
    return PageText(document, number, page.start_char, text, layout.width, layout.height, method, lines)


def read_window(
    document_id: UUID, *, start: int = 0, number: int | None = None, max_chars: int, access: Access
) -> TextWindow:
    """Return at most max_chars of a document's text from `start` on, or of one page from its beginning.

    Raises NotFound: the document, the page, or text from there on.
    """
    document = find_document(document_id, access=access)
    end = start + max_chars
    if number is not None:
        pages = DocumentPage.objects.of_document(document_id).filter(number=number)
        places = pages.values_list("start_char", Length("text"))
        place = with_retries(places.first, reader=access.reads_as)
        if place is None:
            raise NotFound(f"The document has no page {number}.")
        start, end = place[0], place[0] + max(1, min(place[1], max_chars))
    asked = {"document": document_id, "start": start, "end": end}
    rows = with_retries(lambda: execute(_WINDOW, asked), reader=access.reads_as)
    if not rows:
        raise NotFound(f"The document has no text at {start}.")
    text = "\n".join(row[1] for row in rows)
    return TextWindow(document, text, start, start + len(text), rows[0][2], [row[0] for row in rows])


# Pages are joined by a line break. Of a page only what is shown leaves the database.
_WINDOW = """
    SELECT number,
        substr(text, greatest(%(start)s - start_char, 0) + 1, %(end)s - greatest(start_char, %(start)s)),
        (SELECT max(start_char + length(text)) FROM documents_page WHERE document_id = %(document)s)
    FROM documents_page
    WHERE document_id = %(document)s AND start_char < %(end)s AND start_char + length(text) >= %(start)s
    ORDER BY number
"""


def find_highlights(
    document_id: UUID, *, start: int | None, end: int | None, checksum: str | None, access: Access
) -> Highlights:
    """Return where `text[start:end]` of the document stands. start, end: None for the whole document's start.

    Raises NotFound, InvalidInput, DependencyUnavailable.
    """
    document = find_document(document_id, access=access)
    if checksum and checksum != document.checksum:
        return Highlights(document, True, "", [], None)
    if start is None or end is None:
        context = None if document.source == Document.Source.PDF else _quote_context(document, 0, 0)
        return Highlights(document, False, "", [], context)
    if end - start > MAX_QUOTE_CHARS:
        raise InvalidInput(f"end must be at most {MAX_QUOTE_CHARS} characters behind start.", field="end")
    if document.source != Document.Source.PDF:
        context = _quote_context(document, start, end)
        return Highlights(document, False, context.quote, [], context)
    pages = with_retries(
        lambda: list(
            DocumentPage.objects.of_document(document_id).touching(start, end)[: MAX_QUOTE_PAGES + 1]
        ),
        reader=access.reads_as,
    )
    if not pages:
        raise InvalidInput("start is behind the end of the document.", field="start")
    if len(pages) > MAX_QUOTE_PAGES:
        raise InvalidInput(f"The quote covers more than {MAX_QUOTE_PAGES} pages.", field="end")
    parts = [page.text[max(0, start - page.start_char) : end - page.start_char] for page in pages]
    return Highlights(
        document, False, "\n".join(parts), [_mark(document, page, start, end) for page in pages], None
    )


def open_file(document_id: UUID, *, access: Access) -> StoredFile:
    """Return the original file. Raises NotFound, FilesUnavailable."""
    document = find_document(document_id, access=access)
    try:
        source = storage.open_file(str(document.file.name))
    except FileNotFoundError as exc:
        raise NotFound("The original file is not stored.") from exc
    return StoredFile(source, document.original_filename, document.size_bytes)


def find_document(document_id: UUID, *, access: Access) -> Document:
    """Return a stored document. Raises NotFound."""
    found = with_retries(
        Document.objects.current().allowed_to(access).filter(id=document_id).first, reader=access.reads_as
    )
    if found is None:
        raise NotFound(f"Document not found: {document_id}")
    return found


def encode_picture(picture: PagePicture) -> bytes:
    """Encode as a PNG of few colours, which text needs; as a JPEG where there is a photograph."""
    image = Image.frombytes("RGB", (picture.width, picture.height), picture.pixels)
    file = io.BytesIO()
    if image.getcolors(_MANY_COLOURS) is None:
        image.save(file, "JPEG", quality=82)
    else:
        image.quantize(_PALETTE, dither=Image.Dither.NONE).save(file, "PNG")
    return file.getvalue()


def _require_pdf(document: Document) -> Document:
    if document.source != Document.Source.PDF:
        raise NotAPdf("Only PDFs have pages that can be drawn.")
    return document


@contextmanager
def _open_locally(document: Document) -> Iterator[Path]:
    """Yield the file's path; of one that is stored elsewhere a copy, kept by the pictures for the next page.

    Raises DependencyUnavailable.
    """
    name = str(document.file.name)
    if storage.file_store().path(name) is None and (kept := page_cache.find_original(document.checksum)):
        yield kept
        return
    try:
        with storage.local_copy(name, size_bytes=document.size_bytes) as path:
            yield path
            if storage.file_store().path(name) is None:
                page_cache.keep_original(document.checksum, path)
    except FileNotFoundError as exc:
        raise NotFound("The original file is not stored.") from exc


def _mark(document: Document, page: DocumentPage, start: int, end: int) -> MarkedPage:
    layout = _layout(document, page)
    if layout is None:
        return MarkedPage(page.number, None, None, [], "none")
    alignment = PageAlignment(page.text, layout, head=page.head, foot=page.foot)
    boxes = alignment.rectangles(max(0, start - page.start_char), end - page.start_char)
    method = alignment.method if boxes else "none"
    return MarkedPage(
        page.number, layout.width, layout.height, [normalized(box, layout) for box in boxes], method
    )


def _layout(document: Document, page: DocumentPage) -> PageLayout | None:
    """Return where the page's letters stand; None where nobody knows: no PDF, or it cannot be shown."""
    if document.source != Document.Source.PDF:
        return None
    try:
        layout = _printed_layout(document, page.number)
    except UnreadableDocument:
        return None
    return lay_out_words(layout, page.words) if page.words else layout


def _printed_layout(document: Document, number: int) -> PageLayout:
    """Return the layout of the letters in the file. Raises UnreadableDocument, DependencyUnavailable."""
    name = f"{number}.layout"
    kept = page_cache.read(document.checksum, name)
    if kept is not None:
        return _unpack_layout(number, kept)
    with _open_locally(document) as path:
        layout = component("PAGE_VIEWER", PageViewer).read_layout(path, number)
    page_cache.write(document.checksum, name, _pack_layout(layout))
    return layout


def _pack_layout(layout: PageLayout) -> bytes:
    letters = layout.letters.encode()
    return _LAYOUT_HEAD.pack(layout.width, layout.height, len(letters)) + letters + layout.boxes


def _unpack_layout(number: int, packed: bytes) -> PageLayout:
    width, height, size = _LAYOUT_HEAD.unpack_from(packed)
    letters = packed[_LAYOUT_HEAD.size : _LAYOUT_HEAD.size + size].decode()
    return PageLayout(number, width, height, letters, packed[_LAYOUT_HEAD.size + size :])


def _quote_context(document: Document, start: int, end: int) -> QuoteContext:
    """Return the text of a document without pages, from some way before the quote to some way behind it."""
    text = get_document_text(document.id, max_chars=MAX_TEXT_CHARS) or ""
    return QuoteContext(
        text[max(0, start - AROUND_CHARS) : start], text[start:end], text[end : end + 2 * AROUND_CHARS]
    )
