"""The statements of the ingest queue in PostgreSQL: which document is read next, and who has it in hand.

A lease ends by the database's clock; then the sweep frees its item, or gives it up after MAX_ATTEMPTS.
Locks are taken in one order: documents by id, then items.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

from datetime import timedelta
from typing import Any
from uuid import UUID

from documents.models import IngestItem
from knowlex.db.threads import execute

LEASE_S = 15
MAX_ATTEMPTS = 5
REST_S = 5.0  # before the next try, when something that reading needs was not to be had
GAVE_UP = f"The worker ended {MAX_ATTEMPTS} times without a result while it had this document in hand."
_CLAIM_LOCK = 0x6B780101

_WAITS = "i.status IN ('pending', 'processing') AND i.stage <> 'embedding'"
# What has ended its worker too often is not taken over: the sweep gives it up.
_FREE = f"""
    {_WAITS} AND (i.lease IS NULL OR (i.leased_until < clock_timestamp() AND i.attempts < {MAX_ATTEMPTS}))
"""
# Equal bytes are read once: whoever comes second waits, and is then told that it is a duplicate.
_TWIN = """
    EXISTS (SELECT FROM documents_ingestitem t
            WHERE t.collection_id = i.collection_id AND t.checksum = i.checksum AND t.checksum <> ''
              AND t.id <> i.id AND t.status = 'processing' AND t.lease IS NOT NULL
              AND t.leased_until >= clock_timestamp())
"""
# Jobs take turns, the one served longest ago first: the oldest job goes on, and a short one is soon done.
_CLAIM = f"""
    WITH waiting AS (
        SELECT DISTINCT i.job_id FROM documents_ingestitem i WHERE {_FREE}
    ), turns AS (
        SELECT w.job_id, j.created_at,
            (SELECT max(i.started_at) FROM documents_ingestitem i WHERE i.job_id = w.job_id) AS served
        FROM waiting w JOIN documents_ingestjob j ON j.id = w.job_id
    ), next AS (
        SELECT first.id FROM turns, LATERAL (
            SELECT i.id FROM documents_ingestitem i
            WHERE i.job_id = turns.job_id AND {_FREE} AND NOT {_TWIN} ORDER BY i.position LIMIT 1
        ) first ORDER BY turns.served NULLS FIRST, turns.created_at LIMIT 1
    )
    UPDATE documents_ingestitem i
    SET status = 'processing', lease = %(lease)s, attempts = attempts + 1,
        leased_until = clock_timestamp() + make_interval(secs => {LEASE_S}),
        stage = CASE WHEN file = '' THEN 'fetching' ELSE 'extracting' END,
        started_at = coalesce(started_at, clock_timestamp()), pages_done = 0, pages_total = 0
    FROM next WHERE i.id = next.id RETURNING i.id
"""
_RENEW = f"""
    UPDATE documents_ingestitem
    SET leased_until = clock_timestamp() + make_interval(secs => {LEASE_S})
    WHERE id = %(id)s AND lease = %(lease)s
"""
_HELD = "WHERE id = %(id)s AND lease = %(lease)s AND status = 'processing' RETURNING id"
_PROGRESS = f"""
    UPDATE documents_ingestitem SET stage = %(stage)s, pages_done = %(done)s, pages_total = %(total)s {_HELD}
"""
_FETCHED = f"""
    UPDATE documents_ingestitem SET stage = 'extracting', file = %(file)s, checksum = %(checksum)s,
        size_bytes = %(size)s, filename = %(filename)s {_HELD}
"""
_STORED = f"""
    UPDATE documents_ingestitem SET stage = 'embedding', lease = NULL, leased_until = NULL, file = '',
        title = %(title)s, pages_total = %(pages)s, pages_done = %(pages)s, chunks_made = %(chunks)s,
        warnings = %(warnings)s::jsonb {_HELD}
"""
_END = """
    status = 'failed', stage = 'ended', ended_at = clock_timestamp(), lease = NULL, leased_until = NULL,
    error_code = %(code)s, error = %(error)s
"""
# Nobody reads the bytes of a duplicate again, so its file goes; what its sender can send again, others keep.
_FAIL = f"""
    UPDATE documents_ingestitem SET {_END}, duplicate_of = %(duplicate_of)s,
        file = CASE WHEN %(duplicate_of)s::uuid IS NULL THEN file ELSE '' END {_HELD}
