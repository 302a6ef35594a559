"""Waiting for embeddings on the event loop: by asking the database now and then, without a thread."""

import asyncio
import time

from embeddings.external.waiting import wait_until_delivered
from embeddings.types import RequestProgress, RequestScope
from knowlex.base.errors import DependencyUnavailable, EmbeddingIncomplete
from knowlex.db import pool

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
    """One look. Raises DatabaseUnavailable."""
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
