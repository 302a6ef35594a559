"""Switching from one model to another in one transaction: a search uses the one or the other, never both."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from documents.access import FULL
from embeddings import queue
from embeddings.model_lifecycle.catalog import ModelConflict
from embeddings.models import EmbeddingModel, EmbeddingRequest
from embeddings.work import document_status, requests
from knowlex.db.threads import execute, with_retries

URGENT = timedelta(seconds=10)
# Chunks that searches find now, and would not find any more: without a vector, or with one that the vector
# store outside has not got yet.
_LOST = """
    SELECT count(*) FILTER (WHERE b.chunk_id IS NULL),
        count(*) FILTER (WHERE b.chunk_id IS NULL AND q.failed_at IS NOT NULL),
        coalesce(min(q.error) FILTER (WHERE b.chunk_id IS NULL AND q.failed_at IS NOT NULL), ''),
        count(b.chunk_id)
    FROM embeddings_embedding a
    LEFT JOIN embeddings_outboxentry o ON o.chunk_id = a.chunk_id AND o.model_id = %(model)s
    LEFT JOIN embeddings_embedding b ON b.chunk_id = a.chunk_id AND b.model_id = %(model)s
    LEFT JOIN embeddings_embeddingrequest q ON q.chunk_id = a.chunk_id AND q.model_id = %(model)s
    WHERE a.model_id = %(active)s AND (b.chunk_id IS NULL OR o.chunk_id IS NOT NULL
        OR EXISTS (SELECT FROM embeddings_outsidestore WHERE NOT filled))
"""
_LACKS = """
    EXISTS (SELECT FROM documents_chunk c WHERE c.document_id = d.id AND NOT EXISTS (
        SELECT FROM embeddings_embedding e WHERE e.chunk_id = c.id AND e.model_id = %(model)s))
"""
# Complete by the one model, not by the other; and failed by the one, whole by the other.
_OTHERWISE = f"""
    SELECT d.id FROM documents_document d
    WHERE d.status = 'completed' AND {_LACKS} OR d.status = 'failed' AND NOT {_LACKS}
    ORDER BY d.id FOR NO KEY UPDATE OF d
"""  # noqa: S608 - constants only
_OPEN_AGAIN = "UPDATE documents_document SET status = 'processing' WHERE id = ANY(%s)"


class VectorsMissing(ModelConflict):
    """Chunks would be lost to searches. count: of how many there is no vector; failed: of these, how many
    were refused, and why. unshipped: of how many the vector store outside has none.
    """

    def __init__(
        self, model: EmbeddingModel, count: int, failed: int, reason: str, unshipped: int = 0
    ) -> None:
        self.count, self.failed, self.reason, self.unshipped = count, failed, reason, unshipped
        if not count:
            super().__init__(
                f"{unshipped} vectors of {model.name} are not in the vector store yet. They follow by "
                "themselves; try again then (or --wait)."
            )
            return
        refused = f"; {failed} of them could not be embedded: {reason.rstrip('.')}" if failed else ""
        super().__init__(
            f"{count} stored chunks have no vector of {model.name}{refused}. Type "
            f"`manage.py embedding_model build {model.name}` first (or --wait)."
        )


@dataclass(frozen=True, slots=True)
class ModelSwitch:
    """before: the model that was active. lacking: chunks that no search finds until they are embedded.
    unshipped: those that wait only for the vector store outside.
    """

    model: EmbeddingModel
    before: EmbeddingModel | None
    lacking: int = 0
    unshipped: int = 0


def activate_model(model: EmbeddingModel, *, force: bool = False) -> ModelSwitch:
    """Search with this model from now on; the one before is kept up for `rollback`, older ones are not.

    force: though chunks lack its vector. Does nothing if it is active. Raises VectorsMissing,
    DatabaseUnavailable.
    """
    switched = with_retries(lambda: _activate(model.pk, force=force))
    document_status.settle_all()
    return switched


def activate_when_complete(model: EmbeddingModel) -> Iterator[ModelSwitch | VectorsMissing]:
    """Try `activate_model` until it succeeds; the model's work goes before all other meanwhile.

    Raises VectorsMissing where waiting is in vain, since the model refuses what is missing.
    """
    while True:
        try:
            yield activate_model(model)
            return
        except VectorsMissing as exc:
            if exc.count and exc.failed == exc.count:
                raise
            prioritise_model(model)
            yield exc


def prioritise_model(model: EmbeddingModel) -> None:
    """Put its work first for the next seconds."""
    with_retries(lambda: EmbeddingModel.objects.filter(pk=model.pk).update(first_until=Now() + URGENT))


def roll_back() -> ModelSwitch:
    """Go back to the model before, at once; chunks that lack its vector are requested.

    Raises ModelConflict if there is none.
    """
    switched = with_retries(_roll_back)
    document_status.settle_all()
    return switched


@transaction.atomic
def _activate(model_id: int, *, force: bool) -> ModelSwitch:
    queue.lock(queue.MODEL_LOCK)
    model, active = EmbeddingModel.objects.get(pk=model_id), EmbeddingModel.objects.active().first()
    if model == active:
        return ModelSwitch(model, None)
    count = unshipped = 0
    if active is not None:
        count, failed, reason, unshipped = execute(_LOST, {"model": model_id, "active": active.pk})[0]
        if count + unshipped and not force:
            raise VectorsMissing(model, count, failed, reason, unshipped)
    _retire_older(keep={model_id, active.pk if active else model_id})
    model.activated_at = timezone.now()
    _switch(active, model)
    return ModelSwitch(model, active, count, unshipped)


@transaction.atomic
def _roll_back() -> ModelSwitch:
    queue.lock(queue.MODEL_LOCK)
    active, before = EmbeddingModel.objects.active().first(), EmbeddingModel.objects.before().first()
    if active is None or before is None:
        raise ModelConflict("There is no model to go back to: none was active before, or it was removed.")
    lacking, _, _, unshipped = execute(_LOST, {"model": before.pk, "active": active.pk})[0]
    _switch(active, before)
    return ModelSwitch(before, active, lacking, unshipped)


def _retire_older(keep: set[int]) -> None:
    """Keep models before the last one, but no longer keep them up."""
    older = EmbeddingModel.objects.others_wanted().filter(deactivated_at__isnull=False).exclude(pk__in=keep)
    ids = list(older.values_list("id", flat=True))
    EmbeddingModel.objects.filter(pk__in=ids).update(wanted=False)
    EmbeddingRequest.objects.filter(model_id__in=ids).delete()


def _switch(active: EmbeddingModel | None, model: EmbeddingModel) -> None:
    """Settle documents anew whose status the switch changes: the active model decides them."""
    if active is not None:
        EmbeddingModel.objects.filter(pk=active.pk).update(active=False, deactivated_at=timezone.now())
    model.active = model.wanted = True
    model.deactivated_at = model.first_until = None
    model.save(update_fields=["active", "wanted", "activated_at", "deactivated_at", "first_until"])
    documents = [row[0] for row in execute(_OTHERWISE, {"model": model.pk})]
    execute(_OPEN_AGAIN, [documents])
    requests.request_once(model.pk, None, FULL)
