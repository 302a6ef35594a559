"""/v1/ingest: jobs that read and embed documents in the background."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from documents.access.scopes import access_of
from documents.ingest.idempotency import KEY_HEADER, answer_once, checked_key
from documents.ingest.requests import ingest_request
from documents.library.collection_settings import job_settings_by_name
from embeddings.work import ingestion
from embeddings.work.ingestion import ItemReport, JobReport
from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.pagination import next_cursor, page_asked
from knowlex.web.responses import json_response, utc_timestamp
from rag.api.v1.ingest_requests import take_job, tell_workers
from rag.api.v1.question_fields import answer, choice, named_in, wait_seconds
from rag.services import resolve_collections

STATUSES = ("pending", "processing", "completed", "failed")
LOCK_S = 120.0


def create(request: HttpRequest) -> HttpResponse:
    access = access_of(request)
    access.require("write")
    key = checked_key(request.headers.get(KEY_HEADER))
    with ingest_request(request) as brought:
        reply = answer_once(
            key,
            lambda _: take_job(brought, access=access),
            access=access,
            asked=brought.fingerprint("POST", "/v1/ingest"),
            lock_s=LOCK_S,
            in_transaction=True,
        )
    if not reply.replayed:
        tell_workers(reply.body["documents_queued"])
    return answer(reply)


async def index(request: HttpRequest) -> HttpResponse:
    access, page = (
        access_of(request),
        page_asked(request.GET, of="jobs", sorts=("created_at",), default="-created_at"),
    )
    if not page.descending:
        raise InvalidInput("Jobs are listed newest first: sort must be -created_at.", field="sort")
    named = named_in(request.GET)
    ids = await resolve_collections([named], access=access) if named else ()
    found, after = await ingestion.job_list(
        access=access,
        collection_id=ids[0] if ids else None,
        status=choice(request.GET, "status", STATUSES) or None,
        limit=page.limit,
        after=page.after,
    )
    body = {"jobs": [_job(job) for job in found], "next_cursor": next_cursor(page, after, of="jobs")}
    return json_response(body)


async def show(request: HttpRequest, job_id: str) -> HttpResponse:
    """With `wait`, when the job has ended, or after so many seconds."""
    id_, wait_s = parse_id(job_id, field="job_id"), wait_seconds(request.GET)
    job = await ingestion.wait_for_job(id_, access=access_of(request), wait_s=wait_s)
    response = json_response({**_job(job), "documents": [_document(item) for item in job.items]})
    response["Cache-Control"] = "no-store"
    return response


def retry(request: HttpRequest, job_id: str) -> HttpResponse:
    id_ = parse_id(job_id, field="job_id")
    count = ingestion.retry_job(id_, access=access_of(request))
    tell_workers(count)
    return json_response({"job_id": id_, "documents_retried": count}, 202 if count else 200)


def _job(job: JobReport) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "status": job.status,
        "stalled": job.stalled,
        "collection_id": job.collection_id,
        "collection": job.collection_name,
        "settings": job_settings_by_name(job.settings),
        "origin": job.origin,
        "progress": {
            "total": job.total,
            "processed": job.processed,
            "failed": job.failed,
            "pages_total": job.pages_total,
            "pages_extracted": job.pages_done,
            "chunks_made": job.chunks_made,
            "chunks_embedded": job.chunks_embedded,
        },
        "created_at": utc_timestamp(job.created_at),
        "completed_at": utc_timestamp(job.completed_at) if job.completed_at else None,
    }


def _document(item: ItemReport) -> dict[str, Any]:
    return {
        "id": item.id,
        "filename": item.filename,
        "title": item.title,
        "source": {"type": item.source_type, "url": item.source_url or None},
        "status": item.status,
        "stage": item.stage,
        "stalled": item.stalled,
        "attempts": item.attempts,
        "chunk_count": item.chunk_count,
        "pages_total": item.pages_total,
        "pages_extracted": item.pages_done,
        "chunks_made": item.chunks_made,
        "chunks_embedded": item.chunks_embedded,
        "warnings": item.warnings,
        "error": item.error or None,
        "error_code": item.error_code or None,
        "duplicate_of": item.duplicate_of,
        "deleted": item.deleted,
        "started_at": utc_timestamp(item.started_at) if item.started_at else None,
        "completed_at": utc_timestamp(item.ended_at) if item.ended_at else None,
    }
