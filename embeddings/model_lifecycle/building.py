"""Building all vectors of a model by the workers, while searches use the active one. It can be resumed."""

import time
from collections.abc import Callable, Iterator
from uuid import UUID

from documents.access import FULL
from embeddings import services
from embeddings.external import delivery
from embeddings.model_lifecycle import catalog
from embeddings.model_lifecycle.catalog import ModelCounts
from embeddings.models import EmbeddingModel
from embeddings.work import requests
from knowlex.base.errors import DatabaseUnavailable, EmbedderError, KnowlexError, NotFound
from knowlex.db.threads import with_retries
from knowlex.runtime import liveness

POLL_S, SWEEP_EVERY_S, LOOK_FOR_WORKERS_S = 0.5, 3.0, 1.0
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
            found = catalog.fetch_counts_of(model.pk)
            since = time.monotonic()
        except DatabaseUnavailable:
            if time.monotonic() - since > PATIENCE_S:
                raise
            continue
        if found is None:
            raise NotFound(f"The model {model.name} was removed.")
        yield found
        if not found.waiting:
            return
        worker.work_or_wait()


class LocalWorker:
    """Does the workers' work where no worker is alive."""

    def __init__(self, on_alone: Callable[[], None]) -> None:
        self._on_alone, self._told = on_alone, False
        self._alive, self._looked_at, self._swept_at = 1, float("-inf"), float("-inf")

    def work(self, *, until: float) -> bool:
        """Do some batches, if no worker is alive; return False if there was nothing to do here."""
        done = 0
        while self._nobody_works() and self._one():
            done += 1
            if time.monotonic() > until:
                break
        return done > 0

    def work_or_wait(self) -> None:
        """Work, or wait for a while."""
        if not self.work(until=time.monotonic() + POLL_S):
            time.sleep(POLL_S)

    def _nobody_works(self) -> bool:
        if time.monotonic() - self._looked_at > LOOK_FOR_WORKERS_S:
            self._alive, self._looked_at = liveness.count_alive_now(), time.monotonic()
        if not self._alive and not self._told:
            self._told = True
            self._on_alone()
        return not self._alive

    def _one(self) -> bool:
        try:
            if time.monotonic() - self._swept_at > SWEEP_EVERY_S:
                services.sweep()
                self._swept_at = time.monotonic()
            return services.work_once() or delivery.deliver_once()
        except (KnowlexError, EmbedderError):
            return False  # recorded, or tried again at the next look
