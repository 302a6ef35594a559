"""How often each collection was asked, by day: counted in memory, written once a second in one statement."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from uuid import UUID

import psycopg

from knowlex.base.errors import DatabaseUnavailable
from knowlex.base.event_loops import PerLoop
from knowlex.db.pool import fetch_all
from knowlex.db.threads import execute, with_retries

log = logging.getLogger(__name__)

FLUSH_INTERVAL_S = 1.0
FLUSH_TIMEOUT_S = 5.0
MAX_WAITING = 10_000  # of (collection, day), while the database cannot be reached

# A collection that was deleted meanwhile is left out; locked, so that it cannot go before the row is there.
_ADD = """
    INSERT INTO rag_querycount AS q (collection_id, day, questions)
    SELECT c.id, n.day, n.questions
    FROM unnest(%s::uuid[], %s::date[], %s::int[]) AS n (collection_id, day, questions)
    JOIN documents_collection c ON c.id = n.collection_id ORDER BY c.id, n.day
    ON CONFLICT (collection_id, day) DO UPDATE SET questions = q.questions + excluded.questions
"""
_COUNT_OF_MONTH = """
    SELECT coalesce(sum(questions), 0) FROM rag_querycount
    WHERE collection_id = %s AND day > (now() AT TIME ZONE 'UTC')::date - 30
"""


class QueryCounts:
    """Counts the questions of one event loop. Adding is cheap, and nobody waits for the database."""

    def __init__(self) -> None:
        self._waiting: Counter[tuple[UUID, str]] = Counter()
        self._flushing: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()

    def add(self, collection_ids: Iterable[UUID]) -> None:
        """Count a question to these collections."""
        if len(self._waiting) < MAX_WAITING:
            today = datetime.now(UTC).date().isoformat()
            self._waiting.update((id_, today) for id_ in collection_ids)
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush_later())

    async def flush(self) -> None:
        """Write what waits, and wait for what is being written; keep it if the database cannot be reached."""
        async with self._writing:
            taken, self._waiting = self._waiting, Counter()
            if not taken:
                return
            ids, days = zip(*taken, strict=True)
            try:
                await fetch_all(f"{_ADD} RETURNING 1", [list(ids), list(days), list(taken.values())])
            except (DatabaseUnavailable, psycopg.Error) as exc:
                log.warning("questions not counted yet", extra={"error": type(exc).__name__})
                self._waiting.update(taken)

    async def close(self) -> None:
        if self._flushing is not None:
            async with self._writing:  # what is being written would be lost, or counted twice
                self._flushing.cancel()
            with suppress(asyncio.CancelledError):
                await self._flushing
        await self.flush()

    async def _flush_later(self) -> None:
        while self._waiting:
            await asyncio.sleep(FLUSH_INTERVAL_S)
            await self.flush()


query_counts: PerLoop[QueryCounts] = PerLoop(QueryCounts)


def count_questions_of_month(collection_id: UUID) -> int:
    """Count the questions to a collection in the last 30 days (UTC); not for an event loop."""
    _flush_all_loops()
    return int(with_retries(lambda: execute(_COUNT_OF_MONTH, [collection_id]))[0][0])


def _flush_all_loops() -> None:
    """Write all counts, from a thread: who reads a count after an answer finds its question in it."""
    for loop, counts in query_counts.everywhere():
        if loop.is_running():
            with suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(counts.flush(), loop).result(FLUSH_TIMEOUT_S)
