"""The statements of the outbox: what a vector store outside PostgreSQL is still to hear of, and who tells it.

Triggers write it (migrations/sql/outbox.sql), in the transaction that changes a vector. Nobody here who holds
entries waits for a lock of theirs: what somebody is just changing is skipped, since it has to be told again
anyway.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from knowlex.db.leases import LeaseQueue
from knowlex.db.threads import execute

PUT_OFF_S, MAX_PUT_OFF_S = 2, 300  # of what the store refused: twice as long after each failure, up to this
RETRY_S, MAX_RETRY_S = 1, 30  # of a store that is down
PROBE_S = 60  # at most one process calls a store that is down within so long, unless it ends sooner

ENTRIES = LeaseQueue(table="embeddings_outboxentry", key=("model_id", "chunk_id"), waiting="true", lease_s=15)
_FREE = "(w.leased_until IS NULL OR w.leased_until < clock_timestamp())"
_CLAIM = ENTRIES.claim_sql(
    f"""
        SELECT w.model_id, w.chunk_id FROM embeddings_outboxentry w
        WHERE {_FREE} {{which}} AND EXISTS (
            SELECT FROM embeddings_outsidestore s WHERE s.fingerprint = %(fingerprint)s)
        {{order}} LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    """,
    returning="w.model_id, w.chunk_id, w.version",
)
_CLAIM_OLDEST = _CLAIM.format(which="", order="ORDER BY w.version")
_CLAIM_OF_CHUNKS = _CLAIM.format(
    which="AND w.chunk_id = ANY(%(chunks)s) AND w.model_id = %(model)s", order=""
)
_LEASED = """
    (w.model_id, w.chunk_id) IN (
        SELECT model_id, chunk_id FROM embeddings_outboxentry WHERE lease = %(lease)s FOR UPDATE SKIP LOCKED)
"""
_RENEW = ENTRIES.leased_sql(f"leased_until = {ENTRIES.until}", where=_LEASED)
_RELEASE = ENTRIES.leased_sql(ENTRIES.release_columns, where=_LEASED)
_GIVEN = """
    unnest(%(models)s::smallint[], %(chunks)s::uuid[], %(versions)s::bigint[]) g (model_id, chunk_id, version)
"""
_DONE = f"""
    DELETE FROM embeddings_outboxentry WHERE (model_id, chunk_id) IN (
        SELECT o.model_id, o.chunk_id FROM embeddings_outboxentry o JOIN {_GIVEN} USING (model_id, chunk_id)
        WHERE o.lease = %(lease)s AND o.version = g.version FOR UPDATE OF o SKIP LOCKED
    )
"""
# What was sent under a lease that had ended meanwhile may have overtaken what another worker sent: once more.
_LOST = f"""
    SELECT g.model_id, g.chunk_id FROM {_GIVEN} WHERE NOT EXISTS (
        SELECT FROM embeddings_outboxentry o
        WHERE o.model_id = g.model_id AND o.chunk_id = g.chunk_id AND o.lease = %(lease)s)
"""
_FAIL = f"""
    UPDATE embeddings_outboxentry SET lease = NULL, error = %(error)s, leased_until = clock_timestamp()
        + make_interval(secs => least({MAX_PUT_OFF_S}, {PUT_OFF_S} * power(2, least(attempts, 16) - 1)))
    WHERE (model_id, chunk_id) IN (
        SELECT model_id, chunk_id FROM embeddings_outboxentry
        WHERE lease = %(lease)s AND model_id = %(model)s AND chunk_id = ANY(%(chunks)s)
        FOR UPDATE SKIP LOCKED)
"""
_ADD = """
    INSERT INTO embeddings_outboxentry AS o (model_id, chunk_id, version, attempts, error, created_at)
    SELECT model_id, chunk_id, nextval('embeddings_outbox_version'), 0, '', statement_timestamp()
    FROM ({source} ORDER BY model_id, chunk_id) changed
    ON CONFLICT (model_id, chunk_id) DO UPDATE SET version = excluded.version, attempts = 0, error = '',
        leased_until = CASE WHEN o.lease IS NOT NULL THEN o.leased_until END
"""
_ADD_GIVEN = _ADD.format(
    source="SELECT * FROM unnest(%(models)s::smallint[], %(chunks)s::uuid[]) g (model_id, chunk_id)"
)
# A removed model's space was dropped, and may be there again by what came late.
_DROP_AGAIN = """
    INSERT INTO embeddings_droppedspace (model_id, dimensions, created_at)
    SELECT DISTINCT g, 0, statement_timestamp() FROM unnest(%(models)s::smallint[]) g
    WHERE NOT EXISTS (SELECT FROM embeddings_embeddingmodel m WHERE m.id = g) ON CONFLICT DO NOTHING
"""
_DROP = """
    INSERT INTO embeddings_droppedspace (model_id, dimensions, created_at)
    SELECT id, dimensions, statement_timestamp() FROM embeddings_embeddingmodel
    WHERE id = %s AND EXISTS (SELECT FROM embeddings_outsidestore) ON CONFLICT DO NOTHING
"""
_DOWN = f"""
    UPDATE embeddings_outsidestore SET failures = least(failures + 1, 1000), error = %(error)s,
        failing_since = coalesce(failing_since, statement_timestamp()), retry_at = clock_timestamp()
        + make_interval(secs => least({MAX_RETRY_S}, {RETRY_S} * power(2, least(failures, 10))))
    WHERE fingerprint = %(fingerprint)s
