"""How /v1/documents is described."""

from rag.api.v1.openapi.jobs import KEY, METADATA, SOURCE
from rag.api.v1.openapi.shared import (
    ANYTHING,
    BY_STATUS,
    COUNT,
    CURSOR,
    FLAG,
    HOLDING,
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

RAW = (
    "application/pdf",
    "text/markdown",
    "text/html",
    "text/plain",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
)
_DOCUMENT_ID = path("document_id")
_TYPE = query("type", {"type": "string", "enum": ["pdf", "markdown", "html", "docx", "text"]})
_DOCUMENT = {
    "id": ID,
    "collection_id": ID,
    "job_id": MAYBE_ID,
    "source": obj(
        type={"type": "string", "enum": ["file", "url", "api", "manual"]},
        url=MAYBE_TEXT,
        connector_id=MAYBE_TEXT,
    ),
    "type": {**MAYBE_TEXT, "enum": ["pdf", "markdown", "html", "docx", "text", None]},
    "title": TEXT,
    "language": {**MAYBE_TEXT, "description": "ISO 639-1 code; null if it is not known."},
    "filename": TEXT,
    "content_hash": {**MAYBE_TEXT, "description": "SHA-256 of the bytes, 64 hex digits."},
    "size_bytes": {"type": "integer", "nullable": True},
    "page_count": COUNT,
    "metadata": ANYTHING,
    "permissions": ANYTHING,
    "warnings": {"type": "array", "items": TEXT},
    "processing": obj(
        status=STATUS,
        stage=MAYBE_TEXT,
        chunk_count=COUNT,
        error_code=MAYBE_TEXT,
        error_message=MAYBE_TEXT,
        processed_at=MAYBE_TIME,
    ),
    "replacing": {**FLAG, "description": "A new version is in the making."},
    "created_at": TIME,
    "updated_at": TIME,
}

PATHS: dict[str, Schema] = {
    "/v1/documents": {
        "get": operation(
            "listPlatformDocuments",
            "List documents, stored or on their way",
            answer("200", "One page.", "DocumentList"),
            "400 404",
            parameters=[
                *paging("created_at", "updated_at", "title", "size"),
                IN_COLLECTION,
                BY_STATUS,
                _TYPE,
                HOLDING,
                query("job_id", ID),
            ],
        )
    },
    "/v1/documents/{document_id}": {
        "get": operation(
            "getPlatformDocument",
            "One document, in whatever state",
            answer("200", "The document.", "PlatformDocumentWithText"),
            "400 404",
            parameters=[_DOCUMENT_ID],
        ),
        "put": operation(
            "replaceDocument",
            "Replace a document; the old version answers until the new one is embedded",
            answer("200", "The same bytes: nothing is done.", "Replacement")
            | answer("202", "Accepted.", "Replacement"),
            "400 404 409 413 415 422 507",
            parameters=[_DOCUMENT_ID, KEY, query("filename", TEXT, "Of bytes that are sent bare.")],
            body={
                **json_body("ReplaceRequest"),
                "multipart/form-data": ref("IngestForm"),
                **{media_type: {"type": "string", "format": "binary"} for media_type in RAW},
            },
        ),
        "delete": operation(
            "deletePlatformDocument",
            "Delete a document in any state, with its chunks and vectors",
            answer("200", "What went.", "DocumentReceipt"),
            "400 404",
            parameters=[_DOCUMENT_ID],
        ),
    },
    "/v1/documents/{document_id}/retry": {
        "post": operation(
            "retryDocument",
            "Try a failed document, or its failed replacement, again",
            answer("200", "There was nothing to retry.", "RetriedDocument")
            | answer("202", "It waits again.", "RetriedDocument"),
            "400 404",
            parameters=[_DOCUMENT_ID],
        )
    },
}
SCHEMAS: dict[str, Schema] = {
    "PlatformDocument": obj(**_DOCUMENT),
    "PlatformDocumentWithText": obj(
        **_DOCUMENT,
        content={**MAYBE_TEXT, "description": "The text, if it has at most 1,000,000 characters."},
    ),
    "DocumentList": obj(documents=listed("PlatformDocument"), next_cursor=CURSOR),
    "Replacement": obj(
        "document_id",
        "status",
        job_id=ID,
        document_id=ID,
        status={"type": "string", "enum": ["accepted", "unchanged"]},
    ),
    "ReplaceRequest": obj("source", source=SOURCE, metadata=METADATA, settings=ref("ChunkingSettings")),
    "DocumentReceipt": obj(deleted=FLAG, chunks_removed=COUNT, pages_removed=COUNT, vectors_removed=COUNT),
    "RetriedDocument": obj(document_id=ID, retried=FLAG),
}
