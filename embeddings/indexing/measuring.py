"""The measured recall of an index against an exact search, the least effort that is enough, and its record.

Half of the questions are stored vectors; half are means of five, which lie between chunks like questions,
but farther out. At 10,000 rows with 23 probes: real ones .953, stored vectors .980, means of five .951; at
935,000 with 45: .959, .998, .933.
"""

import json
import logging
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from numpy.typing import NDArray
from psycopg.sql import SQL, Composed

from embeddings.external.configuration import store_name
from embeddings.indexing.kinds import USUAL_EFFORT, Index, exact_search
from embeddings.models import IndexMeasurement, VectorIndex
from embeddings.vectors.rows import vector_text
from knowlex.base.times import utc_timestamp
from knowlex.db.threads import execute

log = logging.getLogger(__name__)

# One row, or none before anything was embedded.
INDEX_STATE = """
    SELECT i.kind, i.storage, i.rows, i.effort, i.recall, i.measured_at, coalesce(i.serves, false) AS serves
    FROM embeddings_embeddingmodel m LEFT JOIN embeddings_vectorindex i ON i.model_id = m.id WHERE m.active
"""


def describe_index(row: Mapping[str, Any] | None) -> dict[str, Any]:
    """Describe the active model's index for /health: kind ("none" without one) and
    searches ("index", "exact", or the store's name where vectors are searched outside PostgreSQL).

    rows: when it was built. One that finds too little makes nothing wrong, since searches are exact then, and
    is no reason to call the whole system degraded.
    """
    if store := store_name():
        return {"kind": "none", "searches": store}
    if row is None or row["kind"] is None:
        return {"kind": "none", "searches": "exact"}
    measured_at = row["measured_at"]
    return {
        "kind": row["kind"],
        "storage": row["storage"],
        "rows": row["rows"],
        "effort": row["effort"],
        "recall": row["recall"],
        "measured_at": utc_timestamp(measured_at) if measured_at else None,
        "searches": "index" if row["serves"] else "exact",
    }


TARGET = 0.95  # recall that an index must have to be used
KEPT_AT, RAISED_TO, LOWERED_FROM = 0.96, 0.965, 0.985  # 500 questions are right to half a hundredth
K = 10
SAMPLE = 500
BUDGET_S, ROWS_A_SECOND = 60.0, 10_000  # to read all vectors once takes 15 s of CPU for a million of 384
AT_ONCE = 2000  # vectors that are read and compared
TIMED = 3  # searches without the index
STATEMENT_MS = 20_000
_EPSILON = 2e-6  # neighbours at the same distance are as good as each other
# Times the sample, so that a page of neighbours is not all of it; and again, as there may be several models.
_SPARE, _MODELS = 8, 4

# Whole pages are sampled, of the whole table: in its first part alone the neighbours would be of a few
# documents, and means of them too easy to find.
_SAMPLE = """
    SELECT vector::text FROM (
        SELECT vector FROM embeddings_embedding TABLESAMPLE SYSTEM (%s) WHERE model_id = %s LIMIT %s
    ) sampled ORDER BY random() LIMIT %s
"""


_ALL = "SELECT vector_send(vector) FROM embeddings_embedding WHERE model_id = %s"


@dataclass(frozen=True, slots=True)
class RecallMeasurement:
    """One look at an index. sample: searches; milliseconds: the median of one."""

    effort: int
    recall: float
    sample: int
    index_ms: float
    exact_ms: float

    @property
    def serves(self) -> bool:
        return self.recall >= TARGET


@dataclass(frozen=True, slots=True)
class _Neighbourhood:
    """What an exact search finds for a question. question: a vector, as text."""

    question: str
    count: int  # K, or all there are
    farthest: float  # distance of the last of them


def measure(index: Index, *, rows: int, effort: int | None) -> RecallMeasurement | None:
    """Measure at the least effort that is enough, or the most if none is; None where it takes too long.

    effort: what it is used with now, and stays with while that is neither too little nor far too much.
    """
    try:
        neighbourhoods = _find_neighbourhoods(index, _sample_questions(index, rows), rows)
        if not neighbourhoods:
            return None
        exact_ms = _time_exact_search(index, neighbourhoods)
        return _choose(index, effort, partial(_measure_at, index, neighbourhoods, exact_ms))
    except OperationalError as exc:  # a statement took longer than its time
        log.warning("vector index not measured", extra={"index": index.name, "reason": str(exc)[:200]})
        return None


