"""How questions were answered, day by day: what charts are drawn from. Not for an event loop."""

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from documents.access import Access
from documents.library.collection_statistics import CollectionCounts, collection_stats
from embeddings.vectors.rows import vector_bytes
from knowlex.db.threads import execute, with_retries
from rag.history.query_counts import count_questions_of_month
from rag.history.recorder import flush_all_loops
from rag.history.records import CLIENT_LEFT


@dataclass(frozen=True, slots=True)
class CollectionStatistics:
    """Figures of a collection. vector_bytes: of vectors and of the lexical index's rows. questions: of
    the last 30 days.
    """

    counts: CollectionCounts
    vector_bytes: int
    questions: int


def fetch_collection_statistics(collection_id: UUID, *, access: Access) -> CollectionStatistics:
    """Fetch the figures in four statements, whatever the size. Raises NotFound, Forbidden."""
    counts = collection_stats(collection_id, access=access)
    stored = vector_bytes(collection_id, chunks=counts.chunks, access=access)
    return CollectionStatistics(counts, stored, count_questions_of_month(collection_id))


MAX_DAYS = 366

# The latency of what came from the cache would hide that of the rest. A word of feedback counts on the day of
# its last change.
_BY_DAY = """
    WITH days AS (
        SELECT d::date AS day FROM generate_series(
            (now() AT TIME ZONE 'UTC')::date - (%(days)s::int - 1), (now() AT TIME ZONE 'UTC')::date,
            interval '1 day') AS d
    ), since AS (
        SELECT min(day)::timestamp AT TIME ZONE 'UTC' AS moment FROM days
    ), asked AS (
        SELECT (q.created_at AT TIME ZONE 'UTC')::date AS day, count(*) AS questions,
            count(*) FILTER (WHERE q.answered) AS answered,
            count(*) FILTER (WHERE q.error NOT IN ('', %(left)s)) AS failed,
            count(*) FILTER (WHERE q.cached) AS cached,
            percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY q.latency_ms)
                FILTER (WHERE q.error = '' AND NOT q.cached) AS latencies,
            avg(r.faithfulness_score) AS faithfulness, count(r.faithfulness_score) AS judged,
            avg(r.answer_relevance) AS answer_relevance, count(r.answer_relevance) AS relevance_judged,
            coalesce(sum(r.input_tokens), 0) AS input_tokens,
            coalesce(sum(r.output_tokens), 0) AS output_tokens
        FROM rag_query q LEFT JOIN rag_response r ON r.query_id = q.id
        WHERE q.created_at >= (SELECT moment FROM since) AND {read} GROUP BY 1
    ), said AS (
        SELECT (f.updated_at AT TIME ZONE 'UTC')::date AS day,
            count(*) FILTER (WHERE f.rating = 'thumbs_up') AS up,
            count(*) FILTER (WHERE f.rating = 'thumbs_down') AS down
        FROM rag_feedback f JOIN rag_query q ON q.id = f.query_id
        WHERE f.updated_at >= (SELECT moment FROM since) AND {read} GROUP BY 1
    )
    SELECT day, coalesce(questions, 0), coalesce(answered, 0), coalesce(failed, 0), coalesce(cached, 0),
        latencies[1], latencies[2], coalesce(up, 0), coalesce(down, 0), faithfulness, coalesce(judged, 0),
        answer_relevance, coalesce(relevance_judged, 0), coalesce(input_tokens, 0), coalesce(output_tokens, 0)
    FROM days LEFT JOIN asked USING (day) LEFT JOIN said USING (day) ORDER BY day
"""
_OUTCOMES = """
    SELECT (q.created_at AT TIME ZONE 'UTC')::date AS day,
        CASE WHEN q.error = %(left)s THEN 'left' WHEN q.error <> '' THEN 'failed'
            WHEN q.answered AND q.cached THEN 'cached' WHEN q.answered THEN 'answered'
            ELSE q.reason END AS outcome, count(*)
    FROM rag_query q
    WHERE q.created_at >= (
        (now() AT TIME ZONE 'UTC')::date - (%(days)s::int - 1))::timestamp AT TIME ZONE 'UTC' AND {read}
    GROUP BY 1, 2
"""
# Whether a query read the collection, if one is asked for.
_ALL, _THOSE = "true", "%(collection)s = ANY(q.collection_ids)"


@dataclass(frozen=True, slots=True)
class DayStatistics:
    """One day (UTC). answered, failed, cached: of the questions; the others had no answer, or their client
    left before it.

    median_ms, p95_ms: latency of those that did not fail and did not come from the cache, None without any.
    faithfulness, answer_relevance: means [0, 1] of those that were judged, as many as judged and
    relevance_judged say; None without any.
    """

    day: date
    questions: int
    answered: int
    failed: int
    cached: int
    median_ms: float | None
    p95_ms: float | None
    thumbs_up: int
    thumbs_down: int
    faithfulness: float | None
    judged: int
    answer_relevance: float | None
    relevance_judged: int
    input_tokens: int
    output_tokens: int


def fetch_days(days: int = 30, collection: UUID | None = None) -> list[DayStatistics]:
    """Fetch the last `days` (at most 366), oldest first, those without questions included; one statement.

    collection: only of queries that read it.
    """
    return [DayStatistics(*row) for row in _fetch(_BY_DAY, days, collection)]


def fetch_outcomes(days: int = 30, collection: UUID | None = None) -> dict[date, dict[str, int]]:
    """Count the outcomes of each day with questions; one statement. They are `answered`, `cached`
    (answered from the cache), `failed`, `left` (by the client), and the reasons for no answer.
    """
    found: dict[date, dict[str, int]] = {}
    for day, outcome, count in _fetch(_OUTCOMES, days, collection):
        found.setdefault(day, {})[outcome] = count
    return found


def _fetch(sql: str, days: int, collection: UUID | None) -> list[tuple[Any, ...]]:
    flush_all_loops()
    sql = sql.replace("{read}", _ALL if collection is None else _THOSE)
    asked = {"days": max(1, min(days, MAX_DAYS)), "collection": collection, "left": CLIENT_LEFT}
    return with_retries(lambda: execute(sql, asked))
