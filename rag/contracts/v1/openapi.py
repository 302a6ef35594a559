"""The Platform API's operations for /api/schema."""

from typing import Any

from rag.contracts.v1.schema import ALWAYS, COUNT, FAILURES, ID, SCHEMAS, TEXT, Schema, ref

KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "With it the request may be repeated for 24 hours: it is carried out once.",
}
RAW = (
    "application/pdf",
    "text/markdown",
    "text/html",
    "text/plain",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
)


def _query(name: str, schema: Schema, description: str = "") -> Schema:
    return {"name": name, "in": "query", "schema": schema, "description": description}


def _path(name: str) -> Schema:
    return {"name": name, "in": "path", "required": True, "schema": ID}


def _paging(*sorts: str) -> list[Schema]:
    parameters = [
        _query("limit", {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}),
        _query("cursor", TEXT, "`next_cursor` of the page before."),
    ]
    if sorts:
        orders = [order for sort in sorts for order in (sort, f"-{sort}")]
        parameters.append(_query("sort", {"type": "string", "enum": orders}, "With - for descending."))
    return parameters


def _answers(status: str, words: str, schema: str) -> Schema:
    return {status: {"description": words, "content": {"application/json": {"schema": ref(schema)}}}}


def _operation(
    name: str,
    summary: str,
    answers: Schema,
    failures: str,
    *,
    parameters: list[Schema] | None = None,
    body: dict[str, Schema] | None = None,
) -> Schema:
    """failures: statuses besides those that any request may get."""
    statuses = sorted({*ALWAYS, *failures.split()})
    problems = {status: _answers(status, FAILURES[status], "Problem")[status] for status in statuses}
    described: Schema = {
        "operationId": name,
        "summary": summary,
        "tags": ["platform"],
        "parameters": parameters or [],
        "responses": {**answers, **problems},
    }
    if body:
        described["requestBody"] = {
            "required": True,
            "content": {media_type: {"schema": schema} for media_type, schema in body.items()},
        }
    return described


def _json(schema: str) -> dict[str, Schema]:
    return {"application/json": ref(schema)}


_COLLECTION, _DOCUMENT, _JOB = _path("collection_id"), _path("document_id"), _path("job_id")
_Q = _query("q", {"type": "string", "maxLength": 255}, "Text to be found in names, whatever the case.")
_STATUS = _query("status", {"type": "string", "enum": ["pending", "processing", "completed", "failed"]})
_TYPE = _query("type", {"type": "string", "enum": ["pdf", "markdown", "html", "docx", "text"]})
_IN_COLLECTION = _query("collection", TEXT, "A collection's name or id.")
_WAIT = _query("wait", {**COUNT, "maximum": 60, "default": 0}, "Seconds to wait for the job's end.")

