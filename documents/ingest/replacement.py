"""New bytes for a document: a new version in the making, or a second beginning of what is not stored."""

from uuid import UUID

from django.db import transaction

from documents.access.scopes import Access
from documents.ingest import writer
from documents.ingest.acceptance import NewDocument, insert, keep_files, new_item, new_job, refusal
from documents.library import storage
from documents.library.collection_settings import own_chunking
from documents.models import Document, IngestItem, IngestJob
from documents.types import ChunkingSettings
from knowlex.base.errors import NotFound
from knowlex.db.threads import execute, with_retries

_LOCK = "SELECT id FROM documents_document WHERE id = %s AND replaces_id IS NULL FOR NO KEY UPDATE"
# Failed ones too: a retry would let them take over from what is newer. Why they failed stays on record.
_SUPERSEDE = """
    WITH gone AS (
        SELECT id, file FROM documents_ingestitem
        WHERE replaces_id = %s AND status <> 'completed' AND error_code <> 'SUPERSEDED' ORDER BY id FOR UPDATE
    )
    UPDATE documents_ingestitem i
    SET status = 'failed', stage = 'ended', ended_at = coalesce(i.ended_at, clock_timestamp()), lease = NULL,
        leased_until = NULL, file = '', error_code = 'SUPERSEDED',
        error = concat_ws(' ', 'A newer version of the document took its place.', nullif(i.error, ''))
    FROM gone WHERE i.id = gone.id RETURNING gone.file
"""


def replace_document(
    document_id: UUID,
    *,
    access: Access,
    new: NewDocument,
    chunking: ChunkingSettings | None = None,
    origin: str = "api",
) -> IngestJob | None:
    """Take on a new version of a document, which answers as it was until the new one is embedded.

    What is not sent with it, title and metadata, stays the document's (embeddings.work.document_status).
    None: these are the bytes that it has already, or is to have; nothing is done. A version under way is
    superseded by a newer one. What is not stored (yet) is read anew from these bytes, in its own job.
    Raises NotFound, Forbidden, Duplicate (another document's bytes), StorageUnavailable, `new.error`.
    """
    access.require("write")
    if refused := refusal(new):
        raise refused
    rows = Document.objects.current().allowed_to(access).select_related("collection")
    document = with_retries(rows.filter(id=document_id).first)
    if document is None:
        return _read_anew(document_id, access, new)
    checksum = new.upload.checksum if new.upload else ""
    if _is_known(document, checksum):
        return None
    job = new_job(document.collection, access, chunking or own_chunking(document.collection.settings), origin)
    item = new_item(job, 0, new)
    item.replaces = document
    keep_files([item], [new], write=lambda: with_retries(lambda: _take_on(document, job, item)))
    return job


def _is_known(document: Document, checksum: str) -> bool:
    """Whether the bytes are those of the version that counts. Raises Duplicate for another document's."""
    under_way = with_retries(IngestItem.objects.open().filter(replaces=document.id).first)
    if checksum == (under_way or document).checksum:
        return True
    if checksum == document.checksum:
        with_retries(lambda: _supersede(document.id))  # back to what is there: the newer one is not wanted
        return True
    known = with_retries(lambda: writer.known_id(document.collection_id, checksum))
    if known is not None:
        raise writer.duplicate(known)
    return False


@transaction.atomic
def _take_on(document: Document, job: IngestJob, item: IngestItem) -> None:
    if not execute(_LOCK, [document.id]):
        raise NotFound(f"Document not found: {document.id}")
    _supersede(document.id)
    insert(job, [item])


@transaction.atomic
def _supersede(document_id: UUID) -> None:
    execute(_LOCK, [document_id])
    versions = Document.objects.filter(replaces=document_id)
    files = [str(name) for name in versions.values_list("file", flat=True)]
    versions.delete()
    files += [row[0] for row in execute(_SUPERSEDE, [document_id]) if row[0]]
    transaction.on_commit(lambda: storage.remove_all(files))


def _read_anew(document_id: UUID, access: Access, new: NewDocument) -> IngestJob:
    """For a document that waits, is being read, or has failed: the item begins again with these bytes."""
    rows = IngestItem.objects.unstored().allowed_to(access).select_related("job")
    item = with_retries(rows.filter(id=document_id).first)
    if item is None:
        raise NotFound(f"Document not found: {document_id}")
    fresh = new_item(item.job, item.position, new)
    fresh.id = item.id
    keep_files([fresh], [new], write=lambda: with_retries(lambda: _begin_again(fresh)))
    return item.job


@transaction.atomic
def _begin_again(fresh: IngestItem) -> None:
    item = IngestItem.objects.unstored().select_for_update().filter(id=fresh.id).first()
    if item is None or Document.objects.filter(id=fresh.id).exists():
        raise NotFound(f"Document not found: {fresh.id}")  # deleted or stored in this very moment
    former = item.file
    fresh.title, fresh.metadata = fresh.title or item.title, fresh.metadata or item.metadata
    fresh.created_at = item.created_at
    fresh.save(force_update=True)
    if former and former != fresh.file:
        transaction.on_commit(lambda: storage.remove(former))
