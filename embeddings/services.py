"""What can be done with embeddings. No HTTP and no Celery in here; models are called outside transactions."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone

from documents.access import Access
from documents.models import Chunk
from embeddings import queue, store
from embeddings.active import active_model, ensure_model_matches, learn_dimensions
from embeddings.heartbeat import Heartbeat
from embeddings.models import EmbeddingModel, EmbeddingRun
from embeddings.progress import wait_until_done
from embeddings.protocols import Embedder
from embeddings.search import search
from embeddings.types import HeldChunk, Requested, Vector
from knowlex.common.components import component
from knowlex.common.database import release_connection, with_retries
from knowlex.common.errors import EmbedderError, EmbedderUnavailable, NotFound, TextRejected
from knowlex.common.ids import new_id

__all__ = [
    "active_model",
    "embed_batch",
    "ensure_model_matches",
    "forget_old_runs",
    "request_embeddings",
    "search",
    "sweep",
    "wait_until_done",
]
log = logging.getLogger(__name__)
RUNS_KEPT = timedelta(days=7)


def request_embeddings(document_id: UUID | None = None, *, access: Access) -> Requested:
    """Ask for every chunk (of one document) without a vector, those that failed before included.

    Only in collections that the caller may use.
    The work is on record when this returns, whether anybody is told about it or not.
    Raises NotFound for a document that is unknown or has no chunks, Forbidden, ModelMismatch,
    DatabaseUnavailable.
    """
    access.require("write")
    chunks = Chunk.objects.allowed_to(access)
    if document_id is not None and not with_retries(chunks.of_document(document_id).exists):
        raise NotFound(f"Document not found: {document_id}")
    model = active_model()
    return with_retries(lambda: _request(model.pk, document_id, access))


def _request(model_id: int, document_id: UUID | None, access: Access) -> Requested:
    run_id = new_id()
    try:
        with transaction.atomic():
            run = EmbeddingRun.objects.create(id=run_id)
            batches = queue.add_requests(
                run_id=run_id,
                model_id=model_id,
                document_id=document_id,
                collection_ids=access.allowed,
                batch_size=settings.EMBEDDING_BATCH,
            )
            run.requested = sum(batches.values())
            run.save(update_fields=["requested"]) if batches else run.delete()
            last, waiting = queue.scope_end(
                model_id=model_id, document_id=document_id, collection_ids=access.allowed
            )
    except IntegrityError as exc:
        raise OperationalError("a chunk was deleted meanwhile") from exc  # so try again
    # What another call asked for may lie there without anybody knowing: one hint more harms nobody.
    hints = tuple(batches) or waiting
    requested = sum(batches.values())
    return Requested(run_id, model_id, document_id, requested, hints, last, access.collection_ids)


def embed_batch(batch_id: UUID) -> int:
    """Embed one batch and store it in one transaction; returns the number of new vectors.

    `batch_id` only says that there is work: the most urgent free batch is taken, which may be another one.
    With nothing to do it returns 0, so a hint that comes twice, late or for deleted chunks does no harm.
    """
    model, lease = active_model(), new_id()
    chunks = with_retries(lambda: _claim(model.pk, lease))
    if not chunks:
        return 0
    release_connection()
    work = _Work()
    with Heartbeat(lease):
        work.embed(component("EMBEDDER", Embedder), chunks)
    stored = with_retries(lambda: _settle(model, lease, work))
    log.info("batch embedded", extra={"batch": str(batch_id), "stored": stored, "failed": len(work.failed)})
    return stored


class _Work:
    """The outcome of one batch: vectors of some chunks, a reason for each of the others."""

    def __init__(self) -> None:
        self.chunks: list[HeldChunk] = []
        self.vectors: list[Vector] = []
        self.failed: list[tuple[HeldChunk, str]] = []

    def embed(self, embedder: Embedder, chunks: Sequence[HeldChunk]) -> None:
        """Halve what is refused until the refused texts are known; an embedder that fails ends it at once."""
        rest = [list(chunks)]
        while rest:
            some = rest.pop()
            try:
                vectors = embedder.embed([chunk.content for chunk in some])
            except TextRejected as exc:
                if len(some) == 1:
                    self.failed.append((some[0], exc.message))
                else:
                    half = len(some) // 2
                    rest += [some[half:], some[:half]]
            except EmbedderError as exc:
                self.failed += [(chunk, exc.message) for part in [some, *rest] for chunk in part]
                return
            else:
                self.chunks += some
                self.vectors += vectors

    def discard(self, reason: str) -> None:
        self.failed += [(chunk, reason) for chunk in self.chunks]
        self.chunks, self.vectors = [], []


@transaction.atomic
def _claim(model_id: int, lease: UUID) -> list[HeldChunk]:
    return queue.claim(model_id=model_id, lease=lease)


@transaction.atomic
def _settle(model: EmbeddingModel, lease: UUID, work: _Work) -> int:
    sizes = {len(vector) for vector in work.vectors}
    if not all(learn_dimensions(model, size) for size in sizes):
        work.discard(EmbedderUnavailable("The embedding model's vectors changed their size.").message)
    stored = store.store(lease=lease, model_id=model.pk, chunks=work.chunks, vectors=work.vectors)
    for reason in {reason for _, reason in work.failed}:
        ids = [chunk.chunk_id for chunk, why in work.failed if why == reason]
        queue.fail(lease=lease, chunk_ids=ids, reason=reason)
    return stored


def sweep() -> list[UUID]:
    """Free what dead workers held; returns the batches that nobody holds, most urgent first.

    [] while another process sweeps.
    """
    return with_retries(_sweep)


@transaction.atomic
def _sweep() -> list[UUID]:
    if not queue.try_sweep_lock():
        return []
    queue.expire()
    return queue.due_batches()


def forget_old_runs() -> None:
    """Runs are a record for people: after a week those of which nothing is left to do go."""
    with_retries(lambda: EmbeddingRun.objects.finished_before(timezone.now() - RUNS_KEPT).delete())
