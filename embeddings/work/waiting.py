"""Waiting on the event loop until vectors are stored, and delivered to an external vector store."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from embeddings.types import RequestProgress, RequestScope
from knowlex.base.errors import DependencyUnavailable, EmbeddingIncomplete
from knowlex.db import pool

DELIVERY_PATIENCE_S = 60.0  # without a vector that arrived, with workers that say nothing
DOWN_PATIENCE_S = 3.0  # the same, with a store that has failed
DELIVERY_POLL_S, MAX_DELIVERY_POLL_S = 0.05, 1.0
COUNTED = 10_000

# Those that wait longest, so that progress is seen however many there are.
_WAITING = f"""
    SELECT count(*) AS waiting, coalesce(min(w.version), 0) AS first,
        coalesce((SELECT max(version) FROM embeddings_outboxentry), 0) AS last,
        coalesce(max(w.error), '') AS refused,
        coalesce((SELECT error FROM embeddings_outsidestore WHERE failures > 0), '') AS down,
        NOT coalesce((SELECT filled FROM embeddings_outsidestore), true) AS filling
    FROM (
        SELECT o.version, o.error FROM embeddings_outboxentry o
        JOIN documents_chunk c ON c.id = o.chunk_id JOIN documents_document d ON d.id = c.document_id
        WHERE o.model_id = %(model)s AND (%(until)s::bigint IS NULL OR o.version <= %(until)s)
          AND (%(allowed)s::uuid[] IS NULL OR d.collection_id = ANY(%(allowed)s))
          AND (%(document)s::uuid IS NULL OR d.id = %(document)s)
        ORDER BY o.version LIMIT {COUNTED}
    ) w
"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True)
class _OutboxState:
    """first: version of what waits longest; last: of the latest entry of all. refused: what the store said of
    one of them. down: what it failed with. filling: not all is in the outbox yet that it is to get.
    """

    waiting: int
    first: int
    last: int
    refused: str
    down: str
    filling: bool

    @property
    def reason(self) -> str:
        return self.down or self.refused

    @property
    def count(self) -> str:
        return f"{self.waiting}" if self.waiting < COUNTED else f"{COUNTED} or more"


async def wait_until_delivered(requested: RequestScope) -> None:
    """Wait until the store has the scope's vectors as they are now; return at once where there is no store.

    Raises DependencyUnavailable if it does not get them (they follow by themselves), DatabaseUnavailable.
    """
    last = await _read_outbox(requested, None)
    until, since, pause = last.last, time.monotonic(), DELIVERY_POLL_S
    while last.waiting or last.filling:
        await asyncio.sleep(pause)
        pause = min(MAX_DELIVERY_POLL_S, pause * 1.3)
        now = await _read_outbox(requested, None if last.filling else until)
        if (now.waiting, now.first) != (last.waiting, last.first):
            since = time.monotonic()
        elif time.monotonic() - since > (DOWN_PATIENCE_S if now.reason else DELIVERY_PATIENCE_S):
            raise _undelivered_error(now)
        until, last = max(until, now.last) if last.filling else until, now


async def _read_outbox(requested: RequestScope, until: int | None) -> _OutboxState:
    allowed = requested.collection_ids
    scope = {"model": requested.model_id, "document": requested.document_id, "until": until}
    row: dict[str, Any] | None = await pool.fetch_one(
        _WAITING, {**scope, "allowed": None if allowed is None else list(allowed)}
    )
    return _OutboxState(**(row or {}))


def _undelivered_error(state: _OutboxState) -> DependencyUnavailable:
    reason = state.reason.rstrip(".") or f"nothing reached it for {DELIVERY_PATIENCE_S:.0f} s"
    return DependencyUnavailable(
        f"The vectors of all chunks are stored, but {state.count} of them not yet in the vector store: "
        f"{reason}. They follow by themselves once it can be used; nothing has to be called again."
    )


PATIENCE_S = 60.0  # without a change, and without a worker that is at work at all
POLL_S = 0.05
MAX_POLL_S = 2.0

_IN_SCOPE = """
    FROM embeddings_embeddingrequest q JOIN documents_chunk c ON c.id = q.chunk_id
    JOIN documents_document d ON d.id = c.document_id
    WHERE q.model_id = %(model)s AND q.id <= %(last)s
      AND (%(allowed)s::uuid[] IS NULL OR d.collection_id = ANY(%(allowed)s))
      AND (%(document)s::uuid IS NULL OR d.id = %(document)s)
"""
_PROGRESS = f"""
    SELECT coalesce((SELECT embedded FROM embeddings_embeddingrun WHERE id = %(run)s), 0) AS embedded,
        count(*) FILTER (WHERE q.failed_at IS NULL) AS waiting,
        (SELECT count(*) FROM embeddings_embeddingrequest
         WHERE lease IS NOT NULL AND leased_until > statement_timestamp()) AS leased,
        count(*) FILTER (WHERE q.failed_at IS NOT NULL) AS failed,
        coalesce(min(q.error) FILTER (WHERE q.failed_at IS NOT NULL), '') AS reason
    {_IN_SCOPE}
"""  # noqa: S608 - constants only


async def progress_of(requested: RequestScope) -> RequestProgress:
    """Look once. Raises DatabaseUnavailable."""
    row = await pool.fetch_one(
        _PROGRESS,
        {
            "run": requested.run_id,
            "model": requested.model_id,
            "last": requested.last_request,
            "document": requested.document_id,
            "allowed": None if requested.collection_ids is None else list(requested.collection_ids),
        },
    )
    return RequestProgress(**(row or {}))


async def wait_until_done(requested: RequestScope) -> int:
    """Wait until nothing in the call's scope is waiting any more; returns how many chunks this call embedded.

    With a vector store outside PostgreSQL, also until that has what is in the scope.
    Raises EmbeddingIncomplete if some in the scope could not be embedded, DependencyUnavailable if no worker
    has taken up the work for a minute or the vector store is down (it stays on record), DatabaseUnavailable.
    """
    last, since = await progress_of(requested), time.monotonic()
    while last.waiting:
        await asyncio.sleep(min(MAX_POLL_S, POLL_S + last.waiting / 20_000))
        now = await progress_of(requested)
        if now.leased or now != last:
            since = time.monotonic()
        elif time.monotonic() - since > PATIENCE_S:
            raise DependencyUnavailable(
                f"No worker has taken up the work for {PATIENCE_S:.0f} s; {now.waiting} chunk(s) stay queued "
                "and will be embedded as soon as one does."
            )
        last = now
    await wait_until_delivered(requested)
    if last.failed:
        raise _incomplete_error(last)
    return last.embedded


def _incomplete_error(progress: RequestProgress) -> EmbeddingIncomplete:
    reason = progress.reason.rstrip(".") or "unknown reason"
    return EmbeddingIncomplete(
        f"Embedded {progress.embedded} chunk(s); {progress.failed} could not be embedded: {reason}. "
        "Call generate again to retry them.",
        details={"embedded": progress.embedded, "failed": progress.failed, "left": progress.failed},
    )
