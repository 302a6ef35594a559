"""Waiting on the event loop until a vector store outside PostgreSQL has what a call asked for."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from embeddings.types import RequestScope
from knowlex.base.errors import DependencyUnavailable
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
    """Until the store has the vectors of the scope as they are now; at once where there is no such store.

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
            raise _undelivered(now)
        until, last = max(until, now.last) if last.filling else until, now


async def _read_outbox(requested: RequestScope, until: int | None) -> _OutboxState:
    allowed = requested.collection_ids
    scope = {"model": requested.model_id, "document": requested.document_id, "until": until}
    row: dict[str, Any] | None = await pool.fetch_one(
        _WAITING, {**scope, "allowed": None if allowed is None else list(allowed)}
    )
    return _OutboxState(**(row or {}))


def _undelivered(found: _OutboxState) -> DependencyUnavailable:
    reason = found.reason.rstrip(".") or f"nothing reached it for {DELIVERY_PATIENCE_S:.0f} s"
    return DependencyUnavailable(
        f"The vectors of all chunks are stored, but {found.count} of them not yet in the vector store: "
        f"{reason}. They follow by themselves once it can be used; nothing has to be called again."
    )
