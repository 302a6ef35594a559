"""The steps by which a file becomes a document, for uploads and jobs: reading, splitting, writing."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import IntegrityError, OperationalError, transaction

from documents.library import storage
from documents.models import Chunk, Collection, Document, Page
from documents.protocols import Chunker, OnProgress, TextExtractor
from documents.text.languages import detect_language
from documents.types import ChunkDraft, ChunkingSettings, Extraction, Source
from knowlex.base.errors import Duplicate, NotFound, UnreadableDocument
from knowlex.db.threads import execute, with_retries
from knowlex.runtime.components import component

Also = Callable[[], object]
# The numbering of a book in files: the file whose number ends with a zero opens a chapter, and the others of
# the same number lack a first-level heading. `ch04-00-ownership.md` begins with "# Ownership", and
# `ch04-01-moves.md` with "## Moves". Whichever of them comes last, in whichever process, finds the others.
_LOCK_CHAPTER = (
    "SELECT pg_advisory_xact_lock(hashtextextended(%(collection)s::text || ' ' || %(chapter)s, 0))"
)
_NAME_CHAPTER = """
    WITH own AS (SELECT readers FROM documents_document WHERE id = %(document)s),
    files AS (
        SELECT d.id, substr(d.original_filename, length(d.book_chapter) + 2) ~ '^0+(?![0-9])' AS opens
        FROM documents_document AS d, own
        WHERE d.collection_id = %(collection)s AND d.book_chapter = %(chapter)s
            AND d.readers IS NOT DISTINCT FROM own.readers
            AND (d.replaces_id IS NULL OR d.id = %(document)s)
    ), opening AS (
        SELECT c.chapter FROM files JOIN documents_chunk AS c ON c.document_id = files.id
        WHERE opens AND c.chapter <> '' ORDER BY files.id DESC, c.chunk_index LIMIT 1
    )
    UPDATE documents_chunk AS c SET chapter = opening.chapter
    FROM files, opening
    WHERE c.document_id = files.id AND NOT opens AND c.chapter <> opening.chapter
        AND (c.chapter = '' OR c.headers ->> 0 IS DISTINCT FROM c.chapter)
"""


def read_file(
    path: Path,
    *,
    filename: str,
    sources: AbstractSet[Source],
    on_progress: OnProgress | None = None,
    patient: bool = False,
) -> Extraction:
    """Extract a file's text; raises as TextExtractor does."""
    extractor = component("EXTRACTOR", TextExtractor)
    return extractor.extract(
        path, filename=filename, sources=sources, on_progress=on_progress, patient=patient
    )


def split_text(extraction: Extraction, chunking: ChunkingSettings) -> list[ChunkDraft]:
    """Split a text into at least one chunk. Raises UnreadableDocument (no text), EmbedderError (semantic)."""
    drafts = component(f"CHUNKER_{chunking.strategy.upper()}", Chunker).split(extraction, chunking)
    if not drafts:
        raise UnreadableDocument("The document contains no text.")
    return drafts


def build_document(extraction: Extraction, drafts: list[ChunkDraft], **fields: Any) -> Document:
    """Build the row, not stored yet, from the extraction and from `fields`, which take precedence."""
    title = fields.pop("title", "") or extraction.title
    metadata = {**extraction.metadata, **fields.pop("metadata", {})}
    return Document(
        source=extraction.source,
        title=title[:512],
        language=detect_language(extraction.text),
        page_count=len(extraction.pages),
        chunk_count=len(drafts),
        metadata=metadata,
        warnings=list(extraction.warnings),
        permissions=fields["collection"].settings.get("default_permissions", {}),
        **fields,
    )


def write_document(
    document: Document, extraction: Extraction, drafts: list[ChunkDraft], *, last: Also
) -> None:
    """Write all rows in one short transaction, with what `last` does. The file is in its place already.

    Raises Duplicate, NotFound (the collection, or what it replaces, is gone), whatever `last` raises.
    """

    def attempt() -> None:
        with transaction.atomic():
            document.save(force_insert=True)
            Page.objects.add_pages(document, extraction)
            Chunk.objects.add_drafts(document, drafts)
            _name_chapter(document)
            last()

    with_retries(lambda: _write_once(document, attempt))


def _name_chapter(document: Document) -> None:
    """Give the sections of a book, numbered in its files' names, the chapter that their files belong to."""
    if document.book_chapter:
        place = {
            "document": document.id,
            "collection": document.collection_id,
            "chapter": document.book_chapter,
        }
        execute(_LOCK_CHAPTER, place)
        execute(_NAME_CHAPTER, place)


def write_with_file(document: Document, extraction: Extraction, drafts: list[ChunkDraft]) -> None:
    """Write the document; if that fails for certain, remove its file."""
    commit_sent = False

    def last() -> None:
        nonlocal commit_sent
        commit_sent = True

    try:
        write_document(document, extraction, drafts, last=last)
    except Exception as exc:
        # A connection lost during COMMIT leaves open whether the row is there: then the sweep decides.
        if not commit_sent or isinstance(exc, Duplicate):
            storage.discard_file(str(document.file.name))
        raise


def _write_once(document: Document, attempt: Callable[[], None]) -> None:
    """Run `attempt`; a constraint fails if an equal upload, here or in another process, was first."""
    try:
        attempt()
    except IntegrityError as exc:
        if Document.objects.filter(id=document.id).exists():
            return  # our own earlier COMMIT arrived, only its answer was lost
        _check_parents(document, exc)
        duplicate = find_duplicate(document.collection_id, document.checksum)
        if duplicate is None or document.replaces_id:
            raise OperationalError("the row in the way is gone meanwhile") from exc  # so try again
        raise duplicate_error(duplicate, reads_as_bringer(document.brought_by)) from exc


def reads_as_bringer(brought_by: str) -> list[str] | None:
    """Return what is known of the bringer once the request is over; without one, no keys were required."""
    return [brought_by] if brought_by else None


def _check_parents(document: Document, cause: Exception) -> None:
    if not Collection.objects.filter(id=document.collection_id).exists():
        raise NotFound("Collection not found.", details={"field": "collection"}) from cause
    if document.replaces_id and not Document.objects.filter(id=document.replaces_id).exists():
        raise NotFound(f"Document not found: {document.replaces_id}") from cause


def find_duplicate(collection_id: UUID, checksum: str) -> Document | None:
    """Return the document with these bytes in the collection; a pending new version does not count."""
    return Document.objects.current().with_checksum(collection_id, checksum).only("id", "readers").first()


def duplicate_error(document: Document, reads_as: Sequence[str] | None) -> Duplicate:
    """Make the error; it names the document only to those who may read it. reads_as: as `Access` has it."""
    if reads_as is not None and document.readers is not None and not set(reads_as) & set(document.readers):
        return Duplicate("Document already ingested; you may not read it.")
    return Duplicate(f"Document already ingested: {document.id}", details={"documentId": str(document.id)})