PATHS: dict[str, Any] = {
    "/v1/collections": {
        "get": _operation(
            "listCollections",
            "List collections",
            _answers("200", "One page.", "CollectionList"),
            "400",
            parameters=[*_paging("name", "created_at"), _Q],
        ),
        "post": _operation(
            "createCollection",
            "Make a collection",
            _answers("201", "Made.", "Collection"),
            "400 409 413 415",
            body=_json("NewCollection"),
        ),
    },
    "/v1/collections/{collection_id}": {
        "get": _operation(
            "getCollection",
            "One collection",
            _answers("200", "The collection.", "Collection"),
            "400 404",
            parameters=[_COLLECTION],
        ),
        "patch": _operation(
            "changeCollection",
            "Change name, description or settings; documents stay as they are",
            _answers("200", "Changed.", "Collection"),
            "400 404 409 413 415",
            parameters=[_COLLECTION],
            body=_json("CollectionChanges"),
        ),
        "delete": _operation(
            "deleteCollection",
            "Delete a collection and everything in it",
            _answers("200", "What went.", "CollectionReceipt"),
            "400 404",
            parameters=[_COLLECTION],
        ),
    },
    "/v1/collections/{collection_id}/stats": {
        "get": _operation(
            "getCollectionStats",
            "What a collection holds, and how much it is asked",
            _answers("200", "The figures.", "CollectionStats"),
            "400 404",
            parameters=[_COLLECTION],
        )
    },
    "/v1/ingest": {
        "get": _operation(
            "listJobs",
            "List ingest jobs, newest first",
            _answers("200", "One page.", "JobList"),
            "400 404",
            parameters=[*_paging(), _STATUS, _IN_COLLECTION],
        ),
        "post": _operation(
            "ingest",
            "Ingest documents in the background: they are read, split and embedded",
            _answers("200", "Accepted.", "AcceptedJob"),
            "400 404 409 413 415 422 507",
            parameters=[KEY],
            body={**_json("IngestRequest"), "multipart/form-data": ref("IngestForm")},
        ),
    },
    "/v1/ingest/{job_id}": {
        "get": _operation(
            "getJob",
            "How far a job is",
            _answers("200", "The job.", "JobReport"),
            "400 404",
            parameters=[_JOB, _WAIT],
        )
    },
    "/v1/ingest/{job_id}/retry": {
        "post": _operation(
            "retryJob",
            "Try a job's failed documents again",
            _answers("200", "There was nothing to retry.", "RetriedJob")
            | _answers("202", "They wait again.", "RetriedJob"),
            "400 404",
            parameters=[_JOB],
        )
    },
    "/v1/documents": {
        "get": _operation(
            "listPlatformDocuments",
            "List documents, stored or on their way",
            _answers("200", "One page.", "DocumentList"),
            "400 404",
            parameters=[
                *_paging("created_at", "updated_at", "title", "size"),
                _IN_COLLECTION,
                _STATUS,
                _TYPE,
                _Q,
                _query("job_id", ID),
            ],
        )
    },
    "/v1/documents/{document_id}": {
        "get": _operation(
            "getPlatformDocument",
            "One document, in whatever state",
            _answers("200", "The document.", "PlatformDocumentWithText"),
            "400 404",
            parameters=[_DOCUMENT],
        ),
        "put": _operation(
            "replaceDocument",
            "Replace a document; the old version answers until the new one is embedded",
            _answers("200", "The same bytes: nothing is done.", "Replacement")
            | _answers("202", "Accepted.", "Replacement"),
            "400 404 409 413 415 422 507",
            parameters=[_DOCUMENT, KEY, _query("filename", TEXT, "Of bytes that are sent bare.")],
            body={
                **_json("ReplaceRequest"),
                "multipart/form-data": ref("IngestForm"),
                **{media_type: {"type": "string", "format": "binary"} for media_type in RAW},
            },
        ),
        "delete": _operation(
            "deletePlatformDocument",
            "Delete a document in any state, with its chunks and vectors",
            _answers("200", "What went.", "DocumentReceipt"),
            "400 404",
            parameters=[_DOCUMENT],
        ),
    },
    "/v1/documents/{document_id}/retry": {
        "post": _operation(
            "retryDocument",
            "Try a failed document, or its failed replacement, again",
            _answers("200", "There was nothing to retry.", "RetriedDocument")
            | _answers("202", "It waits again.", "RetriedDocument"),
            "400 404",
            parameters=[_DOCUMENT],
        )
    },
    "/v1/documents/{document_id}/chunks": {
        "get": _operation(
            "listPlatformChunks",
            "A document's chunks in reading order",
            _answers("200", "One page.", "ChunkList"),
            "400 404",
            parameters=[_DOCUMENT, *_paging()],
        )
    },
    "/v1/documents/{document_id}/pages": {
        "get": _operation(
            "getPages",
            "How each page was read",
            _answers("200", "All pages.", "PageReport"),
            "400 404",
            parameters=[_DOCUMENT],
        )
    },
}
OPENAPI: dict[str, Any] = {"paths": PATHS, "components": {"schemas": SCHEMAS}}
