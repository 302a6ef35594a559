"""/v1/ingest: jobs that read and embed documents in the background."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import ConfigDict, Field

from documents.access import access_of
from documents.ingest.idempotency import KEY_HEADER, answer_once, checked_key
from documents.ingest.requests import receive_documents
from documents.library.collection_settings import job_settings_by_name
from embeddings.ingest import documents
from embeddings.ingest.documents import ItemReport, JobReport
from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.openapi import IDEMPOTENCY_KEY, JSON, answer, operation
from knowlex.web.pagination import next_cursor, read_page
from knowlex.web.responses import body_response
from knowlex.web.shapes import (
    Count,
    FileBytes,
    InputShape,
    Object,
    OutputShape,
    TextOrNull,
    Time,
    number_text,
    object_rule,
    read_parameters,
)
from rag.answering.services import resolve_collections
from rag.api.v1.ingest_jobs import notify_workers, take_job
from rag.api.v1.parameters import CHUNKING, Cursor, InCollection, Status, WithStatus, reply_response

LOCK_S = 120.0
MAX_WAIT_S = 60
METADATA = {
    "type": "object",
    "additionalProperties": True,
    "description": "Up to 16,000 characters of JSON; `title` becomes the title.",
}
ChunkingSettings = Annotated[
    dict[str, Any], object_rule({"type": "object", "properties": CHUNKING, "additionalProperties": False})
]


class SourceOfDocument(InputShape):  # documents.ingest.requests reads it: its content is long
    type: Annotated[str, Field(json_schema_extra={"enum": ["file", "url", "text"]})]
    content: Annotated[str, Field(description="Base64 of a file, a URL, or the text.")]
    filename: Annotated[str, Field(description="Of a file; tells Markdown and HTML from plain text.")] = ""


class NewDocumentShape(InputShape):
    source: SourceOfDocument
    metadata: Annotated[dict[str, Any], object_rule(METADATA)] = {}


class IngestRequest(InputShape):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "collection_id": "default",
                "documents": [
                    {
                        "source": {
                            "type": "text",
                            "content": "# Citations\n\nAnswers are cited passage by passage.",
                            "filename": "citations.md",
                        },
                        "metadata": {"title": "How answers are cited"},
                    }
                ],
            }
        }
    )

    collection_id: Annotated[str, Field(description="A collection's id or name.")]
    documents: Annotated[list[NewDocumentShape], Field(min_length=1, max_length=100)]
    settings: ChunkingSettings = {}


class IngestForm(InputShape):
    file: list[FileBytes]
    collection_id: str = ""
    settings: Annotated[str, Field(description="An object, as JSON.")] = ""
    metadata: Annotated[str, Field(description="An object, as JSON; of all the files.")] = ""


class AcceptedDocument(OutputShape):
    id: UUID
    filename: str
    status: Status


class AcceptedJob(OutputShape):
    job_id: UUID
    status: str
    documents_queued: Count
    collection_id: UUID
    documents: list[AcceptedDocument]


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
    settings: Annotated[Object, Field(json_schema_extra={"properties": CHUNKING})]
    origin: str
    progress: JobProgress
    created_at: Time
    completed_at: Time | None


class JobList(OutputShape):
    jobs: list[JobShape]
    next_cursor: Cursor


class DocumentSource(OutputShape):
    type: str
    url: TextOrNull


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


class JobListParameters(WithStatus, InCollection):
    pass


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
    access = access_of(request)
    access.require("write")
    key = checked_key(request.headers.get(KEY_HEADER))
    with receive_documents(request) as brought:
        reply = answer_once(
            key,
            lambda _: take_job(brought, access=access),
            access=access,
            asked=brought.fingerprint("POST", "/v1/ingest"),
            lock_s=LOCK_S,
            in_transaction=True,
        )
    if not reply.replayed:
        notify_workers(reply.body["documents_queued"])
    return reply_response(reply)


@operation(
    "listJobs",
    "List ingest jobs, newest first",
    answer(200, "One page.", JobList),
    parameters=JobListParameters,
    sorts=("",),
    failures="404",
)
async def index(request: HttpRequest) -> HttpResponse:
    access = access_of(request)
    page = read_page(request.GET, of="jobs", sorts=("created_at",), default="-created_at")
    if not page.descending:
        raise InvalidInput("Jobs are listed newest first: sort must be -created_at.", field="sort")
    wanted = read_parameters(request, JobListParameters)
    ids = await resolve_collections([wanted.collection], access=access) if wanted.collection else ()
    found, after = await documents.job_list(
        access=access,
        collection_id=ids[0] if ids else None,
        status=wanted.status,
        limit=page.limit,
        after=page.after,
    )
    jobs = [JobShape(**_job(job)) for job in found]
    return body_response(JobList(jobs=jobs, next_cursor=next_cursor(page, after, of="jobs")))


@operation("getJob", "How far a job is", answer(200, "The job.", JobReportShape), parameters=JobParameters)
async def show(request: HttpRequest, job_id: str) -> HttpResponse:
    """With `wait`, return when the job has ended, or after so many seconds."""
    id_ = parse_id(job_id, field="job_id")
    wait_s = float(read_parameters(request, JobParameters).wait)
    job = await documents.wait_for_job(id_, access=access_of(request), wait_s=wait_s)
    response = body_response(JobReportShape(**_job(job), documents=[_document(item) for item in job.items]))
    response["Cache-Control"] = "no-store"
    return response


@operation(
    "retryJob",
    "Try a job's failed documents again",
    answer(200, "There was nothing to retry.", RetriedJob),
    answer(202, "They wait again.", RetriedJob),
)
def retry(request: HttpRequest, job_id: str) -> HttpResponse:
    id_ = parse_id(job_id, field="job_id")
    count = documents.retry_job(id_, access=access_of(request))
    notify_workers(count)
    return body_response(RetriedJob(job_id=id_, documents_retried=count), 202 if count else 200)


def _job(job: JobReport) -> dict[str, Any]:
    fields = {name: getattr(job, name) for name in job.__slots__}
    return {
        **fields,
        "settings": job_settings_by_name(job.settings),
        "progress": JobProgress.model_validate(job),
    }


def _document(item: ItemReport) -> JobDocument:
    fields = {name: getattr(item, name) for name in item.__slots__}
    source = DocumentSource(type=item.source_type, url=item.source_url)
    return JobDocument.model_validate({**fields, "source": source})
