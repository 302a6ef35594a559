"""What can be done with embeddings. No HTTP and no Celery in here; models are called outside transactions."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from documents.access import Access
from documents.ingest import queue as ingest_queue
from documents.models import Chunk
from embeddings import queue
from embeddings.active_model import active_model, ensure_model_matches, learn_dimensions
from embeddings.external import delivery
from embeddings.models import EmbeddingModel, EmbeddingRun
from embeddings.registry import embedder_for, is_paid
from embeddings.search.dense import search_chunks
from embeddings.types import ClaimedChunk, EmbeddedText, ModelSpec, RequestScope, Vector
from embeddings.vectors import rows, sentences
from embeddings.work import document_status
from embeddings.work.requests import request_all
from embeddings.work.waiting import wait_until_done
from knowlex.base import spending
from knowlex.base.errors import EmbedderError, EmbedderUnavailable, NotFound, TextRejected
from knowlex.base.ids import new_id
from knowlex.db.threads import Heartbeat, release_connection, with_retries
from knowlex.runtime import background
from knowlex.runtime.spending import daily_tokens

__all__ = [
    "active_model",
    "embed_batch",
    "embed_texts",
    "ensure_model_matches",
    "forget_old_runs",
    "request_embeddings",
    "search_chunks",
    "sweep",
    "wait_until_done",
]
log = logging.getLogger(__name__)
RUNS_KEPT = timedelta(days=7)
BUILD_EVERY = 16  # of so many claims one goes to a model that is being built, whatever the active one's work


def request_embeddings(document_id: UUID | None = None, *, access: Access) -> RequestScope:
    """Ask for every chunk (of one document) without a vector, those that failed before included.

    Besides the active model, all others that are wanted are asked; reported and waited for is its part.

    Only in collections that the caller may write to.
    The work is on record when this returns, whether anybody is told about it or not.
    Raises NotFound for a document that is unknown or has no chunks, Forbidden, DatabaseUnavailable.
    """
    access.require("write")
    if document_id is not None:
        _check_document(document_id, access)
    return request_all(active_model().pk, document_id, access.limited_to("write"))


def _check_document(document_id: UUID, access: Access) -> None:
    chunks = Chunk.objects.allowed_to(access).current().of_document(document_id)
    chunk = with_retries(chunks.select_related("document").first)
    if chunk is None:
        raise NotFound(f"Document not found: {document_id}")
    access.require("write", chunk.document.collection_id)


def embed_texts(texts: Sequence[str]) -> tuple[str, list[Vector]]:
    """Return the active model's name, and the vector of each text as a passage has it. Nothing is stored.

    Raises EmbedderUnavailable, EmbedderRejected, TextRejected, DailyTokensSpent, DatabaseUnavailable.
    """
    model = active_model().spec
    release_connection()
    if is_paid(model):
        background.run(spending.require_tokens())
    return model.name, embedder_for(model).embed(texts)


def embed_batch(batch_id: UUID) -> int:
    """Embed one batch and store it in one transaction; returns the number of new vectors.

    `batch_id` only says that there is work: the most urgent free batch is taken, which may be another one.
    With nothing to do it returns 0, so a hint that comes twice, late or for deleted chunks does no harm.
    """
    return _embed_next(batch_id) or 0


def work_once() -> bool:
    """Embed a batch here, as a worker would; return False if there is nothing to embed."""
    return _embed_next(None) is not None


def _embed_next(batch_id: UUID | None) -> int | None:
    lease = new_id()
    waiting = _models_out_of_tokens()
    claimed = with_retries(lambda: _claim(lease, waiting))
    if claimed is None:
        return None
    model, chunks = claimed
    work = _BatchOutcome()
    with Heartbeat(lambda: queue.renew(lease)):
        work.embed(model.spec, chunks)
    stored = with_retries(lambda: _settle(model, lease, work))
    delivery.deliver_chunks(model.pk, [chunk.chunk_id for chunk in work.chunks])
    document_status.settle_documents([chunk.chunk_id for chunk in chunks])
    report = {"batch": str(batch_id), "model": model.name, "stored": stored, "failed": len(work.failed)}
    log.info("batch embedded", extra=report)
    return stored


class _BatchOutcome:
    """The outcome of one batch: vectors of some chunks, a reason for each of the others."""

    def __init__(self) -> None:
        self.chunks: list[ClaimedChunk] = []
        self.embedded: list[EmbeddedText] = []
        self.failed: list[tuple[ClaimedChunk, str]] = []

    def embed(self, model: ModelSpec, chunks: Sequence[ClaimedChunk]) -> None:
        """Halve what is refused until the refused texts are known; an embedder that fails ends it at once."""
        try:
            embedder = embedder_for(model)
        except EmbedderError as exc:
            self.failed += [(chunk, exc.message) for chunk in chunks]
            return
        pending = [list(chunks)]
        while pending:
            batch = pending.pop()
            try:
                embedded = sentences.embed_texts(embedder, [chunk.content for chunk in batch])
            except TextRejected as exc:
                if len(batch) == 1:
                    self.failed.append((batch[0], exc.message))
                else:
                    half = len(batch) // 2
                    pending += [batch[half:], batch[:half]]
            except EmbedderError as exc:
                self.failed += [(chunk, exc.message) for left in [batch, *pending] for chunk in left]
                return
            else:
                self.chunks += batch
                self.embedded += embedded

    def discard(self, reason: str) -> None:
        self.failed += [(chunk, reason) for chunk in self.chunks]
        self.chunks, self.embedded = [], []


@transaction.atomic
def _claim(lease: UUID, waiting: Sequence[int]) -> tuple[EmbeddingModel, list[ClaimedChunk]] | None:
    """Claim a batch of the first model that has one; None if all work is done or in hands.

    waiting: models that are left alone.
    """
    for model in _in_turn(lease):
        if model.pk not in waiting and (chunks := queue.claim(model_id=model.pk, lease=lease)):
            return model, chunks
    return None


_out_of_tokens = False  # when this process last looked


def _models_out_of_tokens() -> list[int]:
    """Return the paid models while the day's tokens are spent. Their chunks wait; none of them fails."""
    global _out_of_tokens
    if settings.DAILY_TOKENS is None:
        return []
    before, _out_of_tokens = _out_of_tokens, background.run(daily_tokens.is_spent())
    if _out_of_tokens != before:
        said = (
            "nothing is embedded by paid models until midnight UTC" if _out_of_tokens else "embedding again"
        )
        log.warning(said, extra={"daily_tokens": settings.DAILY_TOKENS})
    if not _out_of_tokens:
        return []
    return [
        model.pk for model in with_retries(lambda: list(EmbeddingModel.objects.all())) if is_paid(model.spec)
    ]


