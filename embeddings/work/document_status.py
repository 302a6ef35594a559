"""The status of documents, decided by their vectors: completed, failed, or to be requested again.

With an external vector store a document is under way until the store has its vectors, too. This runs after
each stored batch, and in every sweep for whatever a dead worker left. It locks documents by id, then items,
and only then looks at the requests, so two that settle at once cannot both look too early.

A new version that is whole takes over in one transaction: a search sees the old or the new, never none. The
document keeps its id and the day it came; pages, chunks and vectors of the new version are moved to it. What
was not sent with the new version stays: metadata, and a title that was given and not found in the text.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction

from documents.access import FULL
from documents.ingest import writer
from documents.library import storage
from documents.models import Document, IngestItem
from embeddings import queue
from embeddings.active_model import active_model
from embeddings.models import EmbeddingModel
from embeddings.work.requests import request_all
from knowlex.base.errors import Duplicate
from knowlex.db.threads import execute, with_retries

log = logging.getLogger(__name__)

_LOCK_VERSIONS = """
    SELECT id FROM documents_document
    WHERE id IN (%(old)s, %(new)s) ORDER BY id FOR UPDATE
"""
# Words and vectors go ahead of their chunks, whose deletion would take them one by one.
_TAKE_OVER = (
    """DELETE FROM embeddings_lexicalentry
       WHERE chunk_id IN (SELECT id FROM documents_chunk WHERE document_id = %(old)s)""",
    """DELETE FROM embeddings_embedding
       WHERE chunk_id IN (SELECT id FROM documents_chunk WHERE document_id = %(old)s)""",
    "DELETE FROM documents_chunk WHERE document_id = %(old)s",
    "DELETE FROM documents_page WHERE document_id = %(old)s",
    "UPDATE documents_page SET document_id = %(old)s WHERE document_id = %(new)s",
    "UPDATE documents_chunk SET document_id = %(old)s WHERE document_id = %(new)s",
    """UPDATE embeddings_embedding SET collection_id = %(collection)s
       WHERE chunk_id IN (SELECT id FROM documents_chunk WHERE document_id = %(old)s)""",
    """UPDATE embeddings_lexicalentry SET collection_id = %(collection)s
       WHERE chunk_id IN (SELECT id FROM documents_chunk WHERE document_id = %(old)s)""",
    """UPDATE documents_document d
       SET source = n.source, source_url = n.source_url, original_filename = n.original_filename,
           language = n.language,
           title = CASE WHEN i.metadata = '{}' AND d.metadata ? 'title' THEN d.title ELSE n.title END,
           checksum = n.checksum, size_bytes = n.size_bytes, file = n.file,
           page_count = n.page_count, chunk_count = n.chunk_count, warnings = n.warnings,
           metadata = CASE WHEN i.metadata = '{}' THEN d.metadata || n.metadata ELSE n.metadata END,
           status = 'completed', updated_at = clock_timestamp()
       FROM documents_document n LEFT JOIN documents_ingestitem i ON i.id = n.id
       WHERE d.id = %(old)s AND n.id = %(new)s""",
    "DELETE FROM documents_document WHERE id = %(new)s",
)


def take_over(version_id: UUID) -> None:
    """Let the version take over, unless it is gone, or its bytes are another document's by now.

    Raises DatabaseUnavailable; the next sweep tries again.
    """
    try:
        with_retries(lambda: _take_over(version_id))
    except IntegrityError:
        with_retries(lambda: _refuse_version(version_id))


@transaction.atomic
def _take_over(version_id: UUID) -> None:
    version = Document.objects.filter(id=version_id, replaces__isnull=False).first()
    if version is None or not _lock_versions(version):
        return
    ((old_file,),) = execute("SELECT file FROM documents_document WHERE id = %s", [version.replaces_id])
    ids = {"old": version.replaces_id, "new": version_id, "collection": version.collection_id}
    for statement in _TAKE_OVER:
        execute(statement, ids)
    # The old one's, too: it may have been on its way still, and nothing else would end it.
    execute(_COMPLETE_ITEMS, {"documents": [version.replaces_id, version_id]})
    transaction.on_commit(lambda: storage.remove_file(str(old_file)))
    log.info("document replaced", extra={"document": str(version.replaces_id)})


def _lock_versions(version: Document) -> bool:
    """Return whether both are still there and nobody else can change them now."""
    rows = execute(_LOCK_VERSIONS, {"old": version.replaces_id, "new": version.id})
    return len(rows) == 2


@transaction.atomic
def _refuse_version(version_id: UUID) -> None:
    """Keep the old version, and say why on the item."""
    version = Document.objects.filter(id=version_id, replaces__isnull=False).first()
    if version is None or not _lock_versions(version):
        return
    duplicate = writer.find_duplicate(version.collection_id, version.checksum)
    reads_as = writer.reads_as_bringer(version.brought_by)
    error = (
        Duplicate("Document already ingested.")
        if duplicate is None
        else writer.duplicate_error(duplicate, reads_as)
    )
    file = str(version.file.name)
    version.delete()
    IngestItem.objects.filter(id=version_id, deleted_at__isnull=True).update(
        status="failed", stage="ended", error_code=error.code, error=error.message,
        duplicate_of=error.details.get("documentId"), ended_at=version.updated_at,
    )  # fmt: skip
    transaction.on_commit(lambda: storage.remove_file(file))


AT_ONCE = 500

# From the last chunk on, since vectors come in the order of the chunks: a book's first look mostly tells. The
# fences (OFFSET 0) keep this a walk along indexes: statistics of a queue are always out of date.
_OPEN = """
    SELECT 1 FROM (
        SELECT id FROM documents_chunk WHERE document_id = d.id ORDER BY chunk_index DESC OFFSET 0
    ) c, LATERAL (
        SELECT FROM embeddings_embeddingrequest q
        WHERE q.chunk_id = c.id AND q.model_id = %(model)s AND q.failed_at IS NULL OFFSET 0
    ) q LIMIT 1
