"""What /api/schema says of the Platform API."""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
MAYBE_TEXT: Schema = {"type": "string", "nullable": True}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
ID: Schema = {"type": "string", "format": "uuid"}
MAYBE_ID: Schema = {**ID, "nullable": True}
TIME: Schema = {"type": "string", "format": "date-time"}
MAYBE_TIME: Schema = {**TIME, "nullable": True}
ANYTHING: Schema = {"type": "object", "additionalProperties": True}
STATUS: Schema = {"type": "string", "enum": ["pending", "processing", "completed", "failed"]}
CURSOR: Schema = {**MAYBE_TEXT, "description": "For the next page; null on the last one."}

FAILURES = {
    "400": "A field, parameter or id is missing or wrong; `details.field` names it",
    "401": "No valid API key, where keys are asked for",
    "403": "Not allowed",
    "404": "Unknown id or collection",
    "409": "There is one already, or an equal request is under way",
    "413": "The body is too large",
    "415": "The body's content type is wrong",
    "422": "The Idempotency-Key was used for another request",
    "429": "Too many requests",
    "500": "Something went wrong",
    "503": "The database is not reachable, or the server too busy",
    "507": "No room to store the documents",
}
ALWAYS = ("401", "403", "429", "500", "503")


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def listed(name: str) -> Schema:
    return {"type": "array", "items": ref(name)}


def obj(*required: str, **properties: Schema) -> Schema:
    """All properties are required unless some are named."""
    return {"type": "object", "required": list(required or properties), "properties": properties}


_CHUNKING = {
    "chunking_strategy": {"type": "string", "enum": ["fixed", "sentence", "semantic"]},
    "chunk_size": {"type": "integer", "minimum": 20, "maximum": 512},
    "chunk_overlap": {"type": "integer", "minimum": 0, "description": "At most half of chunk_size."},
    "similarity_threshold": {"type": "number", "minimum": 0, "maximum": 1},
    "min_chunk_size": {"type": "integer", "minimum": 1, "description": "At most chunk_size."},
}
_SOURCE = obj(
    "type",
    "content",
    type={"type": "string", "enum": ["file", "url", "text"]},
    content={"type": "string", "description": "Base64 of a file, a URL, or the text."},
    filename={"type": "string", "description": "Of a file; tells Markdown and HTML from plain text."},
)
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
    "settings": {"type": "object", "properties": _CHUNKING},
    "origin": TEXT,
    "progress": _PROGRESS,
    "created_at": TIME,
    "completed_at": MAYBE_TIME,
}
_METADATA = {**ANYTHING, "description": "Up to 16,000 characters of JSON; `title` becomes the title."}
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

SCHEMAS: dict[str, Schema] = {
    "ChunkingSettings": {"type": "object", "properties": _CHUNKING, "additionalProperties": False},
    "CollectionSettings": {
        "type": "object",
        "properties": {**_CHUNKING, "embedding_model": TEXT, "default_permissions": ANYTHING},
        "additionalProperties": False,
    },
    "NewCollection": obj(
        "name",
        name={"type": "string", "minLength": 1, "maxLength": 255},
        description={"type": "string", "maxLength": 10000},
        settings=ref("CollectionSettings"),
    ),
    "CollectionChanges": {
        "type": "object",
        "minProperties": 1,
        "properties": {"name": TEXT, "description": TEXT, "settings": ref("CollectionSettings")},
    },
    "Collection": obj(
        id=ID,
        name=TEXT,
        description=TEXT,
        settings=ref("CollectionSettings"),
        document_count=COUNT,
        chunk_count=COUNT,
        created_at=TIME,
    ),
    "CollectionList": obj(collections=listed("Collection"), next_cursor=CURSOR),
    "CollectionStats": obj(
        collection_id=ID,
        document_count=COUNT,
        chunk_count=COUNT,
        total_tokens=COUNT,
        storage_bytes={**COUNT, "description": "Files, text and vectors."},
        query_count_30d=COUNT,
        documents_by_status={"type": "object", "additionalProperties": COUNT},
        documents_by_type={"type": "object", "additionalProperties": COUNT},
    ),
    "CollectionReceipt": obj(
        deleted=FLAG,
        documents_removed=COUNT,
        pages_removed=COUNT,
        chunks_removed=COUNT,
        vectors_removed=COUNT,
    ),
    "NewDocument": obj("source", source=_SOURCE, metadata=_METADATA),
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
    "ReplaceRequest": obj("source", source=_SOURCE, metadata=_METADATA, settings=ref("ChunkingSettings")),
    "DocumentReceipt": obj(deleted=FLAG, chunks_removed=COUNT, pages_removed=COUNT, vectors_removed=COUNT),
    "RetriedDocument": obj(document_id=ID, retried=FLAG),
    "PlatformChunk": obj(
        id=ID,
        document_id=ID,
        chunk_index=COUNT,
        content=TEXT,
        position=obj(
            start_char=COUNT,
            end_char=COUNT,
            page_number={"type": "integer", "nullable": True},
            last_page={"type": "integer", "nullable": True},
        ),
        token_count=COUNT,
        metadata=obj(
            section_title=MAYBE_TEXT,
            chapter=MAYBE_TEXT,
            headers={"type": "array", "items": TEXT},
            chunk_type={"type": "string", "enum": ["paragraph", "list", "table", "code"]},
        ),
        embedding_model=MAYBE_TEXT,
        created_at=TIME,
    ),
    "ChunkList": obj(chunks=listed("PlatformChunk"), next_cursor=CURSOR),
    "PageReport": obj(
        document_id=ID,
        pages={
            "type": "array",
            "items": obj(
                page_number=COUNT,
                characters=COUNT,
                read_by={"type": "string", "enum": ["pdfium", "pypdf", "ocr", "text", "none"]},
                warnings={"type": "array", "items": TEXT},
            ),
        },
    ),
}
