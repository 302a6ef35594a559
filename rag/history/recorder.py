"""Queries on their way into the database: handed over in no time, written in batches, at most a second later
(those of a conversation that goes on at once).

The answer never waits for its record, and never fails with it. While the database is away, records wait.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from uuid import UUID

import psycopg
from django.conf import settings
from prometheus_client import Counter

from knowlex.base.errors import DatabaseUnavailable
from knowlex.base.event_loops import PerLoop
from knowlex.db.pool import fetch_all
from knowlex.runtime.metrics import REGISTRY
from rag.history.records import QueryRecord, RecordRow, build_row, read_creation_time

MAX_WRITE_DELAY_S = 0.75  # of the answer, by a server that has much to write
LOOKUP_INTERVAL_S = 0.05


def lookup_delays(query_id: UUID) -> Iterator[float]:
    """Yield for each look at the query the seconds to wait after it; one look if the query is old.

    An id tells when the question came, not when it was answered: that may take the whole time of a question.
    """
    age_s = (datetime.now(UTC) - read_creation_time(query_id)).total_seconds()
    may_be_new = -MAX_WRITE_DELAY_S < age_s < settings.ANSWER_TIMEOUT_S + MAX_WRITE_DELAY_S
    until = time.monotonic() + (MAX_WRITE_DELAY_S if may_be_new else 0.0)
    while time.monotonic() < until:
        yield LOOKUP_INTERVAL_S
    yield 0.0


# `here` holds the documents that are cited until the commit. Whoever deletes one waits, and then finds the
# citation (the trigger rag_quoted_documents_gone); or was first, and then nothing of it is written down.
_WRITE = """
    WITH new AS (
        INSERT INTO rag_query (id, key_id, user_id, face, conversation_id, original_query, rewritten_query,
            collection_ids, filters, settings, answered, reason, error, retrieved, confidence, cached,
            replay_of, latency_ms, stage_ms, embedding_model, reranker, rewriting, created_at)
        SELECT id, key_id, user_id, face, conversation_id, original_query, rewritten_query,
            collection_ids, filters, settings, answered, coalesce(reason, ''), coalesce(error, ''),
            coalesce(retrieved, 0), coalesce(confidence, 0), cached, replay_of, latency_ms,
            coalesce(stage_ms, '{}'), coalesce(embedding_model, ''), coalesce(reranker, ''),
            coalesce(rewriting, ''), created_at
        FROM jsonb_to_recordset(%(queries)s::jsonb) AS q (id uuid, key_id uuid, user_id int,
            face text, conversation_id text, original_query text, rewritten_query text, collection_ids uuid[],
            filters jsonb, settings jsonb, answered bool, reason text, error text, retrieved int,
            confidence float, cached bool, replay_of uuid, latency_ms int, stage_ms jsonb,
            embedding_model text, reranker text, rewriting text, created_at timestamptz)
        ON CONFLICT (id) DO NOTHING RETURNING id, created_at
    ), here AS MATERIALIZED (
        SELECT id FROM documents_document WHERE id = ANY(%(documents)s::uuid[]) ORDER BY id FOR KEY SHARE
    ), cited AS MATERIALIZED (
        SELECT c.*, here.id IS NULL AS gone
        FROM jsonb_to_recordset(%(citations)s::jsonb) AS c (query_id uuid, position int, citation_index int,
            chunk_id uuid, document_id uuid, title text, page_number int, quoted_text text, start_char int,
            end_char int, answer_start int, answer_end int, support text, similarity float)
        JOIN new ON new.id = c.query_id LEFT JOIN here ON here.id = c.document_id
    ), responses AS (
        INSERT INTO rag_response (query_id, answer, contradicted, quotes_gone, verification, model,
            prompt_version, input_tokens, output_tokens, created_at)
        SELECT r.query_id, CASE WHEN lost.query_id IS NULL THEN r.answer ELSE '' END,
            CASE WHEN lost.query_id IS NULL THEN r.contradicted ELSE '[]' END,
            lost.query_id IS NOT NULL, r.verification, r.model, r.prompt_version, r.input_tokens,
            r.output_tokens, new.created_at
        FROM jsonb_to_recordset(%(responses)s::jsonb) AS r (query_id uuid, answer text, contradicted jsonb,
            verification jsonb, model text, prompt_version text, input_tokens int, output_tokens int)
        JOIN new ON new.id = r.query_id
        LEFT JOIN (SELECT DISTINCT query_id FROM cited WHERE gone) lost ON lost.query_id = r.query_id
    ), citations AS (
        INSERT INTO rag_citation (response_id, position, citation_index, chunk_id, document_id, title,
            page_number, quoted_text, start_char, end_char, answer_start, answer_end, support, similarity,
            gone)
        SELECT query_id, position, citation_index, chunk_id, document_id,
            CASE WHEN gone THEN '' ELSE title END, page_number, CASE WHEN gone THEN '' ELSE quoted_text END,
            start_char, end_char, answer_start, answer_end, support, similarity, gone
        FROM cited ORDER BY query_id, position
    ), candidates AS (
        INSERT INTO rag_candidates (query_id, judged, chunk_ids, document_ids, dense_scores, sparse_scores,
            fused_scores, rerank_scores, relevances, results, context)
        SELECT c.* FROM json_to_recordset(%(candidates)s::json) AS c (query_id uuid, judged int,
            chunk_ids uuid[], document_ids uuid[], dense_scores float[], sparse_scores float[],
            fused_scores float[], rerank_scores float[], relevances float[], results int[], context int[])
        JOIN new ON new.id = c.query_id
    )
    SELECT count(*) AS written FROM new