"""
_UP = """
    UPDATE embeddings_outsidestore SET failures = 0, failing_since = NULL, retry_at = NULL, error = ''
    WHERE fingerprint = %s AND failures > 0
"""
_MAY_CALL = "SELECT failures FROM embeddings_outsidestore WHERE fingerprint = %s"
_MAY_PROBE = f"""
    UPDATE embeddings_outsidestore SET retry_at = clock_timestamp() + make_interval(secs => {PROBE_S})
    WHERE fingerprint = %s AND retry_at <= clock_timestamp() RETURNING failures
"""
_DUE = f"""
    SELECT CASE WHEN EXISTS (SELECT FROM embeddings_outsidestore
            WHERE fingerprint = %(fingerprint)s AND (failures = 0 OR retry_at <= clock_timestamp()))
        THEN (SELECT count(*) FROM (SELECT FROM embeddings_outboxentry w WHERE {_FREE} LIMIT %(limit)s) free)
            + (SELECT count(*) FROM embeddings_droppedspace)
        ELSE 0 END,
        (SELECT count(DISTINCT lease) FROM embeddings_outboxentry
            WHERE lease IS NOT NULL AND leased_until > clock_timestamp())
"""


class Entry(NamedTuple):
    model_id: int
    chunk_id: UUID
    version: int


def claim(*, fingerprint: str, lease: UUID, limit: int) -> list[Entry]:
    """Take what has waited longest; [] if nothing is due, or another store is in use."""
    scope = {"fingerprint": fingerprint, "lease": lease, "limit": limit}
    return [Entry(*row) for row in execute(_CLAIM_OLDEST, scope)]


def claim_of(model_id: int, chunk_ids: Sequence[UUID], *, fingerprint: str, lease: UUID) -> list[Entry]:
    """Take what waits of these chunks, before all others."""
    scope = {"fingerprint": fingerprint, "lease": lease, "model": model_id, "chunks": list(chunk_ids)}
    return [Entry(*row) for row in execute(_CLAIM_OF_CHUNKS, {**scope, "limit": len(chunk_ids)})]


def renew(lease: UUID) -> None:
    execute(_RENEW, {"lease": lease})


def done(lease: UUID, entries: Sequence[Entry]) -> None:
    """Forget what the store has as it is here, and give all else back that is held. In a transaction."""
    execute(_DONE, _given(lease, entries))
    execute(_RELEASE, {"lease": lease})


def again_if_lost(lease: UUID, entries: Sequence[Entry]) -> None:
    """Have those sent once more that another worker may have sent at the same time. In no transaction."""
    lost = [Entry(row[0], row[1], 0) for row in execute(_LOST, _given(lease, entries))]
    if lost:
        add(lost)
        execute(_DROP_AGAIN, {"models": [entry.model_id for entry in lost]})


def fail(lease: UUID, entries: Sequence[Entry], error: str) -> None:
    """Note why, and put them off."""
    for model_id in {entry.model_id for entry in entries}:
        chunks = [entry.chunk_id for entry in entries if entry.model_id == model_id]
        execute(_FAIL, {"lease": lease, "model": model_id, "chunks": chunks, "error": error})


def add(entries: Sequence[Entry]) -> None:
    """Have these compared with the store anew, whatever their versions."""
    execute(_ADD_GIVEN, _columns(entries))


def off() -> None:
    """Let triggers note nothing in this transaction, which removes a whole model and drops its space."""
    execute("SELECT set_config('knowlex.outbox', 'off', true)")


def drop_space(model_id: int) -> None:
    """Have the space of a model dropped that goes in this transaction; nothing without a store in use."""
    execute("DELETE FROM embeddings_outboxentry WHERE model_id = %s", [model_id])
    execute(_DROP, [model_id])


def drop_gone(model_id: int) -> None:
    """Drop the space of a model that is gone already."""
    execute(_DROP_AGAIN, {"models": [model_id]})


def store_is_down(fingerprint: str, error: str) -> None:
    """Let nobody call the store for a while, the longer the longer it is down."""
    execute(_DOWN, {"fingerprint": fingerprint, "error": error})


def store_is_up(fingerprint: str) -> None:
    execute(_UP, [fingerprint])


def may_call(fingerprint: str, *, probe: bool) -> int | None:
    """Return after how many failures this store may be called; None if it may not, or is not in use.

    probe: while it is down, too, if it is time for somebody to try, who is you then.
    """
    rows = execute(_MAY_CALL, [fingerprint])
    if rows and rows[0][0]:
        rows = execute(_MAY_PROBE, [fingerprint]) if probe else []
    return int(rows[0][0]) if rows else None


def due(fingerprint: str, *, batch: int, limit: int) -> tuple[int, int]:
    """Count the batches that could be taken now, at most `limit`, 0 while a store that is down rests; and
    those in somebody's hands.
    """
    scope = {"fingerprint": fingerprint, "limit": batch * limit}
    waiting, taken = execute(_DUE, scope)[0]
    return min(limit, -(-waiting // batch)), taken


def _given(lease: UUID, entries: Sequence[Entry]) -> dict[str, object]:
    return {**_columns(entries), "versions": [entry.version for entry in entries], "lease": lease}


def _columns(entries: Sequence[Entry]) -> dict[str, object]:
    return {
        "models": [entry.model_id for entry in entries],
        "chunks": [entry.chunk_id for entry in entries],
    }