def _in_turn(lease: UUID) -> list[EmbeddingModel]:
    """Return the models, the active one first, so that no upload waits for a model that is being built.

    But now and then it is the last (when is left to the lease, a random number), so that a build goes on
    under uploads that never end; and so it is while somebody waits to switch to another one.
    """
    models = list(EmbeddingModel.objects.wanted())
    if len(models) > 1:
        urgent = set(EmbeddingModel.objects.urgent())
        if urgent:
            models.sort(key=lambda model: model not in urgent)
        elif lease.int % BUILD_EVERY == 1:
            models.append(models.pop(0))
    return models


@transaction.atomic
def _settle(model: EmbeddingModel, lease: UUID, work: _BatchOutcome) -> int:
    sizes = {len(text.vector) for text in work.embedded}
    if not all(learn_dimensions(model, size) for size in sizes):
        work.discard(EmbedderUnavailable("The embedding model's vectors changed their size.").message)
    stored = rows.store_vectors(lease=lease, model_id=model.pk, chunks=work.chunks, embedded=work.embedded)
    for reason in {reason for _, reason in work.failed}:
        ids = [chunk.chunk_id for chunk, why in work.failed if why == reason]
        queue.fail(lease=lease, chunk_ids=ids, reason=reason)
    return stored


def sweep() -> tuple[list[UUID], int]:
    """Free what dead workers held, and record what has ended.

    Returns the batches that nobody holds, most urgent first, and the number of documents that wait to be
    read; nothing while another process sweeps.
    """
    if not with_retries(_expire):
        return [], 0
    document_status.sweep_documents()
    waiting = _models_out_of_tokens()
    return with_retries(lambda: queue.due_batches(waiting)), with_retries(ingest_queue.count_due)


@transaction.atomic
def _expire() -> bool:
    if not queue.try_sweep_lock():
        return False
    queue.expire_leases()
    ingest_queue.expire_leases()
    return True


def forget_old_runs() -> None:
    """Runs are a record for people: after a week those of which nothing is left to do go."""
    with_retries(lambda: EmbeddingRun.objects.finished_before(timezone.now() - RUNS_KEPT).delete())
