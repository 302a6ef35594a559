"""What is known of the indexes, in tables: how searches are to use them, and what was measured when."""

import logging

from django.db import transaction
from django.utils import timezone

from embeddings.indexing.kinds import USUAL_EFFORT, Index
from embeddings.indexing.measuring import RecallMeasurement
from embeddings.models import IndexMeasurement, VectorIndex
from knowlex.db.threads import execute

# Measured: an exact search of 10,000 rows costs PostgreSQL 5 ms of CPU with 384 dimensions, 20 ms with 1536,
# as much as the numbers it reads; one through an index costs 2 to 10 ms (benchmarks/README.md).
_EXACT_NUMBERS = 4_000_000  # numbers in vectors that take about 5 ms
_FEWEST = 1000  # however long the vectors


def exact_below(dimensions: int) -> int:
    """With fewer rows to look at, filters applied, an exact search is as fast as an index, and finds all."""
    return max(_FEWEST, _EXACT_NUMBERS // max(1, dimensions))


def min_rows(dimensions: int) -> int:
    """With fewer rows of its model, an index is not built."""
    return 2 * exact_below(dimensions)


log = logging.getLogger(__name__)

MEASUREMENTS_KEPT = 500  # measurements of one model
_TRIM = """
    DELETE FROM embeddings_indexmeasurement WHERE model_id = %(model)s AND id <= (
        SELECT id FROM embeddings_indexmeasurement WHERE model_id = %(model)s
        ORDER BY id DESC OFFSET %(kept)s LIMIT 1)
"""


def index_of(state: VectorIndex) -> Index:
    return Index(state.model_id, state.model.dimensions, state.number, state.kind, state.storage, state.lists)


@transaction.atomic
def record_build(index: Index, rows: int, found: RecallMeasurement | None, reason: str) -> None:
    """The new index is the one from now on. One that was too slow to measure is used at its usual effort."""
    now = timezone.now()
    VectorIndex.objects.update_or_create(
        model_id=index.model_id,
        defaults={
            "number": index.number,
            "kind": index.kind,
            "storage": index.storage,
            "rows": rows,
            "lists": index.lists,
            "effort": USUAL_EFFORT[index.kind],
            "recall": None,
            "serves": True,
            "exact_below": exact_below(index.dimensions),
            "built_at": now,
            "measured_at": None,
        },
    )
    if found is not None:
        record_measurement(index, rows, found, f"built: {reason}")


@transaction.atomic
def record_measurement(
    index: Index, rows: int, found: RecallMeasurement, reason: str
) -> IndexMeasurement | None:
    """Searches use the index at this effort from now on, or do without where its recall is too low.

    None where another index has taken its place meanwhile.
    """
    now = timezone.now()
    state = VectorIndex.objects.filter(model=index.model_id, number=index.number)
    known = {"effort": found.effort, "recall": found.recall, "serves": found.serves}
    if not state.update(measured_at=now, **known):
        return None
    measurement = IndexMeasurement.objects.create(
        model_id=index.model_id,
        kind=index.kind,
        storage=index.storage,
        rows=rows,
        lists=index.lists,
        sample=found.sample,
        index_ms=found.index_ms,
        exact_ms=found.exact_ms,
        reason=reason,
        measured_at=now,
        **known,
    )
    execute(_TRIM, {"model": index.model_id, "kept": MEASUREMENTS_KEPT})
    report = {"index": index.name, "rows": rows, **known}
    if found.serves:
        log.info("vector index measured", extra=report)
    else:
        log.warning("vector index finds too little; searches are exact", extra=report)
    return measurement
