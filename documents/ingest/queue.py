"""The ingest queue: which document is read next, and what its worker records of it.

Locks are taken in one order: documents by id, then items.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

from datetime import timedelta
from typing import Any
from uuid import UUID

from documents.models import IngestItem
from knowlex.db.leases import LeaseQueue, change_leased
from knowlex.db.threads import execute

MAX_ATTEMPTS = 5
RETRY_AFTER_S = 5.0  # before the next try, when something that reading needs was not to be had
GAVE_UP = f"The worker ended {MAX_ATTEMPTS} times without a result while it had this document in hand."
_CLAIM_LOCK = 0x6B780101

_ENDED = """
    status = 'failed', stage = 'ended', ended_at = clock_timestamp(), error_code = %(code)s, error = %(error)s
"""
ITEMS = LeaseQueue(
    table="documents_ingestitem",
    key=("id",),
    waiting="w.status IN ('pending', 'processing') AND w.stage <> 'embedding'",
    lease_s=15,
    max_attempts=MAX_ATTEMPTS,
    given_up=_ENDED,
    freed="status = 'pending', stage = 'queued'",
)
# Equal bytes are read once: whoever comes second waits, and is then told that it is a duplicate.
_TWIN = """
    EXISTS (SELECT FROM documents_ingestitem twin
            WHERE twin.collection_id = w.collection_id AND twin.checksum = w.checksum AND twin.checksum <> ''
              AND twin.id <> w.id AND twin.status = 'processing' AND twin.lease IS NOT NULL
              AND twin.leased_until >= clock_timestamp())
"""
# Jobs take turns, the one served longest ago first: the oldest job goes on, and a short one is soon done.
_CLAIM = ITEMS.claim_sql(
    f"""
        WITH waiting AS (
            SELECT DISTINCT w.job_id FROM documents_ingestitem w WHERE {ITEMS.free}
        ), turns AS (
            SELECT waiting.job_id, j.created_at,
                (SELECT max(i.started_at) FROM documents_ingestitem i WHERE i.job_id = j.id) AS served
            FROM waiting JOIN documents_ingestjob j ON j.id = waiting.job_id
        )
        SELECT first.id FROM turns, LATERAL (
            SELECT w.id FROM documents_ingestitem w
            WHERE w.job_id = turns.job_id AND {ITEMS.free} AND NOT {_TWIN} ORDER BY w.position LIMIT 1
        ) first ORDER BY turns.served NULLS FIRST, turns.created_at LIMIT 1
    """,
    changes="""
        status = 'processing', stage = CASE WHEN file = '' THEN 'fetching' ELSE 'extracting' END,
        started_at = coalesce(started_at, clock_timestamp()), pages_done = 0, pages_total = 0
    """,
    returning="w.id",
)
_IN_WORK = "w.id = %(id)s AND w.status = 'processing'"
_PROGRESS = ITEMS.leased_sql(
    "stage = %(stage)s, pages_done = %(done)s, pages_total = %(total)s", where=_IN_WORK
)
_FETCHED = ITEMS.leased_sql(
    """
        stage = 'extracting', file = %(file)s, checksum = %(checksum)s, size_bytes = %(size)s,
        filename = %(filename)s
    """,
    where=_IN_WORK,
)
_STORED = ITEMS.leased_sql(
    f"""
        stage = 'embedding', file = '', title = %(title)s, pages_total = %(pages)s, pages_done = %(pages)s,
        chunks_made = %(chunks)s, warnings = %(warnings)s::jsonb, {ITEMS.release_columns}
    """,
    where=_IN_WORK,
)
# Nobody reads the bytes of a duplicate again, so its file goes; what its sender can send again, others keep.
_FAIL = ITEMS.leased_sql(
    f"""
        {_ENDED}, {ITEMS.release_columns}, duplicate_of = %(duplicate_of)s,
        file = CASE WHEN %(duplicate_of)s::uuid IS NULL THEN file ELSE '' END
    """,
    where=_IN_WORK,
)
# The lease that it gets belongs to nobody: it ends when the next try may begin.
_PUT_BACK = f"""
    status = 'pending', stage = 'queued', lease = gen_random_uuid(),
    leased_until = clock_timestamp() + make_interval(secs => {RETRY_AFTER_S})
"""
_POSTPONE = ITEMS.leased_sql(_PUT_BACK, where=_IN_WORK)
# As if it had not been claimed; when it was claimed first stays.
_HAND_OVER = ITEMS.leased_sql(f"{_PUT_BACK}, attempts = w.attempts - 1", where=_IN_WORK)
_DUE = f"SELECT count(*) FROM documents_ingestitem w WHERE {ITEMS.waiting} AND w.lease IS NULL"


def claim(lease: UUID) -> IngestItem | None:
    """Claim the most urgent free item, with its job and collection; return None if there is none.

    Runs in the caller's transaction, one claim at a time, so that two workers never read equal bytes at once.
    """
    execute("SELECT pg_advisory_xact_lock(%s)", [_CLAIM_LOCK])
    rows = execute(_CLAIM, {"lease": lease})
    if not rows:
        return None
    return IngestItem.objects.select_related("job", "collection").get(id=rows[0][0])


def waited_before_claim(item: IngestItem) -> timedelta:
    """Return the time from the item's first claim until this one, by the database's clock."""
    if item.started_at is None or item.leased_until is None:
        return timedelta()
    return item.leased_until - timedelta(seconds=ITEMS.lease_s) - item.started_at


def renew(item: IngestItem, lease: UUID) -> None:
    ITEMS.renew(lease, key=item.id)


def record_progress(item: IngestItem, lease: UUID, *, stage: str, done: int, total: int) -> None:
    """Raise LeaseLost if the item is another worker's by now, as all that follow do."""
    _change(_PROGRESS, item, lease, stage=stage, done=done, total=total)


def record_fetched(item: IngestItem, lease: UUID) -> None:
    """Record what was fetched as the item's own: file, checksum, size and name."""
    _change(
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
    """Record it in the transaction that stores the document, which owns the file from then on."""
    _change(_STORED, item, lease, title=title, pages=pages, chunks=chunks, warnings=warnings)


def fail(item: IngestItem, lease: UUID, *, code: str, error: str, duplicate_of: UUID | None = None) -> None:
    _change(_FAIL, item, lease, code=code, error=error, duplicate_of=duplicate_of)


def postpone(item: IngestItem, lease: UUID) -> None:
    """Put the item back for some seconds."""
    _change(_POSTPONE, item, lease)


def hand_over(item: IngestItem, lease: UUID) -> None:
    """Put the item back for other workers; this claim does not count as an attempt."""
    _change(_HAND_OVER, item, lease)


def expire_leases() -> None:
    """Free what no worker holds any more, and give up what has ended its worker too often."""
    ITEMS.give_up_hopeless({"code": "TIMEOUT", "error": GAVE_UP})
    ITEMS.free_expired()


def count_due() -> int:
    """Count the items that wait and that nobody holds."""
    return int(execute(_DUE)[0][0])


def _change(statement: str, item: IngestItem, lease: UUID, **values: Any) -> None:
    change_leased(statement, {"id": item.id, "lease": lease, **values})
