"""How things stand when /metrics is asked: counted in the database and in the broker, each within a second.

What cannot be counted is left out, and said so by `knowlex_up`: a scrape never fails, and never hangs.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

import redis.asyncio
from django.conf import settings
from prometheus_client import CollectorRegistry, Gauge
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from knowlex.base.errors import KnowlexError
from knowlex.base.event_loops import PerLoop
from knowlex.db.pool import fetch_all, fetch_one
from knowlex.runtime import liveness

LIMIT_S = 1.0
T = TypeVar("T")
_COUNTS = """
    SELECT (SELECT count(*) FROM documents_document) AS documents,
        (SELECT count(*) FROM documents_chunk) AS chunks,
        (SELECT count(*) FROM embeddings_embeddingrequest WHERE failed_at IS NULL) AS pending_chunks,
        (SELECT count(*) FROM embeddings_embeddingrequest WHERE failed_at IS NOT NULL) AS failed_chunks,
        (SELECT count(*) FROM documents_ingestitem
         WHERE status IN ('pending', 'processing')) AS open_documents,
        (SELECT count(*) FROM embeddings_outboxentry) AS outbox_pending
"""
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


async def state() -> CollectorRegistry:
    """A registry of its own for each scrape, so that nothing of an earlier one is told again."""
    registry = CollectorRegistry()
    counts, indexes, broker = await asyncio.gather(
        _in_time(fetch_one(_COUNTS)), _in_time(fetch_all(_INDEXES)), _in_time(_broker())
    )
    up = Gauge("knowlex_up", "Whether a part could be asked.", ["part"], registry=registry)
    up.labels("database").set(counts is not None)
    up.labels("broker").set(broker is not None)
    for name, value in (counts or {}).items():
        Gauge(f"knowlex_{name}", _HELP[name], registry=registry).set(value)
    if broker is not None:
        _tell_broker(registry, *broker)
    _tell_indexes(registry, indexes or [])
    return registry


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