"""
_UNSHIPPED = """
    SELECT 1 FROM (
        SELECT id FROM documents_chunk WHERE document_id = d.id ORDER BY chunk_index DESC OFFSET 0
    ) c, LATERAL (
        SELECT FROM embeddings_outboxentry o
        WHERE o.model_id = %(model)s AND o.chunk_id = c.id OFFSET 0
    ) o WHERE EXISTS (SELECT FROM embeddings_outsidestore) LIMIT 1
"""
_SETTLED = f"""
    SELECT d.id FROM documents_document d
    WHERE d.status = 'processing' AND {{which}} AND ({_OPEN}) IS NULL AND ({_UNSHIPPED}) IS NULL
    ORDER BY d.id LIMIT {AT_ONCE} FOR NO KEY UPDATE OF d
"""
_SETTLED_OF_CHUNKS = _SETTLED.format(
    which="d.id = ANY(ARRAY(SELECT c.document_id FROM documents_chunk c WHERE c.id = ANY(%(chunks)s)))"
)
_SETTLED_DOCUMENT = _SETTLED.format(which="d.id = %(document)s")
# Of all documents: those that are being deleted or switched now are left to the next sweep.
_SETTLED_OF_ALL = _SETTLED.format(which="true") + " SKIP LOCKED"
_STATES = """
    SELECT d.id, d.replaces_id IS NOT NULL, count(*), count(*) FILTER (WHERE e.chunk_id IS NULL),
        count(*) FILTER (WHERE q.failed_at IS NOT NULL),
        count(*) FILTER (WHERE q.id IS NOT NULL AND q.failed_at IS NULL), min(q.error)
    FROM documents_document d JOIN documents_chunk c ON c.document_id = d.id
    LEFT JOIN embeddings_embedding e ON e.chunk_id = c.id AND e.model_id = %(model)s
    LEFT JOIN embeddings_embeddingrequest q ON q.chunk_id = c.id AND q.model_id = %(model)s
    WHERE d.id = ANY(%(documents)s) GROUP BY d.id
"""
_COMPLETE = "UPDATE documents_document SET status = 'completed' WHERE id = ANY(%(documents)s)"
_COMPLETE_ITEMS = """
    UPDATE documents_ingestitem SET status = 'completed', stage = 'ended', ended_at = clock_timestamp(),
        error = '', error_code = ''
    WHERE id = ANY(%(documents)s) AND deleted_at IS NULL
      AND (stage = 'embedding' OR error_code = 'EMBEDDING_FAILED')
"""
_FAIL = "UPDATE documents_document SET status = 'failed' WHERE id = %(document)s"
_FAIL_ITEM = """
    UPDATE documents_ingestitem SET status = 'failed', stage = 'ended', ended_at = clock_timestamp(),
        error_code = 'EMBEDDING_FAILED', error = %(error)s
    WHERE id = %(document)s AND stage = 'embedding'
