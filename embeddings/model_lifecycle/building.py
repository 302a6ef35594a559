"""Building all vectors of a model by the workers, while searches use the active one. It can be resumed."""

import time
from collections.abc import Callable, Iterator
from uuid import UUID

from documents.access import FULL
from embeddings.local_worker import LocalWorker
from embeddings.model_lifecycle import catalog
from embeddings.model_lifecycle.catalog import ModelCounts
from embeddings.models import EmbeddingModel
from embeddings.work import requests
from knowlex.base.errors import DatabaseUnavailable, NotFound
from knowlex.db.threads import with_retries

POLL_S = 0.5
PATIENCE_S = 60.0  # with a database that is away


def begin_build(model: EmbeddingModel) -> list[UUID]:
    """Ask for every vector that is missing, failed ones anew; from now on new chunks are embedded too.

    Returns batches, for hints to workers. Raises EmbedderError if the model cannot embed here.
    """
    catalog.check_embedder(model.spec)
    with_retries(lambda: EmbeddingModel.objects.filter(pk=model.pk).update(wanted=True))
    if model.active:
        return list(requests.request_active(model.pk, None, FULL).batches)
    return requests.request_inactive(model.pk)


def follow_build(model: EmbeddingModel, *, on_alone: Callable[[], None]) -> Iterator[ModelCounts]:
    """Yield how far it is until nothing waits any more; without workers the work is done here.

    Raises NotFound if the model is removed meanwhile, DatabaseUnavailable.
    """
    worker, since = LocalWorker(on_alone), time.monotonic()
    while True:
        try:
            counts = catalog.fetch_counts_of(model.pk)
            since = time.monotonic()
        except DatabaseUnavailable:
            if time.monotonic() - since > PATIENCE_S:
                raise
            continue
        if counts is None:
            raise NotFound(f"The model {model.name} was removed.")
        yield counts
        if not counts.waiting:
            return
        worker.work_or_wait(POLL_S)
