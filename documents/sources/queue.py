"""The queue of sources: which run gets its turn next, and the statements on all files of a source.

All run in the caller's transaction.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

from typing import Any
from uuid import UUID

from django.db import transaction

from documents.models import Source
from knowlex.db.leases import LeaseLost, LeaseQueue
from knowlex.db.threads import execute

MAX_ATTEMPTS = 5
MAX_DUE = 1000
OPEN_AT_ONCE = 100  # documents of a source that wait to be read; more would only lie there as copies
GAVE_UP = f"The worker ended {MAX_ATTEMPTS} times without a result while it had this source in hand."
LOST = 0.2  # of the known files; if more are gone, somebody has to say that they may go

_OPEN = f"""
    (SELECT count(*) FROM (
        SELECT FROM documents_sourceitem s JOIN documents_ingestitem i ON i.id = s.item_id
        WHERE s.source_id = w.id AND i.status IN ('pending', 'processing') LIMIT {OPEN_AT_ONCE}
    ) o)
"""
SOURCES = LeaseQueue(
    table="documents_source",
    key=("id",),
    waiting=f"""
        w.state IN ('pending', 'running') AND (w.stage NOT IN ('taking', 'waiting')
            OR {_OPEN} < CASE w.stage WHEN 'waiting' THEN 1 ELSE {OPEN_AT_ONCE} END)
    """,
    lease_s=15,
    max_attempts=MAX_ATTEMPTS,
    given_up="""
        state = 'failed', stage = '', error = %(error)s, ended_at = statement_timestamp(),
        confirmed_at = NULL, attempts = 0,
        next_run_at = statement_timestamp() + make_interval(mins => every_minutes)
    """,
)
_CLAIM = SOURCES.claim_sql(
    f"""
        SELECT w.id FROM documents_source w WHERE {SOURCES.free}
        ORDER BY w.taken_at NULLS FIRST, w.id LIMIT 1 FOR UPDATE SKIP LOCKED
    """,
    changes="""
        state = 'running', taken_at = clock_timestamp(),
        started_at = CASE WHEN w.state = 'pending' THEN statement_timestamp() ELSE w.started_at END
    """,
    returning="w.id",
)
_START_DUE = """
    UPDATE documents_source SET state = 'pending', stage = '', dry_run = false, error = '', attempts = 0
    WHERE next_run_at <= statement_timestamp() AND every_minutes IS NOT NULL
        AND state NOT IN ('pending', 'running')
"""


def claim(lease: UUID) -> Source | None:
    """Claim the source whose turn was longest ago, with its collection; return None if there is none."""
    rows = execute(_CLAIM, {"lease": lease})
    return Source.objects.select_related("collection").get(id=rows[0][0]) if rows else None


def give_up_hopeless() -> list[UUID]:
    """Fail the runs that have ended their workers too often; return their sources."""
    return [row[0] for row in SOURCES.give_up_hopeless({"error": GAVE_UP}, returning="id")]


def start_due() -> None:
    """Let those run whose time has come."""
    execute(_START_DUE)


def count_due() -> int:
    """Count the sources that nobody holds, up to MAX_DUE."""
    return SOURCES.count_unheld(limit=MAX_DUE)


def renew(source_id: UUID, lease: UUID) -> None:
    SOURCES.renew(lease, key=source_id)


def release(source_id: UUID, lease: UUID) -> None:
    SOURCES.release(lease, key=source_id)


def record(source: Source, lease: UUID, /, **changes: Any) -> None:
    """Record progress, on `source` too once it is stored; the lease is ours until the transaction ends.

    Raises LeaseLost.
    """
    held = Source.objects.filter(id=source.id, lease=lease)
    if not held.update(**{"attempts": 0, **changes}):
        raise LeaseLost

    def take_over() -> None:
        for name, value in changes.items():
            setattr(source, name, value)

    transaction.on_commit(take_over)  # what is tried again begins from what is stored


# Files of one list: `path`, size, version, and why it is not taken, "" if it is.
_LIST = """
    INSERT INTO documents_sourceitem AS s (id, source_id, path, size_bytes, version, checksum, owned, state,
        reason, listed_version, listed_size, listed_in, step)
    SELECT given.id, %(source)s, given.path, 0, '', '', false,
        CASE WHEN given.reason = '' THEN 'new' ELSE 'skipped' END, given.reason, given.version, given.size,
        %(run)s, CASE WHEN given.reason = '' THEN 'listed' ELSE 'done' END
    FROM unnest(%(ids)s::uuid[], %(paths)s::text[], %(sizes)s::bigint[], %(versions)s::text[],
        %(reasons)s::text[]) AS given (id, path, size, version, reason)
    ON CONFLICT (source_id, path) DO UPDATE SET
        listed_version = excluded.listed_version, listed_size = excluded.listed_size,
        listed_in = excluded.listed_in, step = excluded.step, gone_at = NULL,
        state = CASE WHEN excluded.reason = '' THEN s.state ELSE 'skipped' END,
        reason = CASE WHEN excluded.reason <> '' THEN excluded.reason
            WHEN s.state = 'skipped' THEN '' ELSE s.reason END
"""
# What lies below a folder that could not be listed is not known, and so is not gone.
_KEEP_BELOW = """
    UPDATE documents_sourceitem SET listed_in = %(run)s, step = 'done', gone_at = NULL
    WHERE source_id = %(source)s AND starts_with(path, %(folder)s)