"""


async def write_rows(rows: Sequence[RecordRow]) -> None:
    """Write all or none; what is there already stays. Raises DatabaseUnavailable, psycopg.Error."""
    documents = frozenset().union(*(row.document_ids for row in rows))
    await fetch_all(
        _WRITE,
        {
            "documents": "{" + ",".join(id_.hex for id_ in documents) + "}",
            "queries": _join_json(row.query for row in rows),
            "responses": _join_json(row.response for row in rows),
            "citations": _join_json(row.citations for row in rows),
            "candidates": _join_json(row.candidates for row in rows),
        },
    )


def _join_json(parts: Iterable[bytes]) -> str:
    return (b"[" + b",".join(filter(None, parts)) + b"]").decode()


log = logging.getLogger(__name__)

FLUSH_INTERVAL_S = 0.25
BATCH = 100
MAX_WAITING = 4000  # about 8 kB each
FLUSH_TIMEOUT_S = 3.0


_recorded = Counter(
    "knowlex_queries_recorded",
    "Questions written to the database, or lost: for want of room, or that could not be stored.",
    ["result"],
    registry=REGISTRY,
)
_written, _lost = _recorded.labels("written"), _recorded.labels("lost")


class Recorder:
    """Records the queries of one event loop. away: the last write failed, so nobody waits for the next."""

    def __init__(self) -> None:
        self._waiting: deque[RecordRow] = deque()
        self._writing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._awaited = asyncio.Event()
        self.away = False

    def add(self, record: QueryRecord) -> None:
        """Take a record; it is encoded as soon as the loop has nothing more urgent to do."""
        asyncio.get_running_loop().call_soon(self._take, record)

    def holds(self, query_id: UUID) -> bool:
        return any(row.query_id == query_id for row in tuple(self._waiting))

    async def flush(self) -> None:
        """Write what waits, and wait for what is being written; keep it if the database cannot be reached."""
        await asyncio.sleep(0)  # for what was handed over just now
        async with self._writing:
            while self._waiting:
                batch = [self._waiting[n] for n in range(min(BATCH, len(self._waiting)))]
                if not await self._written(batch):
                    return
                self._forget(batch)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self.flush()
        if self._waiting:
            self._lose(len(self._waiting), "the database is away")

    def _take(self, record: QueryRecord) -> None:
        try:
            self._waiting.append(build_row(record))
        except Exception as exc:  # noqa: BLE001  # its answer is on its way, and the next record is another
            self._lose(1, type(exc).__name__)
            return
        if len(self._waiting) > MAX_WAITING:
            self._waiting.popleft()
            self._lose(1, "too many wait")
        if record.conversation_id != str(record.query_id):
            self._awaited.set()  # the next question of the conversation may come to another web server
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._flush_later())

    async def _flush_later(self) -> None:
        while self._waiting:
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_INTERVAL_S):
                    await self._awaited.wait()
            self._awaited.clear()
            await self.flush()

    async def _written(self, batch: list[RecordRow]) -> bool:
        """Write a batch; return False if the database cannot be reached."""
        try:
            await write_rows(batch)
        except DatabaseUnavailable:
            self.away = True
            log.warning("queries not recorded yet", extra={"waiting": len(self._waiting)})
            return False
        except psycopg.Error as exc:
            return await self._written_one_by_one(batch, exc)
        self.away = False
        _written.inc(len(batch))
        return True

    async def _written_one_by_one(self, batch: list[RecordRow], exc: psycopg.Error) -> bool:
        """Write one by one: one that the database refuses is no reason to lose the others."""
        if len(batch) == 1:
            self._lose(1, type(exc).__name__)
            return True
        return all([await self._written([row]) for row in batch])

    def _forget(self, batch: list[RecordRow]) -> None:
        """Drop what was written; the oldest may have been dropped meanwhile."""
        written = {row.query_id for row in batch}
        while self._waiting and self._waiting[0].query_id in written:
            self._waiting.popleft()

    def _lose(self, count: int, reason: str) -> None:
        _lost.inc(count)
        log.error("queries lost", extra={"count": count, "reason": reason})


recorder: PerLoop[Recorder] = PerLoop(Recorder)


def record_query(asked: QueryRecord) -> None:
    """Have a query written down, unless the settings forbid it. From an event loop; never raises."""
    if settings.QUERY_LOG:
        recorder.get().add(asked)


def flush_all_loops() -> None:
    """Write all records, from a thread: who reads after an answer finds its query. Waits FLUSH_TIMEOUT_S
    at most.
    """
    until = time.monotonic() + FLUSH_TIMEOUT_S
    for loop, one in recorder.everywhere():
        if loop.is_running() and not one.away:
            with suppress(TimeoutError):
                flushing = asyncio.run_coroutine_threadsafe(one.flush(), loop)
                flushing.result(max(0.0, until - time.monotonic()))


async def flush_current_loop() -> None:
    """Write the records of this event loop."""
    if not recorder.get().away:
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_TIMEOUT_S):
                await recorder.get().flush()


def is_pending(query_id: UUID) -> bool:
    """Tell whether the query is known here and not written yet."""
    return any(one.holds(query_id) for _, one in recorder.everywhere())
