"""The services of documents for the Knowlex API. No HTTP in here; each opens its own short transaction."""

from pathlib import PurePath
from uuid import UUID

from django.db import transaction

from documents.access import Access
from documents.ingest import writer
from documents.ingest.single_flight import SingleFlight
from documents.library import deletion, storage
from documents.library.collection_settings import read_chunking
from documents.library.storage import StagedUpload
from documents.models import Chunk, Collection, Document
from documents.types import UPLOAD_SOURCES
from knowlex.base.errors import InvalidInput, NotFound
from knowlex.db.threads import release_connection, with_retries

_uploads: SingleFlight[Document] = SingleFlight()


def ingest_document(
    *, access: Access, upload: StagedUpload, filename: str, collection: Collection
) -> Document:
    """Store a file as a document with its pages and chunks; the staged file is moved to its place.

    Row, pages, chunks and file are there together when this returns, and none of them if it raises
    InvalidInput (empty), Duplicate (same SHA-256 in the collection), UnreadableDocument, Forbidden,
    StorageUnavailable or DatabaseUnavailable. Of equal uploads at once only one reads the file;
    neither it nor those who wait for it hold a database connection meanwhile.
    """
    access.require("write", collection.id)
    if upload.size_bytes == 0:
        raise InvalidInput("File is empty.", field="file")
    release_connection()
    key = (collection.id, upload.checksum, PurePath(filename).suffix.lower())
    return _uploads.run(key, lambda: _ingest(upload, filename, collection, access))


def _ingest(upload: StagedUpload, filename: str, collection: Collection, access: Access) -> Document:
    known = with_retries(lambda: writer.find_duplicate(collection.id, upload.checksum))
    release_connection()
    if known is not None:
        raise writer.duplicate_error(known, access.reads_as)
    extraction = writer.read_file(upload.path, filename=filename, sources=UPLOAD_SOURCES)
    drafts = writer.split_text(extraction, read_chunking(collection.settings))
    document = writer.build_document(
        extraction,
        drafts,
        collection=collection,
        brought_by=access.brings_as,
        original_filename=filename,
        checksum=upload.checksum,
        size_bytes=upload.size_bytes,
    )
    storage.keep_upload(document, upload)
    writer.write_with_file(document, extraction, drafts)
    return document


def list_documents(
    collection: Collection, *, access: Access, limit: int | None = None, offset: int = 0
) -> list[Document]:
    """Return the collection's documents, newest first, in one query."""
    rows = Document.objects.current().allowed_to(access).in_collection(collection.id).newest_first()
    rows = rows.select_related("collection")
    stop = None if limit is None else offset + limit
    return with_retries(lambda: list(rows.defer("metadata")[offset:stop]), reader=access.reads_as)


def get_document(document_id: UUID, *, access: Access) -> Document:
    """Return a document of any collection that the caller may use. Raises NotFound."""
    row = Document.objects.current().allowed_to(access).select_related("collection").filter(id=document_id)
    found = with_retries(row.first, reader=access.reads_as)
    if found is None:
        raise _unknown(document_id)
    return found


def list_chunks(document_id: UUID, *, access: Access) -> list[Chunk]:
    """Return all chunks in reading order; a stored document has at least one. Raises NotFound."""
    rows = Chunk.objects.allowed_to(access).current().of_document(document_id)
    chunks = with_retries(lambda: list(rows), reader=access.reads_as)
    if not chunks:
        raise _unknown(document_id)
    return chunks


def delete_document(document_id: UUID, *, access: Access) -> None:
    """Delete it in any state with all below it in one transaction, then its files.

    Raises NotFound, Forbidden. Of several at once one succeeds. A file that cannot be removed now
    is left to the sweep.
    """
    access.require("write")

    def delete() -> None:
        with transaction.atomic():
            if not deletion.delete_locked(deletion.lock_documents([document_id], access=access)).documents:
                raise _unknown(document_id)

    with_retries(delete)


def _unknown(document_id: UUID) -> NotFound:
    return NotFound(f"Document not found: {document_id}")
