"""Requests for vectors: they are on record, and their documents in processing, in one transaction."""

from dataclasses import replace
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction

from documents.access import Access
from embeddings import queue
from embeddings.models import EmbeddingModel, EmbeddingRun
from embeddings.types import RequestScope
from knowlex.base.ids import new_id
from knowlex.db.threads import with_retries

FIRST = UUID(int=0)
DOCUMENTS_AT_ONCE = 200  # in one transaction, of a model that is not the active one


def request_all(model_id: int, document_id: UUID | None, access: Access) -> RequestScope:
    """Request what is missing of the active model, and besides of the other wanted ones.

    Only the active model's part is counted and can be waited for; the others' batches are among the hints.
    """
    requested = request_active(model_id, document_id, access)
    others = with_retries(lambda: list(EmbeddingModel.objects.others_wanted().values_list("id", flat=True)))
    hints = [batch for other in others for batch in request_inactive(other, document_id)]
    return replace(requested, batches=(*requested.batches, *hints))


def request_active(model_id: int, document_id: UUID | None, access: Access) -> RequestScope:
    """Ask the active model for all that is missing, in one transaction, tried again.

    Raises DatabaseUnavailable.
    """
    return with_retries(lambda: request_once(model_id, document_id, access))


def request_inactive(model_id: int, document_id: UUID | None = None) -> list[UUID]:
    """Ask a model that is not the active one for all that is missing, some documents a transaction.

    Returns the new batches; none if the model is gone. Raises DatabaseUnavailable.
    """
    run_id, after, batches = new_id(), FIRST, list[UUID]()
    while True:
        added, last = with_retries(partial(_request_inactive, run_id, model_id, document_id, after))
        batches += added
        if last is None:
            return batches
        after = last


def _request_inactive(
    run_id: UUID, model_id: int, document_id: UUID | None, after: UUID
) -> tuple[list[UUID], UUID | None]:
    try:
        with transaction.atomic():
            if not EmbeddingModel.objects.wanted().filter(pk=model_id).exists():
                return [], None
            run, _ = EmbeddingRun.objects.get_or_create(id=run_id, defaults={"model_id": model_id})
            sizes, last = queue.add_inactive_requests(
                run_id=run_id,
                model_id=model_id,
                document_id=document_id,
                after=after,
                limit=DOCUMENTS_AT_ONCE,
                batch_size=settings.EMBEDDING_BATCH,
            )
            run.requested += sum(sizes.values())
            run.save(update_fields=["requested"]) if run.requested else run.delete()
    except IntegrityError as exc:
        raise OperationalError("a chunk or the model was deleted meanwhile") from exc  # so try again
    return list(sizes), last


def request_once(model_id: int, document_id: UUID | None, access: Access) -> RequestScope:
    """Run `request_active` where the caller tries again: in a transaction of its own, or the caller's."""
    run_id = new_id()
    try:
        with transaction.atomic():
            run = EmbeddingRun.objects.create(id=run_id, model_id=model_id)
            batches = queue.add_requests(
                run_id=run_id,
                model_id=model_id,
                document_id=document_id,
                collection_ids=access.allowed,
                batch_size=settings.EMBEDDING_BATCH,
            )
            run.requested = sum(batches.values())
            run.save(update_fields=["requested"]) if batches else run.delete()
            last = queue.last_request()
            # What another call asked for may lie there without anybody knowing: one hint harms nobody.
            hints = tuple(batches) or queue.waiting_batch(
                model_id=model_id, document_id=document_id, collection_ids=access.allowed
            )
    except IntegrityError as exc:
        raise OperationalError("a chunk was deleted meanwhile") from exc  # so try again
    requested = sum(batches.values())
    return RequestScope(run_id, model_id, document_id, requested, hints, last, access.collection_ids)