"""
# Before `_take_over` ended the items of old versions, those on their way were left so.
_COMPLETE_LEFT = """
    UPDATE documents_ingestitem i SET status = 'completed', stage = 'ended', ended_at = clock_timestamp()
    WHERE i.status IN ('pending', 'processing') AND i.stage = 'embedding'
      AND EXISTS (SELECT FROM documents_document d WHERE d.id = i.id AND d.status = 'completed')
"""
# Stored by a job, or to be tried again, and nobody has requested the vectors yet.
_UNREQUESTED = f"""
    SELECT d.id FROM documents_document d JOIN documents_ingestitem i ON i.id = d.id
    WHERE d.status = 'pending' AND i.status IN ('pending', 'processing') AND i.stage = 'embedding'
    ORDER BY i.created_at, i.id LIMIT {AT_ONCE}
"""
_LOST = """
    UPDATE documents_ingestitem i SET status = 'failed', stage = 'ended', ended_at = clock_timestamp(),
        error_code = 'NOT_FOUND', error = 'The stored document is gone.'
    WHERE i.status IN ('pending', 'processing') AND i.stage = 'embedding'
      AND NOT EXISTS (SELECT FROM documents_document d WHERE d.id = i.id)
"""


@dataclass(frozen=True, slots=True)
class _DocumentState:
    document_id: UUID
    is_replacement: bool
    chunks: int
    missing: int
    failed: int
    waiting: int
    reason: str | None

    @property
    def error(self) -> str:
        reason = (self.reason or "unknown reason").rstrip(".")
        return f"{self.missing} of {self.chunks} chunks could not be embedded: {reason}."


def settle_documents(chunk_ids: Sequence[UUID]) -> None:
    """Record what has ended of these chunks' documents; replacements that are whole take over.

    Raises DatabaseUnavailable.
    """
    _settle(_SETTLED_OF_CHUNKS, {"chunks": list(chunk_ids)})


def _settle(settled: str, scope: Mapping[str, object]) -> list[UUID]:
    """Return documents of which vectors are missing that nobody is asked for."""
    whole, unrequested = with_retries(lambda: _settle_documents(settled, scope))
    for version in whole:
        take_over(version)
    return unrequested


@transaction.atomic
def _settle_documents(settled: str, scope: Mapping[str, object]) -> tuple[list[UUID], list[UUID]]:
    """Judge by the active model alone, which stays the active one until this is written."""
    queue.lock_shared(queue.MODEL_LOCK)
    model = EmbeddingModel.objects.active().values_list("id", flat=True).first()
    documents = [row[0] for row in execute(settled, {**scope, "model": model})] if model else []
    if not documents:
        return [], []
    states = [_DocumentState(*row) for row in execute(_STATES, {"model": model, "documents": documents})]
    done = [s.document_id for s in states if not s.missing and not s.is_replacement]
    if done:
        execute(_COMPLETE, {"documents": done})
        execute(_COMPLETE_ITEMS, {"documents": done})
    for state in states:
        if state.missing and state.failed and not state.waiting:
            execute(_FAIL, {"document": state.document_id})
            execute(_FAIL_ITEM, {"document": state.document_id, "error": state.error})
    return (
        [s.document_id for s in states if not s.missing and s.is_replacement],
        [s.document_id for s in states if s.missing and not s.failed and not s.waiting],
    )


def sweep_documents() -> list[UUID]:
    """Settle all, and ask for what nobody asked for; returns the new batches. Raises DatabaseUnavailable."""
    with_retries(lambda: execute(_LOST))
    with_retries(lambda: execute(_COMPLETE_LEFT))
    unrequested = settle_all()
    unrequested += [row[0] for row in with_retries(lambda: execute(_UNREQUESTED))]
    return [batch for document_id in unrequested for batch in request_document(document_id)]


def settle_all() -> list[UUID]:
    """Return documents of which vectors are missing that nobody is asked for."""
    return _settle(_SETTLED_OF_ALL, {})


def request_document(document_id: UUID) -> tuple[UUID, ...]:
    """Ask for the vectors of a document, or of a new version in the making, by every wanted model.

    Returns the batches.
    """
    requested = request_all(active_model().pk, document_id, FULL)
    if not requested.requested:
        settle_document(document_id)
    return requested.batches


def settle_document(document_id: UUID) -> None:
    """Record that nothing was missing."""
    with_retries(
        lambda: execute(
            "UPDATE documents_document SET status = 'processing' WHERE id = %s AND status = 'pending'",
            [document_id],
        )
    )
    _settle(_SETTLED_DOCUMENT, {"document": document_id})
