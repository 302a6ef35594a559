"""/v1/ingest: jobs that read and embed documents in the background."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from documents.access import access_of
from documents.ingest.requests import IngestForm, IngestRequest, receive_documents
from documents.library.collection_settings import ChunkingFields, job_settings_by_name, settings_schema
from embeddings.ingest import documents
from embeddings.ingest.documents import JobReport
from knowlex.base.errors import InvalidInput
from knowlex.web.openapi import IDEMPOTENCY_KEY, JSON, answer, operation
from knowlex.web.pagination import PageParameters, sorting
from knowlex.web.responses import body_response
from knowlex.web.shapes import (
    Count,
    InputShape,
    Object,
    OutputShape,
    TextOrNull,
    Time,
    number_text,
    read_parameters,
)
from rag.answering.services import resolve_collections
from rag.api.v1.ingest_jobs import AcceptedJob, answer_ingest, make_job, notify_workers
from rag.api.v1.parameters import Cursor, InCollection, Status, WithStatus

MAX_WAIT_S = 60


class JobProgress(OutputShape):
    total: Count
    processed: Annotated[Count, Field(description="Documents that have ended, failures included.")]
    failed: Count
    pages_total: Count
    pages_extracted: Annotated[Count, Field(validation_alias="pages_done")]
    chunks_made: Count
    chunks_embedded: Count


class JobShape(OutputShape):
    job_id: Annotated[UUID, Field(validation_alias="id")]
    status: Annotated[Status, Field(description="failed only if all documents failed.")]
    stalled: bool
    collection_id: UUID
    collection: Annotated[str, Field(validation_alias="collection_name")]
    settings: Annotated[
        Object, Field(json_schema_extra={"properties": settings_schema(ChunkingFields)["properties"]})
    ]
    origin: str
    progress: JobProgress
    created_at: Time
    completed_at: Time | None


class JobList(OutputShape):
    jobs: list[JobShape]
    next_cursor: Cursor


class DocumentSource(OutputShape):
    type: Annotated[str, Field(validation_alias="source_type")]
    url: Annotated[TextOrNull, Field(validation_alias="source_url")]


class JobDocument(OutputShape):
    id: UUID
    filename: str
    title: str
    source: DocumentSource
    status: Status
    stage: str
    stalled: bool
    attempts: Count
    chunk_count: Count
    pages_total: Count
    pages_extracted: Annotated[Count, Field(validation_alias="pages_done")]
    chunks_made: Count
    chunks_embedded: Count
    warnings: list[str]
    error: TextOrNull
    error_code: TextOrNull
    duplicate_of: UUID | None
    deleted: bool
    started_at: Time | None
    completed_at: Annotated[Time | None, Field(validation_alias="ended_at")]


class JobReportShape(JobShape):
    documents: list[JobDocument]


class RetriedJob(OutputShape):
    job_id: UUID
    documents_retried: Count


class JobListParameters(WithStatus, InCollection, PageParameters):
    sort: SkipJsonSchema[Annotated[str, sorting("created_at")]] = ""


class JobParameters(InputShape):
    wait: Annotated[
        int, number_text(0, MAX_WAIT_S), Field(description="Seconds to wait for the job's end.")
    ] = 0


@operation(
    "ingest",
    "Ingest documents in the background: they are read, split and embedded",
    answer(200, "Accepted.", AcceptedJob),
    body={JSON: IngestRequest, "multipart/form-data": IngestForm},
    headers=(IDEMPOTENCY_KEY,),
    failures="404 409 422 507",
)
def create(request: HttpRequest) -> HttpResponse:
    return answer_ingest(request, receive_documents(request), make_job, "POST", "/v1/ingest")


@operation(
    "listJobs",
    "List ingest jobs, newest first",
    answer(200, "One page.", JobList),
    parameters=JobListParameters,
    failures="404",
)
async def index(request: HttpRequest) -> HttpResponse:
    access = access_of(request)
    given = read_parameters(request, JobListParameters)
    page = given.page("jobs")
    if not page.descending:
        raise InvalidInput("Jobs are listed newest first: sort must be -created_at.", field="sort")
    ids = await resolve_collections([given.collection], access=access) if given.collection else ()
    found, after = await documents.job_list(
        access=access,
        collection_id=ids[0] if ids else None,
        status=given.status,
        limit=page.limit,
        after=page.after,
    )
    return body_response(JobList(jobs=[_job(job) for job in found], next_cursor=page.next_cursor(after)))


@operation("getJob", "How far a job is", answer(200, "The job.", JobReportShape), parameters=JobParameters)
async def show(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """With `wait`, return when the job has ended, or after so many seconds."""
    wait_s = float(read_parameters(request, JobParameters).wait)
    job = await documents.wait_for_job(job_id, access=access_of(request), wait_s=wait_s)
    items = [JobDocument.of(item, source=item) for item in job.items]
    response = body_response(_job(job, JobReportShape, documents=items))
    response["Cache-Control"] = "no-store"
    return response


@operation(
    "retryJob",
    "Try a job's failed documents again",
    answer(200, "There was nothing to retry.", RetriedJob),
    answer(202, "They wait again.", RetriedJob),
)
def retry(request: HttpRequest, job_id: UUID) -> HttpResponse:
    count = documents.retry_job(job_id, access=access_of(request))
    notify_workers(count)
    return body_response(RetriedJob(job_id=job_id, documents_retried=count), 202 if count else 200)


def _job(job: JobReport, shape: type[JobShape] = JobShape, **more: Any) -> JobShape:
    return shape.of(job, settings=job_settings_by_name(job.settings), progress=job, **more)
