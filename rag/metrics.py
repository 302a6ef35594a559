"""The metrics of answering: what is counted as answers go, and what is counted when /metrics is scraped.

Counting an answer takes a few microseconds and waits for no lock. What cannot be counted when /metrics is
scraped is left out, and said so by `knowlex_up`: a scrape never fails, and never hangs.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

import redis.asyncio
from django.conf import settings
from prometheus_client import CollectorRegistry, Counter, Histogram
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from knowlex.base.errors import KnowlexError
from knowlex.base.event_loops import PerLoop
from knowlex.db.pool import fetch_all, fetch_one
from knowlex.runtime import liveness, parts
from knowlex.runtime.metrics import REGISTRY, SECONDS, Gauge, by_labels
from knowlex.runtime.spending import daily_tokens
from rag.types.answer import Answer

LIMIT_S = 1.0
T = TypeVar("T")
COUNTED = 50_000  # rows; of more, PostgreSQL's own running count is told


def _count_rows(table: str) -> str:
    live = f"pg_stat_get_live_tuples('{table}'::regclass)"
    return f"CASE WHEN {live} < %(counted)s THEN (SELECT count(*) FROM {table}) ELSE {live} END"  # noqa: S608 - constants only


_COUNTS = f"""
    SELECT {_count_rows("documents_document")} AS documents, {_count_rows("documents_chunk")} AS chunks,
        (SELECT count(*) FROM embeddings_embeddingrequest WHERE failed_at IS NULL) AS pending_chunks,
        (SELECT count(*) FROM embeddings_embeddingrequest WHERE failed_at IS NOT NULL) AS failed_chunks,
        (SELECT count(*) FROM documents_ingestitem
         WHERE status IN ('pending', 'processing')) AS open_documents,
        (SELECT count(*) FROM embeddings_outboxentry) AS outbox_pending
"""  # noqa: S608 - constants only
_INDEXES = """
    SELECT m.name AS model, i.kind, i.recall, i.rows
    FROM embeddings_vectorindex i JOIN embeddings_embeddingmodel m ON m.id = i.model_id WHERE m.active
