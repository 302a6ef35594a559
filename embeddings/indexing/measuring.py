"""What an index finds of what an exact search finds, and the least effort that makes it enough.

Asked with stored vectors, and with as many means of three: a question lies between chunks, and is found with
less luck than a chunk. Measured at 30,000 rows: real questions .941, means of three .941, stored ones .983.
"""

import json
import logging
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import OperationalError, transaction
from psycopg.sql import SQL, Composed

from embeddings.indexing.kinds import USUAL_EFFORT, Index, exact_search
from embeddings.store import vector_text
from embeddings.types import Vector
from knowlex.common.database import execute

log = logging.getLogger(__name__)

TARGET = 0.95  # recall that an index must have to be used
RAISED_TO, LOWERED_FROM = 0.965, 0.99  # 50 questions are right to about a hundredth
K = 10
SAMPLE, FEWEST = 100, 12
BUDGET_S = 30.0  # for the exact searches of one measurement; 100 of them take 6 s at 100,000 rows of 384
STATEMENT_MS = 20_000
_EPSILON = 1e-6  # neighbours at the same distance are as good as each other
_SPARE = 8  # times the sample, so that a page of neighbours is not all of it

# Whole pages are sampled, of a table that may hold several models.
_SAMPLE = """
    SELECT vector::text FROM (
        SELECT vector FROM embeddings_embedding TABLESAMPLE SYSTEM (%s) WHERE model_id = %s LIMIT %s
    ) sampled ORDER BY random() LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class Found:
    """One look at an index. recall: with stored vectors or with means of them, whichever is lower.

    sample: searches. Milliseconds are the median of one.
    """

    effort: int
    recall: float
    sample: int
    index_ms: float
    exact_ms: float

    @property
    def serves(self) -> bool:
        return self.recall >= TARGET


@dataclass(frozen=True, slots=True)
class _Truth:
    """between: the question is a mean of stored vectors."""

    question: str
    between: bool
    neighbours: int  # K, or all there are
    farthest: float  # distance of the last of them


def measure(index: Index, *, rows: int, effort: int | None) -> Found | None:
    """The index at the least effort that is enough, or the most if none is; None where it takes too long.

    effort: what it is used with now, and stays with while that is neither too little nor far too much.
    """
    try:
        truths, exact_ms = _truths(index, _questions(index, rows))
        if not truths:
            return None
        return _choose(index, effort, lambda tried: _look(index, truths, tried, exact_ms))
    except OperationalError as exc:  # a statement took longer than its time
        log.warning("vector index not measured", extra={"index": index.name, "reason": str(exc)[:200]})
        return None


def _choose(index: Index, effort: int | None, look: Callable[[int], Found]) -> Found:
    efforts = index.efforts()
    start = min(effort or USUAL_EFFORT[index.kind], efforts[-1])
    found = look(start)
    if found.recall < (RAISED_TO if effort is None else TARGET):
        for tried in (more for more in efforts if more > start):
            found = look(tried)
            if found.recall >= RAISED_TO:
                break
    elif found.recall > LOWERED_FROM:
        for tried in (less for less in reversed(efforts) if less < start):
            if (cheaper := look(tried)).recall < RAISED_TO:
                break
            found = cheaper
    return found


def _questions(index: Index, rows: int) -> list[tuple[str, bool]]:
    """A stored vector and a mean of three in turn, and whether it is a mean."""
    wanted = SAMPLE * _SPARE
    percent = min(100.0, 100.0 * wanted * 4 / max(1, rows))
    found = execute(_SAMPLE, [percent, index.model_id, wanted, SAMPLE])
    if len(found) < min(SAMPLE, rows):
        found = execute(_SAMPLE, [100, index.model_id, wanted, SAMPLE])
    vectors = [np.array(json.loads(text), dtype=np.float32) for (text,) in found]
    unit = [vector / np.linalg.norm(vector) for vector in vectors]
    return [(vector_text(_asked(unit, n)), n % 2 == 1) for n in range(len(unit))]


def _asked(vectors: Sequence[Vector], n: int) -> Vector:
    return vectors[n] if n % 2 == 0 else vectors[n] + vectors[n - 1] + vectors[n - 2]


def _truths(index: Index, questions: Sequence[tuple[str, bool]]) -> tuple[list[_Truth], float]:
    """The exact neighbourhoods, as many as the time allows; and the milliseconds of one."""
    statement = exact_search(index.model_id, SQL(""))
    truths, times, until = [], [], time.monotonic() + BUDGET_S
    for question, between in questions:
        distances, took = _search(statement, question, ())
        truths.append(_Truth(question, between, len(distances), distances[-1]))
        times.append(took)
        if time.monotonic() > until and len(truths) >= FEWEST:
            break
    return truths, statistics.median(times) if times else 0.0


def _look(index: Index, truths: Sequence[_Truth], effort: int, exact_ms: float) -> Found:
    statement, setup = index.search(SQL("")), index.setup(effort)
    shares: dict[bool, list[float]] = {False: [], True: []}
    times = []
    for truth in truths:
        distances, took = _search(statement, truth.question, setup)
        hits = sum(distance <= truth.farthest + _EPSILON for distance in distances)
        shares[truth.between].append(hits / truth.neighbours)
        times.append(took)
    recall = min(statistics.mean(found) for found in shares.values() if found)
    return Found(effort, recall, len(truths), statistics.median(times), exact_ms)


@transaction.atomic
def _search(statement: Composed, question: str, setup: Sequence[SQL]) -> tuple[list[float], float]:
    """Distances of the K nearest, closest first, and the milliseconds that it took."""
    for each in (SQL(f"SET LOCAL statement_timeout = {STATEMENT_MS}"), *setup):
        execute(each.as_string(None))
    started = time.monotonic()
    rows = execute(statement.as_string(None), {"vector": question, "limit": K})
    return [distance for _, distance in rows], (time.monotonic() - started) * 1000
