"""Reports of jobs, read on the event loop in two or three statements whatever the number of documents."""

# ruff: noqa: S608 - the statements are put together from constants of this module

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from documents.access import Access, condition_on_readers
from knowlex.base.errors import NotFound
from knowlex.db import pool
from knowlex.runtime import liveness

STALLED_AFTER_S = 30.0  # of waiting while no worker is alive
POLL_S, MAX_POLL_S = 0.05, 1.0
After = tuple[datetime, UUID]

_ALLOWED = "(%(allowed)s::uuid[] IS NULL OR j.collection_id = ANY(%(allowed)s))"
# Of a job's documents only those count that the caller may read; a job without any is not there for it.
_READABLE = condition_on_readers("i.readers")
_TALLY = """
    count(i.id) AS total, count(*) FILTER (WHERE i.status IN ('completed', 'failed')) AS processed,
    count(*) FILTER (WHERE i.status = 'failed') AS failed,
    count(*) FILTER (WHERE i.status = 'processing') AS running,
    coalesce(sum(CASE i.status WHEN 'failed' THEN i.pages_done ELSE i.pages_total END), 0) AS pages_total,
    coalesce(sum(i.pages_done), 0) AS pages_done,
    coalesce(sum(i.chunks_made), 0) AS chunks_made, max(i.ended_at) AS last_ended_at,
    coalesce(sum(i.chunks_made) FILTER (WHERE i.status = 'completed'), 0)::bigint AS chunks_embedded
"""
_JOB = """
    SELECT j.id, j.collection_id, c.name AS collection_name, j.origin, j.settings, j.created_at, t.*
    FROM documents_ingestjob j JOIN documents_collection c ON c.id = j.collection_id
"""
_REPORT = (
    f"{_JOB}, LATERAL (SELECT {_TALLY} FROM documents_ingestitem i WHERE i.job_id = j.id AND {_READABLE}) t"
)
_SHOWN = "(%(principals)s::text[] IS NULL OR t.total > 0)"
_ONE = f"{_REPORT} WHERE j.id = %(job)s AND {_ALLOWED} AND {_SHOWN}"
_STATUS = """
    CASE WHEN t.processed < t.total THEN CASE WHEN t.processed + t.running = 0 THEN 'pending'
            ELSE 'processing' END
        WHEN t.failed = t.total AND t.total > 0 THEN 'failed' ELSE 'completed' END
"""
_LIST = f"""
    {_REPORT} WHERE {_ALLOWED} AND {_SHOWN}
      AND (%(collection)s::uuid IS NULL OR j.collection_id = %(collection)s)
      AND (%(status)s::text IS NULL OR {_STATUS} = %(status)s)
      AND (%(created_at)s::timestamptz IS NULL OR (j.created_at, j.id) < (%(created_at)s, %(id)s::uuid))
    ORDER BY j.created_at DESC, j.id DESC LIMIT %(limit)s
"""
_ITEMS = f"""
    SELECT i.id AS item_id, coalesce(i.replaces_id, i.id) AS id, i.filename, i.title, i.source_type,
        i.source_url, i.status, i.stage, i.attempts, i.pages_total, i.pages_done, i.chunks_made,
        i.warnings, i.error_code, i.error, i.duplicate_of, i.deleted_at IS NOT NULL AS deleted,
        i.created_at, i.started_at, i.ended_at,
        i.status = 'processing' AND i.lease IS NOT NULL AND i.leased_until < clock_timestamp() AS lease_ended,
        i.status IN ('pending', 'processing') AND i.lease IS NULL
            AND coalesce(i.started_at, i.created_at) < clock_timestamp() - make_interval(secs => %(patience)s)
            AS waits_long,
        CASE WHEN i.status = 'completed' THEN i.chunks_made ELSE coalesce(v.embedded, 0) END
            AS chunks_embedded
    FROM documents_ingestitem i LEFT JOIN LATERAL (
        SELECT count(*) AS embedded FROM documents_chunk c JOIN embeddings_embedding e ON e.chunk_id = c.id
            AND e.model_id = (SELECT id FROM embeddings_embeddingmodel WHERE active)
        WHERE c.document_id = i.id AND (i.stage = 'embedding' OR i.error_code = 'EMBEDDING_FAILED')
    ) v ON i.stage = 'embedding' OR i.error_code = 'EMBEDDING_FAILED'
    WHERE i.job_id = %(job)s AND {_READABLE} ORDER BY i.position
"""
_OPEN = f"""
    SELECT count(*) AS open FROM documents_ingestjob j JOIN documents_ingestitem i ON i.job_id = j.id
    WHERE j.id = %(job)s AND i.status IN ('pending', 'processing') AND {_ALLOWED} AND {_READABLE}
"""