"""
# A document that came from the source may be another by now, replaced by hand; one that was there may not.
# One that was deleted by hand comes again.
_SKIP_UNCHANGED = """
    UPDATE documents_sourceitem s SET step = 'done',
        state = CASE WHEN s.state <> 'skipped' THEN s.state WHEN s.owned THEN 'taken' ELSE 'present' END
    WHERE s.source_id = %(source)s AND s.listed_in = %(run)s AND s.step = 'listed'
        AND s.version <> '' AND s.version = s.listed_version
        AND (s.state = 'failed'
            OR EXISTS (SELECT FROM documents_document d WHERE d.id = s.document AND d.replaces_id IS NULL
                AND (s.owned OR d.checksum = s.checksum))
            OR (s.owned AND EXISTS (SELECT FROM documents_ingestitem i
                WHERE i.id = s.document AND i.deleted_at IS NULL)))
    RETURNING 1
"""
_FIND_CANDIDATES = """
    UPDATE documents_sourceitem s SET step = 'candidate'
    WHERE s.source_id = %(source)s AND s.listed_in = %(run)s AND s.step = 'listed'
        AND s.listed_size IN (
            SELECT o.size_bytes FROM documents_sourceitem o JOIN documents_source k ON k.id = o.source_id
            WHERE k.collection_id = %(collection)s AND o.owned)
"""
_FORGET_EMPTY = """
    DELETE FROM documents_sourceitem
    WHERE source_id = %(source)s AND listed_in < %(run)s AND document IS NULL
"""
_RESET_MISSED = """
    UPDATE documents_sourceitem SET step = '' WHERE source_id = %(source)s AND listed_in < %(run)s
"""
# Known before, gone, gone without that anybody confirmed it, refused.
_COUNT = """
    SELECT count(*) FILTER (WHERE path IS NOT NULL AND document IS NOT NULL),
        count(*) FILTER (WHERE {gone}),
        count(*) FILTER (WHERE {gone} AND NOT coalesce(gone_at <= %(confirmed)s, false)),
        count(*) FILTER (WHERE listed_in = %(run)s AND (state = 'skipped'
            OR (state = 'failed' AND item_id IS NOT NULL))),
        count(*) FILTER (WHERE listed_in = %(run)s AND state = 'failed' AND item_id IS NULL)
    FROM documents_sourceitem WHERE source_id = %(source)s
""".format(gone="path IS NOT NULL AND document IS NOT NULL AND listed_in < %(run)s AND step <> 'matched'")
_ASK = """
    UPDATE documents_sourceitem SET gone_at = clock_timestamp()
    WHERE source_id = %(source)s AND listed_in < %(run)s AND path IS NOT NULL AND gone_at IS NULL
"""
_REMOVABLE = """
    SELECT id FROM documents_sourceitem
    WHERE source_id = %(source)s AND listed_in < %(run)s
        AND (path IS NULL OR %(all)s OR coalesce(gone_at <= %(confirmed)s, false))
    ORDER BY path NULLS FIRST LIMIT %(limit)s
"""
# Documents of these files that no other file has, of whatever source of the collection.
_ORPHANED = """
    SELECT DISTINCT s.document FROM documents_sourceitem s
    WHERE s.id = ANY(%(items)s) AND s.owned AND s.document IS NOT NULL AND NOT EXISTS (
        SELECT FROM documents_sourceitem o WHERE o.document = s.document AND NOT o.id = ANY(%(items)s))
"""


def store_list(source: Source, files: list[tuple[UUID, str, int, str, str]]) -> None:
    """Store files of the list: id of a new row, path, size, version, why it is not taken."""
    names = ("ids", "paths", "sizes", "versions", "reasons")
    columns = dict(zip(names, map(list, zip(*files, strict=True)), strict=True))
    execute(_LIST, {**_of(source), **columns})


def keep_below(source: Source, folder: str) -> None:
    execute(_KEEP_BELOW, {**_of(source), "folder": f"{folder}/"})


def compare_list(source: Source) -> int:
    """Pass over what is as it was, and tell which files may be documents that are there; return how many
    are unchanged.
    """
    scope = {**_of(source), "collection": source.collection_id}
    execute(_FORGET_EMPTY, scope)
    execute(_RESET_MISSED, scope)
    unchanged = len(execute(_SKIP_UNCHANGED, scope))
    execute(_FIND_CANDIDATES, scope)
    return unchanged


def count_items(source: Source) -> tuple[int, int, int, int, int]:
    """Return how many are known, gone, gone without a confirmation, refused for good, failed for now."""
    known, gone, unconfirmed, refused, failed = execute(
        _COUNT, {**_of(source), "confirmed": source.confirmed_at}
    )[0]
    return known, gone, unconfirmed, refused, failed


def ask_about_gone(source: Source) -> None:
    """Mark what is gone, so that a confirmation is for these files and no others."""
    execute(_ASK, _of(source))


def find_removable(source: Source, *, everything: bool, limit: int) -> list[UUID]:
    scope = {**_of(source), "confirmed": source.confirmed_at, "all": everything, "limit": limit}
    return [row[0] for row in execute(_REMOVABLE, scope)]


def find_orphaned(items: list[UUID]) -> list[UUID]:
    """Return the documents that came from a source and that only these files have."""
    return [row[0] for row in execute(_ORPHANED, {"items": items})]


def count_open(source: Source) -> int:
    """Count its documents that are not read and embedded yet, up to OPEN_AT_ONCE."""
    return int(execute(f"SELECT {_OPEN} FROM documents_source w WHERE w.id = %s", [source.id])[0][0])


def _of(source: Source) -> dict[str, Any]:
    return {"source": source.id, "run": source.run}
