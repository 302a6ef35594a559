"""How /v1/ingest is described, and what brings documents."""

from rag.api.v1.openapi.shared import (
    ANYTHING,
    BY_STATUS,
    CHUNKING,
    COUNT,
    CURSOR,
    FLAG,
    ID,
    IN_COLLECTION,
    MAYBE_ID,
    MAYBE_TEXT,
    MAYBE_TIME,
    STATUS,
    TEXT,
    TIME,
    Schema,
    answer,
    json_body,
    listed,
    obj,
    operation,
    paging,
    path,
    query,
    ref,
)

KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "With it the request may be repeated for 24 hours: it is carried out once.",
}
_JOB_ID = path("job_id")
_WAIT = query("wait", {**COUNT, "maximum": 60, "default": 0}, "Seconds to wait for the job's end.")
SOURCE = obj(
    "type",
    "content",
    type={"type": "string", "enum": ["file", "url", "text"]},
    content={"type": "string", "description": "Base64 of a file, a URL, or the text."},
    filename={"type": "string", "description": "Of a file; tells Markdown and HTML from plain text."},
)
METADATA = {**ANYTHING, "description": "Up to 16,000 characters of JSON; `title` becomes the title."}
_PROGRESS = obj(
    total=COUNT,
    processed={**COUNT, "description": "Documents that have ended, failures included."},
    failed=COUNT,
    pages_total=COUNT,
    pages_extracted=COUNT,
    chunks_made=COUNT,
    chunks_embedded=COUNT,
)
_JOB = {
    "job_id": ID,
    "status": {**STATUS, "description": "failed only if all documents failed."},
    "stalled": FLAG,
    "collection_id": ID,
    "collection": TEXT,
    "settings": {"type": "object", "properties": CHUNKING},
    "origin": TEXT,
    "progress": _PROGRESS,
    "created_at": TIME,
    "completed_at": MAYBE_TIME,
}

PATHS: dict[str, Schema] = {
    "/v1/ingest": {
        "get": operation(
            "listJobs",
            "List ingest jobs, newest first",
            answer("200", "One page.", "JobList"),
            "400 404",
            parameters=[*paging(), BY_STATUS, IN_COLLECTION],
        ),
        "post": operation(
            "ingest",
            "Ingest documents in the background: they are read, split and embedded",
            answer("200", "Accepted.", "AcceptedJob"),
            "400 404 409 413 415 422 507",
            parameters=[KEY],
            body={**json_body("IngestRequest"), "multipart/form-data": ref("IngestForm")},
        ),
    },
    "/v1/ingest/{job_id}": {
        "get": operation(
            "getJob",
            "How far a job is",
            answer("200", "The job.", "JobReport"),
            "400 404",
            parameters=[_JOB_ID, _WAIT],
        )
    },
    "/v1/ingest/{job_id}/retry": {
        "post": operation(
            "retryJob",
            "Try a job's failed documents again",
            answer("200", "There was nothing to retry.", "RetriedJob")
            | answer("202", "They wait again.", "RetriedJob"),
            "400 404",
            parameters=[_JOB_ID],
        )
    },
}
SCHEMAS: dict[str, Schema] = {
    "ChunkingSettings": {"type": "object", "properties": CHUNKING, "additionalProperties": False},
    "NewDocument": obj("source", source=SOURCE, metadata=METADATA),
    "IngestRequest": obj(
        "collection_id",
        "documents",
        collection_id={"type": "string", "description": "A collection's id or name."},
        documents={**listed("NewDocument"), "minItems": 1, "maxItems": 100},
        settings=ref("ChunkingSettings"),
    ),
    "IngestForm": obj(
        "file",
        file={"type": "array", "items": {"type": "string", "format": "binary"}},
        collection_id=TEXT,
        settings={"type": "string", "description": "An object, as JSON."},
        metadata={"type": "string", "description": "An object, as JSON; of all the files."},
    ),
    "AcceptedJob": obj(
        job_id=ID,
        status={"type": "string", "enum": ["accepted"]},
        documents_queued=COUNT,
        collection_id=ID,
        documents={"type": "array", "items": obj(id=ID, filename=TEXT, status=STATUS)},
    ),
    "Job": obj(**_JOB),
    "JobList": obj(jobs=listed("Job"), next_cursor=CURSOR),
    "JobDocument": obj(
        id=ID,
        filename=TEXT,
        title=TEXT,
        source=obj(type=TEXT, url=MAYBE_TEXT),
        status=STATUS,
        stage=TEXT,
        stalled=FLAG,
        attempts=COUNT,
        chunk_count=COUNT,
        pages_total=COUNT,
        pages_extracted=COUNT,
        chunks_made=COUNT,
        chunks_embedded=COUNT,
        warnings={"type": "array", "items": TEXT},
        error=MAYBE_TEXT,
        error_code=MAYBE_TEXT,
        duplicate_of=MAYBE_ID,
        deleted=FLAG,
        started_at=MAYBE_TIME,
        completed_at=MAYBE_TIME,
    ),
    "JobReport": obj(**_JOB, documents=listed("JobDocument")),
    "RetriedJob": obj(job_id=ID, documents_retried=COUNT),
}
