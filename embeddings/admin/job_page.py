"""What a job's page shows, as plain data: the page is drawn from it, and its script asks for it again."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse

from documents.models import Document, IngestItem
from embeddings.admin.progress import embedded_of_job, items_of
from embeddings.admin.words import duration, state_of
from knowlex.common.liveness import count_alive_now

ITEMS_A_PAGE = 100
OPEN = (IngestItem.Status.PENDING, IngestItem.Status.PROCESSING)


def job_page(job: Any, *, page: int) -> dict[str, Any]:
    """job: from `with_progress`. page: of its documents, from 1."""
    progress, state = job.progress, state_of(job.progress)
    rows = items_of(job.pk, first=(page - 1) * ITEMS_A_PAGE, limit=ITEMS_A_PAGE)
    documents = Document.objects.current().existing_ids({row.replaces_id or row.id for row in rows})
    running = state not in ("completed", "failed")
    ended_at = datetime.fromisoformat(progress["last_end"]) if progress["last_end"] and not running else None
    return {
        "state": state,
        "running": running,
        "duration": duration(job.created_at, ended_at),
        "failed": progress["failed"],
        "bars": [
            _bar("documents", progress["ended"], progress["total"]),
            _bar("pages", progress["pages_done"], progress["pages_total"]),
            _bar("chunks", embedded_of_job(job.pk), progress["chunks_made"]),
        ],
        "items": [_line(row, documents) for row in rows],
    }


def _bar(name: str, done: int, total: int) -> dict[str, Any]:
    return {"name": name, "done": done, "total": total, "text": f"{done:,} of {total:,}"}


def _line(item: Any, documents: set[UUID]) -> dict[str, Any]:
    document_id = item.replaces_id or item.id
    is_stored = document_id in documents and item.deleted_at is None
    return {
        "id": str(item.id),
        "name": item.filename or item.source_url,
        "state": _state(item),
        "stage": "" if item.stage == IngestItem.Stage.ENDED else item.stage,
        "pages": _of(item.pages_done, item.pages_total),
        "chunks": _of(item.embedded, item.chunks_made),
        "done": _done(item),
        "attempts": item.attempts,
        "duration": duration(item.started_at, item.ended_at),
        "notes": list(item.warnings),
        "error": item.error,
        "url": reverse("admin:documents_document_change", args=[document_id]) if is_stored else "",
        "can_retry": item.status == IngestItem.Status.FAILED and item.deleted_at is None,
        "can_delete": item.deleted_at is None
        and not item.replaces_id
        and (is_stored or not _completed(item)),
    }


def _state(item: Any) -> str:
    if item.deleted_at is not None:
        return "deleted"
    if item.stalled or (item.neglected and not count_alive_now()):
        return "stalled"
    return str(item.status)


def _completed(item: Any) -> bool:
    return bool(item.status == IngestItem.Status.COMPLETED)


def _of(done: int, total: int) -> str:
    return f"{done:,} of {total:,}" if total else "–"


def _done(item: Any) -> int:
    """In percent, for a bar: half for reading the pages, half for the vectors."""
    if item.status not in OPEN:
        return 100
    read = item.pages_done / item.pages_total if item.pages_total else 0
    embedded = item.embedded / item.chunks_made if item.chunks_made else 0
    return round(50 * min(read, 1) + 50 * min(embedded, 1))
