"""Asking for vectors: the requests are on record, and their documents in processing, in one transaction."""

from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction

from documents.access import Access
from embeddings import queue
from embeddings.models import EmbeddingRun
from embeddings.types import Requested
from knowlex.common.database import with_retries
from knowlex.common.ids import new_id


def request(model_id: int, document_id: UUID | None, access: Access) -> Requested:
    """Ask for all that is missing, in one transaction, tried again. Raises DatabaseUnavailable."""
    return with_retries(lambda: _request(model_id, document_id, access))


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
            last = queue.last_request()
            # What another call asked for may lie there without anybody knowing: one hint harms nobody.
            hints = tuple(batches) or queue.waiting_batch(
                model_id=model_id, document_id=document_id, collection_ids=access.allowed
            )
    except IntegrityError as exc:
        raise OperationalError("a chunk was deleted meanwhile") from exc  # so try again
    requested = sum(batches.values())
    return Requested(run_id, model_id, document_id, requested, hints, last, access.collection_ids)