def _choose(
    index: Index, effort: int | None, measure_at: Callable[[int], RecallMeasurement]
) -> RecallMeasurement:
    efforts = index.efforts()
    start = min(effort or USUAL_EFFORT[index.kind], efforts[-1])
    measurement = measure_at(start)
    if measurement.recall < (RAISED_TO if effort is None else KEPT_AT):
        for more in efforts:
            if more > start and measurement.recall < RAISED_TO:
                measurement = measure_at(more)
    elif measurement.recall > LOWERED_FROM:
        for less in reversed(efforts):
            if less < start:
                cheaper = measure_at(less)
                if cheaper.recall < RAISED_TO:
                    break
                measurement = cheaper
    return measurement


def _sample_questions(index: Index, rows: int) -> NDArray[np.float32]:
    """Return stored vectors and means of five of them in turn, one a row, each of length 1."""
    wanted = SAMPLE * _SPARE
    percent = min(100.0, 100.0 * wanted * _MODELS / max(1, rows))
    limit = 2 * _MODELS * wanted  # no limit, but for a table of which statistics know too little
    sampled = execute(_SAMPLE, [percent, index.model_id, limit, SAMPLE])
    if len(sampled) < min(SAMPLE, rows):
        sampled = execute(_SAMPLE, [100, index.model_id, limit, SAMPLE])
    vectors = [np.array(json.loads(text), dtype=np.float32) for (text,) in sampled]
    units = [vector / np.linalg.norm(vector) for vector in vectors]
    count = len(units)
    means = [np.sum([units[(n - back) % count] for back in range(5)], axis=0) for n in range(count)]
    questions = np.array([(units, means)[n % 2][n] for n in range(count)], np.float32)
    return questions / np.linalg.norm(questions, axis=1, keepdims=True) if count else questions


def _find_neighbourhoods(index: Index, questions: NDArray[np.float32], rows: int) -> list[_Neighbourhood]:
    """Compare all questions with all vectors, each of which is read once; [] where that takes too long.

    A search for each question would take twenty times the CPU.
    """
    until, seen = time.monotonic() + BUDGET_S + rows / ROWS_A_SECOND, 0
    nearest = np.full((len(questions), K), np.inf, np.float32)
    for vectors in _read_vectors(index):
        seen += len(vectors)
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        distances = 1 - questions @ units.T
        closer = (distances < nearest.max(axis=1, keepdims=True)).any(axis=1)
        among = np.concatenate([nearest[closer], distances[closer]], axis=1)
        nearest[closer] = np.partition(among, K - 1, axis=1)[:, :K]
        if time.monotonic() > until:
            log.warning("vector index not measured: reading takes too long", extra={"index": index.name})
            return []
    count = min(K, seen)
    if not count:
        return []
    farthest = np.sort(nearest, axis=1)[:, count - 1]
    return [
        _Neighbourhood(vector_text(question), count, float(distance))
        for question, distance in zip(questions, farthest, strict=True)
    ]


def _read_vectors(index: Index) -> Iterator[NDArray[np.float32]]:
    """Yield all vectors of the model, some rows at a time."""
    with transaction.atomic(), connection.connection.cursor("knowlex_vectors") as cursor:
        cursor.execute(_ALL, [index.model_id], binary=True)
        while rows := cursor.fetchmany(AT_ONCE):
            numbers = np.frombuffer(b"".join(content for (content,) in rows), ">f4")
            yield numbers.reshape(len(rows), -1)[:, 1:].astype(np.float32)  # before them is their count


def _time_exact_search(index: Index, neighbourhoods: Sequence[_Neighbourhood]) -> float:
    """Return the median milliseconds of a search without the index."""
    statement = exact_search(index.model_id, SQL(""))
    return statistics.median(
        _search(statement, neighbourhood.question, ())[1] for neighbourhood in neighbourhoods[:TIMED]
    )


