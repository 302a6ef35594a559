"""Removing a model with all that belongs to it, some rows a transaction, so that nobody waits for it."""

import time
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from embeddings import queue
from embeddings.external import outbox
from embeddings.indexing.building import drop_index
from embeddings.model_lifecycle.catalog import ModelConflict
from embeddings.models import EmbeddingModel
from knowlex.db.threads import execute, with_retries

ROWS = 5000
GRACE = timedelta(seconds=15)  # a search that began with the model while it was active has ended
TABLES = (
    "embeddings_embeddingrequest",
    "embeddings_sentencevectors",
    "embeddings_embedding",
    "embeddings_embeddingrun",
)
_DELETE = """
    WITH gone AS (DELETE FROM {table} WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM {table} WHERE model_id = %s LIMIT {rows})) RETURNING 1)
    SELECT count(*) FROM gone
"""


def remove_model(model: EmbeddingModel) -> int:
    """Remove a model; return how many vectors went with it. It can be run again.

    The one before can be removed too, which ends `rollback`. Raises ModelConflict for the active one.
    """
    with_retries(lambda: _check(model.pk))
    with_retries(lambda: EmbeddingModel.objects.filter(pk=model.pk).update(wanted=False))
    _wait_for_searches(model)
    drop_index(model.pk)
    vectors = 0
    for table in TABLES:
        while count := with_retries(partial(_delete_rows, table, model.pk)):
            if table == "embeddings_embedding":
                vectors += count
    with_retries(lambda: _delete_model(model.pk))
    return vectors


def _check(model_id: int) -> None:
    if EmbeddingModel.objects.active().filter(pk=model_id).exists():
        raise ModelConflict(
            "The active model cannot be removed: searches use it. Activate another one first "
            "(manage.py embedding_model activate NAME)."
        )


def _wait_for_searches(model: EmbeddingModel) -> None:
    if model.deactivated_at is not None:
        time.sleep(max(0.0, (model.deactivated_at + GRACE - timezone.now()).total_seconds()))


@transaction.atomic
def _delete_rows(table: str, model_id: int) -> int:
    """Shut switches out meanwhile: else the model could become the active one between look and deletion."""
    queue.lock_shared(queue.MODEL_LOCK)
    _check(model_id)
    outbox.off()
    return int(execute(_DELETE.format(table=table, rows=ROWS), [model_id])[0][0])


@transaction.atomic
def _delete_model(model_id: int) -> None:
    """Delete the row and what came meanwhile: the database cascades. An external store drops its space."""
    queue.lock(queue.MODEL_LOCK)
    _check(model_id)
    outbox.off()
    outbox.drop_space(model_id)
    EmbeddingModel.objects.filter(pk=model_id).delete()
