"""Lists of documents, stored or being ingested, and of a document's pages and chunks. No HTTP in here."""

from dataclasses import dataclass
from uuid import UUID

from documents.access import Access
from documents.models import (
    Chunk,
    Document,
    DocumentEntry,
    Entry,
    IngestItem,
    StoredEntry,
    UnstoredEntry,
)
from documents.models import Page as DocumentPage
from documents.models.entries import DocumentEntryQuerySet
from knowlex.base.errors import NotFound
from knowlex.db.threads import execute, with_retries
from knowlex.web.pagination import After, Page, paged


@dataclass(frozen=True, slots=True)
class PageReport:
    """The report of how a page was read. number: 1-based. characters: of its text.

    read_by, warnings: as documents.types.ExtractedPage has them.
    """

    number: int
    characters: int
    read_by: str
    warnings: tuple[str, ...]


def page_report(document_id: UUID, *, access: Access, in_any_state: bool = False) -> list[PageReport]:
    """Return all pages in order, in one statement; a stored document has at least one. Raises NotFound.

    in_any_state: a document that waits, is being read or could not be read has none, and is not unknown.
    """
    pages = DocumentPage.objects.of_document(document_id).allowed_to(access).lengths()
    report = with_retries(
        lambda: [PageReport(n, size, by, tuple(w)) for n, size, by, w in pages.all()], reader=access.reads_as
    )
    if report:
        return report
    entries = DocumentEntry.objects.allowed_to(access).filter(id=document_id)
    if not in_any_state or not with_retries(entries.exists, reader=access.reads_as):
        raise NotFound(f"Document not found: {document_id}")
    return []


SORTS = ("created_at", "updated_at", "title", "size")
STATUSES = tuple(Document.Status.values)
TYPES = tuple(Document.Source.values)


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """The filter of a list. status, type: "" for any. q: text that title or file name must contain."""

    collection_id: UUID | None = None
    job_id: UUID | None = None
    status: str = ""
    type: str = ""
    q: str = ""


def list_documents(
    *, access: Access, page: Page, filters: DocumentFilter
) -> tuple[list[Entry], After | None]:
    """Return one page of the documents that the caller may see, in one statement; duplicates only of a job.

    Each has `source_type` (file, url, text; None where no job brought it), `size` and `replacing`: a new
    version is in the making.
    """
    stored, unstored = (
        _apply_filter(rows.allowed_to(access).with_origin(), filters)
        for rows in (StoredEntry.objects.all(), UnstoredEntry.objects.all())
    )
    return with_retries(lambda: paged(stored, page, unstored), reader=access.reads_as)


def _apply_filter(rows: DocumentEntryQuerySet, filters: DocumentFilter) -> DocumentEntryQuerySet:
    for name, value in (
        ("collection_id", filters.collection_id),
        ("job_id", filters.job_id),
        ("status", filters.status),
        ("source", filters.type),
    ):
        if value:
            rows = rows.filter(**{name: value})
    if filters.job_id is None:
        rows = rows.without_duplicates()
    return rows.containing(filters.q) if filters.q else rows


def get_document(document_id: UUID, *, access: Access) -> Entry:
    """Return a document in whatever state, as in a list. Raises NotFound."""
    rows = DocumentEntry.objects.allowed_to(access).with_origin()
    entry: Entry | None = with_retries(rows.filter(id=document_id).first, reader=access.reads_as)
    if entry is None:
        raise NotFound(f"Document not found: {document_id}")
    return entry


def get_document_text(document_id: UUID, *, max_chars: int) -> str | None:
    """Return the document's whole text; None if it is longer, or not stored yet."""
    rows = with_retries(lambda: execute(_TEXT, {"document": document_id, "limit": max_chars}))
    text: str | None = rows[0][0]
    return text


def list_chunks(document_id: UUID, *, access: Access, page: Page) -> tuple[Entry, list[Chunk], After | None]:
    """Return the document and one page of its chunks, in reading order; none before it is stored.

    Raises NotFound.
    """
    entry = get_document(document_id, access=access)
    return entry, *with_retries(
        lambda: paged(Chunk.objects.filter(document_id=document_id), page), reader=access.reads_as
    )


def job_documents(job_id: UUID) -> list[IngestItem]:
    """Return the documents of a new job, in the order of the request."""
    return with_retries(lambda: list(IngestItem.objects.filter(job=job_id).order_by("position")))


_TEXT = """
    SELECT CASE WHEN sum(length(text) + 1) - 1 <= %(limit)s THEN string_agg(text, E'\\n' ORDER BY number) END
    FROM documents_page WHERE document_id = %(document)s
"""