def _measure_at(
    index: Index, neighbourhoods: Sequence[_Neighbourhood], exact_ms: float, effort: int
) -> RecallMeasurement:
    statement, setup = index.search(SQL("")), index.setup(effort)
    hits, times = 0, []
    for neighbourhood in neighbourhoods:
        distances, took = _search(statement, neighbourhood.question, setup)
        hits += sum(distance <= neighbourhood.farthest + _EPSILON for distance in distances)
        times.append(took)
    recall = hits / sum(neighbourhood.count for neighbourhood in neighbourhoods)
    return RecallMeasurement(effort, recall, len(neighbourhoods), statistics.median(times), exact_ms)


@transaction.atomic
def _search(statement: Composed, question: str, setup: Sequence[SQL]) -> tuple[list[float], float]:
    """Return the distances of the K nearest, closest first, and the milliseconds that it took."""
    for setting in (SQL(f"SET LOCAL statement_timeout = {STATEMENT_MS}"), *setup):
        execute(setting.as_string(None))
    started = time.monotonic()
    rows = execute(statement.as_string(None), {"vector": question, "limit": K})
    return [distance for _, distance in rows], (time.monotonic() - started) * 1000


# Measured: an exact search of 10,000 rows costs PostgreSQL 5 ms of CPU with 384 dimensions, 20 ms with 1536,
# as much as the numbers it reads; one through an index costs 2 to 10 ms (benchmarks/README.md).
_EXACT_NUMBERS = 4_000_000  # numbers in vectors that take about 5 ms
_FEWEST = 1000  # however long the vectors


def exact_below(dimensions: int) -> int:
    """Return how many rows, filters applied, an exact search reads as fast as an index; it finds all."""
    return max(_FEWEST, _EXACT_NUMBERS // max(1, dimensions))


def min_rows(dimensions: int) -> int:
    """Return the least number of rows of its model that an index is built for."""
    return 2 * exact_below(dimensions)


MEASUREMENTS_KEPT = 500  # measurements of one model
_TRIM = """
    DELETE FROM embeddings_indexmeasurement WHERE model_id = %(model)s AND id <= (
        SELECT id FROM embeddings_indexmeasurement WHERE model_id = %(model)s
        ORDER BY id DESC OFFSET %(kept)s LIMIT 1)
"""


def index_of(state: VectorIndex) -> Index:
    return Index(state.model_id, state.model.dimensions, state.number, state.kind, state.storage, state.lists)


@transaction.atomic
def record_build(index: Index, rows: int, measurement: RecallMeasurement | None, reason: str) -> None:
    """Use the new index from now on. One that was too slow to measure is used at its usual effort."""
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
            "built_at": timezone.now(),
            "measured_at": None,
        },
    )
    if measurement is not None:
        record_measurement(index, rows, measurement, f"built: {reason}")


@transaction.atomic
def record_measurement(
    index: Index, rows: int, measurement: RecallMeasurement, reason: str
) -> IndexMeasurement | None:
    """Use the index at this effort from now on, or not at all where its recall is too low.

    None where another index has taken its place meanwhile.
    """
    now = timezone.now()
    outcome = {"effort": measurement.effort, "recall": measurement.recall, "serves": measurement.serves}
    state = VectorIndex.objects.filter(model=index.model_id, number=index.number)
    if not state.update(measured_at=now, **outcome):
        return None
    record = IndexMeasurement.objects.create(
        model_id=index.model_id,
        kind=index.kind,
        storage=index.storage,
        rows=rows,
        lists=index.lists,
        sample=measurement.sample,
        index_ms=measurement.index_ms,
        exact_ms=measurement.exact_ms,
        reason=reason,
        measured_at=now,
        **outcome,
    )
    execute(_TRIM, {"model": index.model_id, "kept": MEASUREMENTS_KEPT})
    report = {"index": index.name, "rows": rows, **outcome}
    if measurement.serves:
        log.info("vector index measured", extra=report)
    else:
        log.warning("vector index finds too little; searches are exact", extra=report)
    return record