@dataclass(frozen=True, slots=True)
class ItemReport:
    """One document of a job. id: the document's, also where the item is a new version of it.

    stalled: nobody works on it although somebody should. chunk_count: of the stored document.
    """

    id: UUID
    item_id: UUID
    filename: str
    title: str
    source_type: str
    source_url: str
    status: str
    stage: str
    stalled: bool
    attempts: int
    pages_total: int
    pages_done: int
    chunks_made: int
    chunks_embedded: int
    chunk_count: int
    warnings: list[str]
    error_code: str
    error: str
    duplicate_of: UUID | None
    deleted: bool
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class JobReport:
    """processed: documents that have ended, failures included. items: [] in lists of jobs."""

    id: UUID
    collection_id: UUID
    collection_name: str
    status: str
    origin: str
    settings: dict[str, Any]
    total: int
    processed: int
    failed: int
    pages_total: int
    pages_done: int
    chunks_made: int
    chunks_embedded: int
    stalled: bool
    created_at: datetime
    completed_at: datetime | None
    items: list[ItemReport] = field(default_factory=list)


async def job_report(job_id: UUID, *, access: Access) -> JobReport:
    """Return the report with its items. Raises NotFound, DatabaseUnavailable."""
    scope = {"job": job_id, "allowed": access.allowed, "principals": access.reads_as}
    row = await pool.fetch_one(_ONE, scope, reader=access.reads_as)
    if row is None:
        raise NotFound(f"Job not found: {job_id}")
    rows = await pool.fetch_all(_ITEMS, {**scope, "patience": STALLED_AFTER_S}, reader=access.reads_as)
    nobody = any(item["waits_long"] for item in rows) and not await liveness.count_alive()
    items = [_item(item, nobody=nobody) for item in rows]
    return _job(row, items)


async def wait_for_job(job_id: UUID, *, access: Access, wait_s: float) -> JobReport:
    """Return the report when the job has ended, at the latest after `wait_s`. Raises as `job_report`."""
    deadline, pause = time.monotonic() + wait_s, POLL_S
    scope = {"job": job_id, "allowed": access.allowed, "principals": access.reads_as}
    while (left := deadline - time.monotonic()) > 0:
        row = await pool.fetch_one(_OPEN, scope, reader=access.reads_as)
        if not row or not row["open"]:
            break
        await asyncio.sleep(min(pause, left))
        pause = min(MAX_POLL_S, pause * 1.5)
    return await job_report(job_id, access=access)


async def job_list(
    *,
    access: Access,
    collection_id: UUID | None = None,
    status: str | None = None,
    limit: int,
    after: After | None = None,
) -> tuple[list[JobReport], After | None]:
    """Return the newest first, without items, in one statement; and where the next page begins, or None.

    after: created_at and id of the last job seen.
    """
    created_at, last = after or (None, None)
    scope: dict[str, Any] = {
        "collection": collection_id,
        "status": status,
        "created_at": created_at,
        "id": last,
    }
    scope |= {"allowed": access.allowed, "principals": access.reads_as, "limit": limit + 1}
    rows = await pool.fetch_all(_LIST, scope, reader=access.reads_as)
    page = [_job(row, []) for row in rows[:limit]]
    return page, (page[-1].created_at, page[-1].id) if len(rows) > limit else None


def _item(row: Mapping[str, Any], *, nobody: bool) -> ItemReport:
    values = {name: value for name, value in row.items() if name not in ("lease_ended", "waits_long")}
    stalled = row["lease_ended"] or (nobody and row["waits_long"])
    return ItemReport(**values, stalled=stalled, chunk_count=row["chunks_made"])


def _job(row: Mapping[str, Any], items: list[ItemReport]) -> JobReport:
    ended = row["processed"] == row["total"]
    embedded = sum(item.chunks_embedded for item in items) if items else row["chunks_embedded"]
    derived = ("running", "last_ended_at", "chunks_embedded")
    return JobReport(
        **{name: value for name, value in row.items() if name not in derived},
        chunks_embedded=embedded,
        status=_status(row, ended),
        stalled=any(item.stalled for item in items),
        completed_at=row["last_ended_at"] if ended else None,
        items=items,
    )


def _status(row: Mapping[str, Any], ended: bool) -> str:
    """Return failed only if all its documents failed."""
    if ended:
        return "failed" if row["failed"] == row["total"] and row["total"] else "completed"
    return "processing" if row["processed"] or row["running"] else "pending"
