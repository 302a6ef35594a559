"""What can be done with documents. No HTTP in here; each verb opens its own short transaction."""

from collections.abc import Callable
from pathlib import PurePath
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction

from documents import storage
from documents.access import Access
from documents.flights import SingleFlight
from documents.models import DEFAULT_COLLECTION, Chunk, Collection, Document, Page
from documents.protocols import Chunker, TextExtractor
from documents.storage import StagedUpload
from documents.sweep import sweep_orphan_files
from documents.types import ChunkDraft, Extraction
from knowlex.common.components import component
from knowlex.common.database import release_connection, with_retries
from knowlex.common.errors import Duplicate, InvalidInput, NotFound, UnreadableDocument
from knowlex.common.fields import check_storable

__all__ = [
    "default_collection_id",
    "delete_document",
    "document_chunks",
    "get_document",
    "ingest_document",
    "list_documents",
    "resolve_collection",
    "sweep_orphan_files",
]
_flights: SingleFlight[Document] = SingleFlight()


def default_collection_id() -> UUID:
    """The collection `default` always exists: one that was deleted is made again."""
    return with_retries(lambda: Collection.objects.get_or_create(name=DEFAULT_COLLECTION)[0].id)


def resolve_collection(name_or_id: str | None, *, access: Access) -> Collection:
    """The collection with this name or id; None means `default`.

    Raises NotFound, Forbidden (not the caller's to use), InvalidInput (empty).
    """
    collection = _named_collection(name_or_id)
    access.require_collection(collection.id)
    return collection


def _named_collection(name_or_id: str | None) -> Collection:
    if name_or_id is None or name_or_id == DEFAULT_COLLECTION:
        return with_retries(lambda: Collection.objects.get_or_create(name=DEFAULT_COLLECTION)[0])
    if not name_or_id:
        raise InvalidInput("collection must not be empty.", field="collection")
    check_storable(name_or_id, "collection")
    found = with_retries(Collection.objects.named(name_or_id).first)
    if found is None:
        raise NotFound("Collection not found.", details={"field": "collection"})
    return found


def ingest_document(
    *, access: Access, upload: StagedUpload, filename: str, collection: Collection
) -> Document:
    """Store a file as a document with its pages and chunks; the staged file is moved to its place.

    Row, pages, chunks and file are there together when this returns, and none of them if it raises
    InvalidInput (empty), Duplicate (same SHA-256 in the collection), UnreadableDocument, Forbidden,
    StorageUnavailable or DatabaseUnavailable. Of equal uploads at once only one reads the file;
    neither it nor those who wait for it hold a database connection meanwhile.
    """
    access.require("write")
    access.require_collection(collection.id)
    if upload.size_bytes == 0:
        raise InvalidInput("File is empty.", field="file")
    release_connection()
    key = (collection.id, upload.checksum, PurePath(filename).suffix.lower())
    return _flights.run(key, lambda: _ingest(upload, filename, collection))


def _ingest(upload: StagedUpload, filename: str, collection: Collection) -> Document:
    known = with_retries(lambda: _known_id(collection, upload.checksum))
    release_connection()
    if known is not None:
        raise _duplicate(known)
    extraction = component("EXTRACTOR", TextExtractor).extract(upload.path, filename=filename)
    drafts = component("CHUNKER_SENTENCE", Chunker).split(extraction, settings.CHUNKING)
    if not drafts:
        raise UnreadableDocument("The document contains no text.")
    document = Document(
        collection=collection,
        source=extraction.source,
        original_filename=filename,
        title=extraction.title[:512],
        checksum=upload.checksum,
        size_bytes=upload.size_bytes,
        page_count=len(extraction.pages),
        chunk_count=len(drafts),
        metadata=extraction.metadata,
        warnings=list(extraction.warnings),
    )
    storage.keep(document, upload)
    _write(document, extraction, drafts)
    return document


def _write(document: Document, extraction: Extraction, drafts: list[ChunkDraft]) -> None:
    """One short transaction for all rows; if it fails for certain, the file goes too."""
    commit_sent = False

    def write() -> None:
        nonlocal commit_sent
        with transaction.atomic():
            document.save(force_insert=True)
            Page.objects.add_pages(document, extraction)
            Chunk.objects.add_drafts(document, drafts)
            commit_sent = True

    try:
        with_retries(lambda: _unless_known(document, write))
    except Exception as exc:
        # A connection lost during COMMIT leaves open whether the row is there: then the sweep decides.
        if not commit_sent or isinstance(exc, Duplicate):
            storage.remove(str(document.file.name))
        raise


def _unless_known(document: Document, write: Callable[[], None]) -> None:
    """Run `write`; the unique constraint tells if an equal upload, here or in another process, was first."""
    try:
        write()
    except IntegrityError as exc:
        if not Collection.objects.filter(id=document.collection_id).exists():
            raise NotFound("Collection not found.", details={"field": "collection"}) from exc
        known = _known_id(document.collection, document.checksum)
        if known is None:
            raise OperationalError("the equal document was deleted meanwhile") from exc  # so try again
        if known != document.id:  # else our own earlier COMMIT arrived, only its answer was lost
            raise _duplicate(known) from exc


def _known_id(collection: Collection, checksum: str) -> UUID | None:
    return Document.objects.with_checksum(collection.id, checksum).values_list("id", flat=True).first()


def _duplicate(known: UUID) -> Duplicate:
    return Duplicate(f"Document already ingested: {known}", details={"documentId": str(known)})


def list_documents(
    collection: Collection, *, access: Access, limit: int | None = None, offset: int = 0
) -> list[Document]:
    """The collection's documents, newest first, in one query."""
    rows = Document.objects.current().allowed_to(access).in_collection(collection.id).newest_first()
    rows = rows.select_related("collection")
    stop = None if limit is None else offset + limit
    return with_retries(lambda: list(rows.defer("metadata")[offset:stop]))


def get_document(document_id: UUID, *, access: Access) -> Document:
    """Looked up over all collections that the caller may use. Raises NotFound."""
    row = Document.objects.current().allowed_to(access).select_related("collection").filter(id=document_id)
    found = with_retries(row.first)
    if found is None:
        raise _unknown(document_id)
    return found


def document_chunks(document_id: UUID, *, access: Access) -> list[Chunk]:
    """All chunks in reading order; a stored document has at least one. Raises NotFound."""
    chunks = with_retries(lambda: list(Chunk.objects.allowed_to(access).of_document(document_id)))
    if not chunks:
        raise _unknown(document_id)
    return chunks


def delete_document(document_id: UUID, *, access: Access) -> None:
    """Delete the row and all below it in one transaction, then the file. Raises NotFound, Forbidden.

    Of several at once one succeeds. A file that cannot be removed now is left to the sweep.
    """
    access.require("write")

    def delete() -> None:
        with transaction.atomic():
            name = Document.objects.allowed_to(access).delete_returning_file(document_id)
            if name is None:
                raise _unknown(document_id)
            transaction.on_commit(lambda: storage.remove(name))

    with_retries(delete)


def _unknown(document_id: UUID) -> NotFound:
    return NotFound(f"Document not found: {document_id}")
