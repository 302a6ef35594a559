"""The statements by which workers share evaluations: who has one in hand, and what is stored of it.

A lease ends by the database's clock; a worker that died holds nobody up for longer. All run in the caller's
transaction.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

import json
from collections.abc import Sequence
from uuid import UUID

from knowlex.db.threads import execute
from rag.evaluation.outcomes import Outcome
from rag.models import Evaluation

LEASE_S = 12
MAX_ATTEMPTS = 5
GAVE_UP = f"The worker ended without a result {MAX_ATTEMPTS} times at the same question."

_OPEN = "status IN ('pending', 'running')"
_FREE = f"{_OPEN} AND (lease IS NULL OR leased_until < clock_timestamp())"
# The one that has waited longest: each gets its turn, however many there are.
_CLAIM = f"""
    UPDATE rag_evaluation SET lease = %(lease)s, status = 'running', attempts = attempts + 1,
        leased_until = clock_timestamp() + make_interval(secs => {LEASE_S}), taken_at = clock_timestamp(),
        started_at = coalesce(started_at, statement_timestamp())
    WHERE id = (
        SELECT id FROM rag_evaluation WHERE {_FREE} AND attempts < {MAX_ATTEMPTS}
        ORDER BY taken_at NULLS FIRST, id LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING id
"""
_GIVE_UP = f"""
    UPDATE rag_evaluation SET status = 'failed', error = %s, lease = NULL, leased_until = NULL,
        completed_at = statement_timestamp()
    WHERE {_FREE} AND attempts >= {MAX_ATTEMPTS}
"""
_DUE = f"SELECT count(*) FROM rag_evaluation WHERE {_FREE}"
_RENEW = f"""
    UPDATE rag_evaluation SET leased_until = clock_timestamp() + make_interval(secs => {LEASE_S})
    WHERE id = %s AND lease = %s
"""
_RELEASE = "UPDATE rag_evaluation SET lease = NULL, leased_until = NULL WHERE id = %s AND lease = %s"
_ADVANCE = """
    UPDATE rag_evaluation SET done = %(after)s, attempts = 0
    WHERE id = %(id)s AND lease = %(lease)s AND done = %(before)s RETURNING id
"""
_IS_AT = "SELECT 1 FROM rag_evaluation WHERE id = %(id)s AND lease = %(lease)s AND done = %(after)s"
_END = """
    UPDATE rag_evaluation SET status = %(status)s, error = %(error)s, summary = %(summary)s::jsonb,
        lease = NULL, leased_until = NULL, completed_at = statement_timestamp()
    WHERE id = %(id)s AND lease = %(lease)s RETURNING id
"""
# Locked, so that none goes between this look at it and the storing of what quotes it.
_STILL_THERE = "SELECT id FROM documents_document WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"


class LeaseLost(Exception):
    """The evaluation was deleted, or another worker has taken it over: what was done is thrown away."""


def claim(lease: UUID) -> Evaluation | None:
    """The run that has waited longest for its turn; None if there is none."""
    rows = execute(_CLAIM, {"lease": lease})
    return Evaluation.objects.get(id=rows[0][0]) if rows else None


def give_up_hopeless() -> None:
    """Fail what has ended its worker too often."""
    execute(_GIVE_UP, [GAVE_UP])


def due() -> int:
    """How many runs nobody has in hand."""
    return int(execute(_DUE)[0][0])


def renew(evaluation_id: UUID, lease: UUID) -> None:
    execute(_RENEW, [evaluation_id, lease])


def release(evaluation_id: UUID, lease: UUID) -> None:
    execute(_RELEASE, [evaluation_id, lease])


def still_there(document_ids: Sequence[UUID]) -> set[UUID]:
    return {row[0] for row in execute(_STILL_THERE, [list(document_ids)])} if document_ids else set()


def advance(evaluation_id: UUID, lease: UUID, *, before: int, after: int) -> bool:
    """So many questions are being stored; False if they were already: only the answer to that was lost.

    Raises LeaseLost.
    """
    at = {"id": evaluation_id, "lease": lease, "before": before, "after": after}
    if execute(_ADVANCE, at):
        return True
    if not execute(_IS_AT, at):
        raise LeaseLost
    return False


def end(evaluation_id: UUID, lease: UUID, *, error: str, summary: object) -> None:
    """Failed if there is an error, else completed. Raises LeaseLost."""
    values = {"status": "failed" if error else "completed", "error": error, "summary": json.dumps(summary)}
    if not execute(_END, {**values, "id": evaluation_id, "lease": lease}):
        raise LeaseLost


def row_of(outcome: Outcome, there: set[UUID]) -> dict[str, object]:
    """The columns of a result. An answer that quotes a document which is gone by now is left out."""
    quotes_gone = not there.issuperset(outcome.cited)
    return {
        "values": outcome.values,
        "judged": [[round(told, 4), true] for told, true in outcome.judged],
        "found": outcome.found,
        "answered": outcome.answered,
        "answer": "" if quotes_gone else outcome.answer,
        "cited": [] if quotes_gone else outcome.cited,
        "latency_ms": outcome.latency_ms,
        "error": outcome.error,
    }
