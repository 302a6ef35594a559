"""How far documents are, told by their vectors: completed, failed, or to be asked for again.

With a store outside PostgreSQL a document is under way until that has its vectors, too.

Runs after each stored batch, and in every sweep for whatever a dead worker left. Locks documents by id, then
items, and only then looks at the requests, so two that settle at once cannot both look too early.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from documents.access.scopes import FULL
from embeddings.model_lifecycle.active import active_model
from embeddings.models import EmbeddingModel
from embeddings.work import queue, version_switch
from embeddings.work.requests import request_all
from knowlex.db.threads import execute, with_retries

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
# Stored by a job, or to be tried again, and nobody has asked for the vectors yet.
_UNASKED = f"""
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
    _end(_SETTLED_OF_CHUNKS, {"chunks": list(chunk_ids)})


def _end(settled: str, scope: Mapping[str, object]) -> list[UUID]:
    """Returns documents of which vectors are missing that nobody is asked for."""
    whole, unasked = with_retries(lambda: _settle_documents(settled, scope))
    for version in whole:
        version_switch.take_over(version)
    return unasked


@transaction.atomic
def _settle_documents(settled: str, scope: Mapping[str, object]) -> tuple[list[UUID], list[UUID]]:
    """By the active model alone, which stays the active one until this is written."""
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
            _fail(state.document_id, state.error)
    return (
        [s.document_id for s in states if not s.missing and s.is_replacement],
        [s.document_id for s in states if s.missing and not s.failed and not s.waiting],
    )


def _fail(document_id: UUID, error: str) -> None:
    execute(_FAIL, {"document": document_id})
    execute(_FAIL_ITEM, {"document": document_id, "error": error})


def sweep_documents() -> list[UUID]:
    """Settle all, and ask for what nobody asked for; returns the new batches. Raises DatabaseUnavailable."""
    with_retries(lambda: execute(_LOST))
    unasked = settle_all()
    unasked += [row[0] for row in with_retries(lambda: execute(_UNASKED))]
    return [batch for document_id in unasked for batch in request_document(document_id)]


def settle_all() -> list[UUID]:
    """Returns documents of which vectors are missing that nobody is asked for."""
    return _end(_SETTLED_OF_ALL, {})


def request_document(document_id: UUID) -> tuple[UUID, ...]:
    """Ask for the vectors of a document, or of a new version in the making, by every wanted model.

    Returns the batches.
    """
    requested = request_all(active_model().pk, document_id, FULL)
    if not requested.requested:
        settle_document(document_id)
    return requested.batches


def settle_document(document_id: UUID) -> None:
    """If nothing was missing, that has only to be said."""
    with_retries(
        lambda: execute(
            "UPDATE documents_document SET status = 'processing' WHERE id = %s AND status = 'pending'",
            [document_id],
        )
    )
    _end(_SETTLED_DOCUMENT, {"document": document_id})
