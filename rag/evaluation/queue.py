"""The queue of evaluations: which one gets its turn next, and what its worker records of it.

All statements run in the caller's transaction. Webhooks are told of an end in the one that records it.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction

from documents.webhooks import EVALUATION_ENDED, publish
from knowlex.db.leases import LeaseLost, LeaseQueue, change_leased
from knowlex.db.threads import execute
from rag.evaluation.outcomes import Outcome
from rag.models import Evaluation

MAX_ATTEMPTS = 5
MAX_DUE = 1000
_TOLD = "w.id, w.question_set_id, w.status, w.error, w.total, w.created_at, w.completed_at"
GAVE_UP = f"The worker ended without a result {MAX_ATTEMPTS} times at the same question."

RUNS = LeaseQueue(
    table="rag_evaluation",
    key=("id",),
    waiting="w.status IN ('pending', 'running')",
    lease_s=12,
    max_attempts=MAX_ATTEMPTS,
    given_up="status = 'failed', error = %(error)s, completed_at = statement_timestamp()",
)
# The one that has waited longest: each gets its turn, however many there are.
_CLAIM = RUNS.claim_sql(
    f"""
        SELECT w.id FROM rag_evaluation w WHERE {RUNS.free} AND w.attempts < {MAX_ATTEMPTS}
        ORDER BY w.taken_at NULLS FIRST, w.id LIMIT 1 FOR UPDATE SKIP LOCKED
    """,
    changes="""
        status = 'running', taken_at = clock_timestamp(),
        started_at = coalesce(started_at, statement_timestamp())
    """,
    returning="w.id",
)
_ADVANCE = RUNS.leased_sql("done = %(after)s, attempts = 0", where="w.id = %(id)s AND w.done = %(before)s")
_IS_AT = "SELECT 1 FROM rag_evaluation WHERE id = %(id)s AND lease = %(lease)s AND done = %(after)s"
_END = RUNS.leased_sql(
    f"""
        status = %(status)s, error = %(error)s, summary = %(summary)s::jsonb,
        completed_at = statement_timestamp(), {RUNS.release_columns}
    """,
    where="w.id = %(id)s",
    returning=_TOLD,
)
# Locked, so that none goes between this look at it and the storing of what quotes it.
_STILL_THERE = "SELECT id FROM documents_document WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"


def claim(lease: UUID) -> Evaluation | None:
    """Claim the evaluation that has waited longest for its turn; return None if there is none."""
    rows = execute(_CLAIM, {"lease": lease})
    return Evaluation.objects.get(id=rows[0][0]) if rows else None


def give_up_hopeless() -> None:
    """Fail the evaluations that have ended their workers too often."""
    for row in RUNS.give_up_hopeless({"error": GAVE_UP}, returning=_TOLD):
        _publish_end(*row)


def count_due() -> int:
    """Count the evaluations that nobody holds, up to MAX_DUE."""
    return RUNS.count_unheld(limit=MAX_DUE)


def renew(evaluation_id: UUID, lease: UUID) -> None:
    RUNS.renew(lease, key=evaluation_id)


def release(evaluation_id: UUID, lease: UUID) -> None:
    RUNS.release(lease, key=evaluation_id)


def lock_existing(document_ids: Sequence[UUID]) -> set[UUID]:
    return {row[0] for row in execute(_STILL_THERE, [list(document_ids)])} if document_ids else set()


def record_progress(evaluation_id: UUID, lease: UUID, *, before: int, after: int) -> bool:
    """Record that so many questions are stored; return False if they were already, as after a lost reply.

    Raises LeaseLost.
    """
    at = {"id": evaluation_id, "lease": lease, "before": before, "after": after}
    if execute(_ADVANCE, at):
        return True
    if not execute(_IS_AT, at):
        raise LeaseLost
    return False


@transaction.atomic
def end(evaluation_id: UUID, lease: UUID, *, error: str, summary: object) -> None:
    """End the evaluation: failed if there is an error, else completed. Raises LeaseLost."""
    values = {"status": "failed" if error else "completed", "error": error, "summary": json.dumps(summary)}
    (row,) = change_leased(_END, {**values, "id": evaluation_id, "lease": lease})
    _publish_end(*row)


def _publish_end(
    id_: UUID, set_id: UUID, status: str, error: str, total: int, created_at: datetime, completed_at: datetime
) -> None:
    ended = {"evaluation_id": id_, "question_set_id": set_id, "status": status, "error": error or None}
    publish(
        EVALUATION_ENDED, {**ended, "total": total, "created_at": created_at, "completed_at": completed_at}
    )


def result_columns(outcome: Outcome, there: set[UUID]) -> dict[str, object]:
    """Return the columns of a result. An answer that quotes a deleted document is left out."""
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