"""
_HELP = {
    "documents": "Documents stored.",
    "chunks": "Chunks stored.",
    "pending_chunks": "Chunks that wait for an embedding.",
    "failed_chunks": "Chunks that could not be embedded.",
    "outbox_pending": "Vectors that the vector store outside PostgreSQL is still to hear of.",
    "open_documents": "Documents of jobs that wait to be read, or are being read.",
}


async def collect_state() -> CollectorRegistry:
    """Make a registry for each scrape, so that nothing of an earlier one is reported again."""
    registry = CollectorRegistry()
    counts, indexes, broker, spent = await asyncio.gather(
        _in_time(fetch_one(_COUNTS, {"counted": COUNTED})),
        _in_time(fetch_all(_INDEXES)),
        _in_time(_broker()),
        daily_tokens.spent(),
    )
    up = Gauge("knowlex_up", "Whether a part could be asked.", ["part"], registry=registry)
    up.labels("database").set(counts is not None)
    up.labels("broker").set(broker is not None)
    for name, value in (counts or {}).items():
        Gauge(f"knowlex_{name}", _HELP[name], registry=registry).set(value)
    if broker is not None:
        _tell_broker(registry, *broker)
    _tell_indexes(registry, indexes or [])
    _tell_parts(registry)
    if settings.DAILY_TOKENS is not None:
        _tell_tokens(registry, spent, settings.DAILY_TOKENS)
    return registry


def _tell_tokens(registry: CollectorRegistry, spent: int | None, ceiling: int) -> None:
    told = "Tokens that models may take a UTC day."
    Gauge("knowlex_daily_tokens_ceiling", told, registry=registry).set(ceiling)
    if spent is not None:
        told = "Tokens that models have taken this UTC day."
        Gauge("knowlex_daily_tokens_spent", told, registry=registry).set(spent)


def _tell_broker(registry: CollectorRegistry, lengths: Mapping[str, int], workers: int) -> None:
    queue = Gauge("knowlex_queue_length", "Tasks that wait in the broker.", ["queue"], registry=registry)
    for name, length in lengths.items():
        queue.labels(name).set(length)
    Gauge("knowlex_workers", "Worker processes that are alive.", registry=registry).set(workers)


def _tell_indexes(registry: CollectorRegistry, rows: list[dict[str, Any]]) -> None:
    recall = Gauge(
        "knowlex_index_recall",
        "Measured share of the nearest neighbours that the vector index finds.",
        ["model", "kind"],
        registry=registry,
    )
    for row in rows:
        if row["recall"] is not None:
            recall.labels(row["model"], row["kind"]).set(row["recall"])


def _tell_parts(registry: CollectorRegistry) -> None:
    """Tell of those that `up` keeps running; of none elsewhere."""
    states = parts.read_states(settings.DATA_DIR)
    if not states:
        return
    running = Gauge("knowlex_part_running", "Whether a part serves.", ["part"], registry=registry)
    restarts = Gauge("knowlex_part_restarts", "How often `up` started it again.", ["part"], registry=registry)
    for name, state in states.items():
        running.labels(name).set(state.state == "running")
        restarts.labels(name).set(state.restarts)


async def _broker() -> tuple[dict[str, int], int]:
    client = _valkey.get()
    queues = [queue.name for queue in settings.CELERY_TASK_QUEUES]
    async with client.pipeline(transaction=False) as pipe:
        for queue in queues:
            pipe.llen(queue)
        lengths = await pipe.execute()
    return dict(zip(queues, lengths, strict=True)), await liveness.alive(client)


async def _in_time(work: Awaitable[T]) -> T | None:
    try:
        async with asyncio.timeout(LIMIT_S):
            return await work
    except (KnowlexError, RedisError, OSError, TimeoutError):
        return None


def _connect() -> redis.asyncio.Redis:
    return redis.asyncio.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=LIMIT_S,
        socket_connect_timeout=LIMIT_S,
        retry=Retry(NoBackoff(), 0),
    )


_valkey: PerLoop[Any] = PerLoop(_connect)


_answers = Counter(
    "knowlex_answers",
    "Questions answered, or why not: a reason, or an error's code.",
    ["face", "outcome"],
    registry=REGISTRY,
)
_seconds = Histogram(
    "knowlex_answer_seconds", "From request to answer.", ["face"], buckets=SECONDS, registry=REGISTRY
)
_stages = Histogram(
    "knowlex_stage_seconds", "A stage of an answer.", ["stage"], buckets=SECONDS, registry=REGISTRY
)
_tokens = Counter("knowlex_tokens", "Tokens of chat models.", ["model", "direction"], registry=REGISTRY)
_citations = Counter("knowlex_citations", "Checked citations sent.", ["support"], registry=REGISTRY)
_claims = Counter(
    "knowlex_claims",
    "Claims of answers: exact, supported, unverified, contradicted, uncited.",
    ["state"],
    registry=REGISTRY,
)


_answers_of, _seconds_of, _stages_of = by_labels(_answers), by_labels(_seconds), by_labels(_stages)
_tokens_of, _citations_of, _claims_of = by_labels(_tokens), by_labels(_citations), by_labels(_claims)


def count_answer(answer: Answer, *, face: str, cached: bool, latency_ms: float) -> None:
    """Count an answer. One that came out of the cache took no stage and cost no token."""
    _answers_of(face, answer.reason or "answered").inc()
    _seconds_of(face).observe(latency_ms / 1000)
    for citation in answer.citations:
        _citations_of(citation.support).inc()
    for state, count in asdict(answer.verification).items():
        _claims_of(state).inc(count)
    if not cached:
        _count_stages(answer.stage_ms)
        if answer.usage.input_tokens or answer.usage.output_tokens:
            _tokens_of(answer.usage.model, "input").inc(answer.usage.input_tokens)
            _tokens_of(answer.usage.model, "output").inc(answer.usage.output_tokens)


def count_failure(code: str, *, face: str, latency_ms: float) -> None:
    _answers_of(face, code).inc()
    _seconds_of(face).observe(latency_ms / 1000)


def _count_stages(stage_ms: Mapping[str, float]) -> None:
    for stage, milliseconds in stage_ms.items():
        _stages_of(stage).observe(milliseconds / 1000)