"""
_REST = f"""
    UPDATE documents_ingestitem SET status = 'pending', stage = 'queued', lease = gen_random_uuid(),
        leased_until = clock_timestamp() + make_interval(secs => {REST_S}) {_HELD}
"""
# As if it had not been taken; when it was taken first stays.
_LEAVE = f"""
    UPDATE documents_ingestitem SET status = 'pending', stage = 'queued', lease = gen_random_uuid(),
        attempts = attempts - 1, leased_until = clock_timestamp() + make_interval(secs => {REST_S}) {_HELD}
"""
_GIVE_UP = f"""
    UPDATE documents_ingestitem i SET {_END}
    WHERE {_WAITS} AND i.leased_until < clock_timestamp() AND i.attempts >= {MAX_ATTEMPTS}
"""
_FREE_EXPIRED = f"""
    UPDATE documents_ingestitem i SET status = 'pending', stage = 'queued', lease = NULL, leased_until = NULL
    WHERE {_WAITS} AND i.leased_until < clock_timestamp()
"""
_DUE = f"SELECT count(*) FROM documents_ingestitem i WHERE {_WAITS} AND i.lease IS NULL"


class LeaseLost(Exception):
    """The item was deleted, superseded, or taken over by another worker: its work is thrown away."""


def claim(lease: UUID) -> IngestItem | None:
    """Take the most urgent free item, with its job and collection; None if there is none. In a transaction.

    One claim at a time, so two workers never read equal bytes at once.
    """
    execute("SELECT pg_advisory_xact_lock(%s)", [_CLAIM_LOCK])
    rows = execute(_CLAIM, {"lease": lease})
    if not rows:
        return None
    return IngestItem.objects.select_related("job", "collection").get(id=rows[0][0])


def age_at_claim(item: IngestItem) -> timedelta:
    """From when it was taken first until it was taken now, by the database's clock."""
    if item.started_at is None or item.leased_until is None:
        return timedelta()
    return item.leased_until - timedelta(seconds=LEASE_S) - item.started_at


def renew(item: IngestItem, lease: UUID) -> None:
    execute(_RENEW, {"id": item.id, "lease": lease})


def record_progress(item: IngestItem, lease: UUID, *, stage: str, done: int, total: int) -> None:
    """Raises LeaseLost."""
    _held(_PROGRESS, item, lease, stage=stage, done=done, total=total)


def record_fetched(item: IngestItem, lease: UUID) -> None:
    """What was fetched belongs to the item now: file, checksum, size and name. Raises LeaseLost."""
    _held(
        _FETCHED,
        item,
        lease,
        file=item.file,
        checksum=item.checksum,
        size=item.size_bytes,
        filename=item.filename,
    )


def record_stored(
    item: IngestItem, lease: UUID, *, title: str, pages: int, chunks: int, warnings: str
) -> None:
    """In the transaction that stores the document, which owns the file from then on. Raises LeaseLost."""
    _held(_STORED, item, lease, title=title, pages=pages, chunks=chunks, warnings=warnings)


def fail(item: IngestItem, lease: UUID, *, code: str, error: str, duplicate_of: UUID | None = None) -> None:
    """Raises LeaseLost."""
    _held(_FAIL, item, lease, code=code, error=error, duplicate_of=duplicate_of)


def rest(item: IngestItem, lease: UUID) -> None:
    """Put it back for a while: the lease that it gets belongs to nobody. Raises LeaseLost."""
    _held(_REST, item, lease)


def leave(item: IngestItem, lease: UUID) -> None:
    """Put it back for others; that does not count as a try. Raises LeaseLost."""
    _held(_LEAVE, item, lease)


def expire() -> None:
    """Free what no worker holds any more, and give up what has ended its worker too often."""
    execute(_GIVE_UP, {"code": "TIMEOUT", "error": GAVE_UP})
    execute(_FREE_EXPIRED)


def due_count() -> int:
    """Items that wait and that nobody holds."""
    return int(execute(_DUE)[0][0])


def _held(statement: str, item: IngestItem, lease: UUID, **values: Any) -> None:
    if not execute(statement, {"id": item.id, "lease": lease, **values}):
        raise LeaseLost
