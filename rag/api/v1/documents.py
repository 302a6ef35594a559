"""/v1/documents: what is stored or on its way; replacing, retrying and deleting it."""

from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from documents.access import access_of
from documents.ingest.idempotency import KEY_HEADER, answer_once, checked_key
from documents.ingest.requests import RAW_TYPES, receive_replacement
from documents.library import listing
from documents.library.collections import find_collection
from documents.library.listing import DocumentFilter, page_report
from embeddings.ingest import documents
from embeddings.tasks import hint_delivery
from embeddings.vectors.rows import fetch_model_names
from knowlex.base.ids import parse_id
from knowlex.web.openapi import IDEMPOTENCY_KEY, JSON, answer, operation
from knowlex.web.pagination import next_cursor, read_page
from knowlex.web.responses import body_response
from knowlex.web.shapes import (
    Count,
    IdOrNone,
    InputShape,
    Object,
    Omittable,
    OutputShape,
    TextOrNull,
    Time,
    choice,
    object_rule,
    read_parameters,
)
from rag.api.v1.ingest import METADATA, ChunkingSettings, IngestForm, SourceOfDocument
from rag.api.v1.ingest_jobs import notify_workers, take_replacement
from rag.api.v1.parameters import Cursor, InCollection, NamesHolding, Status, WithStatus, reply_response

LOCK_S = 120.0
MAX_TEXT_CHARS = 1_000_000  # of a document's text that is shown with it
SOURCE_TYPES = {"url": "url", "text": "api"}  # else "file"
ANYBODY = {"visibility": "public", "allowed_users": [], "allowed_groups": []}
ENDED = ("completed", "failed")
BINARY = {"schema": {"type": "string", "format": "binary"}}


class DocumentListParameters(NamesHolding, WithStatus, InCollection):
    type: Omittable[Annotated[str, choice(*listing.TYPES, fold=True)]] = None
    job_id: IdOrNone = None


class ReplaceParameters(InputShape):
    filename: Annotated[str, Field(description="Of bytes that are sent bare.")] = ""


class ReplaceRequest(InputShape):
    source: SourceOfDocument
    metadata: Annotated[dict[str, Any], object_rule(METADATA)] = {}
    settings: ChunkingSettings = {}


class DocumentOrigin(OutputShape):
    type: Annotated[str, Field(json_schema_extra={"enum": ["file", "url", "api", "manual"]})]
    url: TextOrNull
    connector_id: str | None


class DocumentProcessing(OutputShape):
    status: Status
    stage: TextOrNull
    chunk_count: Count
    error_code: TextOrNull
    error_message: TextOrNull
    processed_at: Time | None


class PlatformDocument(OutputShape):
    id: UUID
    collection_id: UUID
    job_id: UUID | None
    source: DocumentOrigin
    type: Annotated[
        TextOrNull, Field(json_schema_extra={"enum": ["pdf", "markdown", "html", "docx", "text", None]})
    ]
    title: str
    language: Annotated[TextOrNull, Field(description="ISO 639-1 code; null if it is not known.")]
    filename: str
    content_hash: Annotated[TextOrNull, Field(description="SHA-256 of the bytes, 64 hex digits.")]
    size_bytes: int | None
    page_count: Count
    metadata: Object
    permissions: Object
    warnings: list[str]
    processing: DocumentProcessing
    replacing: Annotated[bool, Field(description="A new version is in the making.")]
    created_at: Time
    updated_at: Time


class PlatformDocumentWithText(PlatformDocument):
    content: Annotated[str | None, Field(description="The text, if it has at most 1,000,000 characters.")]


class DocumentList(OutputShape):
    documents: list[PlatformDocument]
    next_cursor: Cursor


class ReplacementReceipt(OutputShape):
    document_id: UUID
    status: Literal["accepted", "unchanged"]
    job_id: Annotated[UUID | None, Field(exclude_if=lambda value: value is None)] = None


class DocumentReceipt(OutputShape):
    deleted: bool
    chunks_removed: Count
    pages_removed: Count
    vectors_removed: Count
    views_removed: Annotated[Count, Field(description="Cached pictures and layouts of its pages.")]


class RetriedDocument(OutputShape):
    document_id: UUID
    retried: bool


class ChunkPosition(OutputShape):
    start_char: Count
    end_char: Count
    page_number: int | None
    last_page: int | None


class PlatformChunk(OutputShape):
    id: UUID
    document_id: UUID
    chunk_index: Count
    content: str
    position: ChunkPosition
    token_count: Count
    metadata: Annotated[
        Object,
        Field(description="The document's, and section_title, chapter, headers and chunk_type of the chunk."),
    ]
    created_at: Time
    embedding_model: str | None


class ChunkList(OutputShape):
    chunks: list[PlatformChunk]
    next_cursor: Cursor


class ReadPage(OutputShape):
    page_number: Annotated[int, Field(validation_alias="number")]
    characters: Count
    read_by: Annotated[str, Field(json_schema_extra={"enum": ["pdfium", "pypdf", "ocr", "text", "none"]})]
    warnings: list[str]


class PageReportShape(OutputShape):
    document_id: UUID
    pages: list[ReadPage]


@operation(
    "listPlatformDocuments",
    "List documents, stored or on their way",
    answer(200, "One page.", DocumentList),
    parameters=DocumentListParameters,
    sorts=listing.SORTS,
    failures="404",
)
def index(request: HttpRequest) -> HttpResponse:
    access = access_of(request)
    page = read_page(request.GET, of="documents", sorts=listing.SORTS, default="-created_at")
    given = read_parameters(request, DocumentListParameters)
    wanted = DocumentFilter(
        collection_id=find_collection(given.collection, access=access).id if given.collection else None,
        job_id=given.job_id,
        status=given.status or "",
        type=given.type or "",
        q=given.q,
    )
    found, after = listing.list_documents(access=access, page=page, filters=wanted)
    documents = [PlatformDocument(**_fields(entry)) for entry in found]
    cursor = next_cursor(page, after, of="documents")
    return body_response(DocumentList(documents=documents, next_cursor=cursor))


@operation(
    "getPlatformDocument",
    "One document, in whatever state",
    answer(200, "The document.", PlatformDocumentWithText),
)
def show(request: HttpRequest, document_id: str) -> HttpResponse:
    id_ = parse_id(document_id, field="document_id")
    entry = listing.get_document(id_, access=access_of(request))
    text = listing.get_document_text(id_, max_chars=MAX_TEXT_CHARS)
    return body_response(PlatformDocumentWithText(**_fields(entry), content=text))


@operation(
    "replaceDocument",
    "Replace a document; the old version answers until the new one is embedded",
    answer(200, "The same bytes: nothing is done.", ReplacementReceipt),
    answer(202, "Accepted.", ReplacementReceipt),
    body={
        JSON: ReplaceRequest,
        "multipart/form-data": IngestForm,
        **{media_type: BINARY for media_type, suffix in RAW_TYPES.items() if suffix},
    },
    parameters=ReplaceParameters,
    headers=(IDEMPOTENCY_KEY,),
    failures="409 422 507",
)
def replace(request: HttpRequest, document_id: str) -> HttpResponse:
    id_, access = parse_id(document_id, field="document_id"), access_of(request)
    access.require("write")
    key = checked_key(request.headers.get(KEY_HEADER))
    entry = listing.get_document(id_, access=access)
    with receive_replacement(request, entry.original_filename) as brought:
        reply = answer_once(
            key,
            lambda _: take_replacement(id_, brought, access=access),
            access=access,
            asked=brought.fingerprint("PUT", str(id_)),
            lock_s=LOCK_S,
            in_transaction=True,
        )
    if reply.status == 202 and not reply.replayed:
        notify_workers(1)
    return reply_response(reply)


@operation(
    "deletePlatformDocument",
    "Delete a document in any state, with its chunks and vectors",
    answer(200, "What went.", DocumentReceipt),
)
def remove(request: HttpRequest, document_id: str) -> HttpResponse:
    id_ = parse_id(document_id, field="document_id")
    receipt = documents.delete_document(id_, access=access_of(request))
    hint_delivery()
    body = DocumentReceipt(
        deleted=True,
        chunks_removed=receipt.chunks,
        pages_removed=receipt.pages,
        vectors_removed=receipt.vectors,
        views_removed=receipt.views,
    )
    return body_response(body)


@operation(
    "retryDocument",
    "Try a failed document, or its failed replacement, again",
    answer(200, "There was nothing to retry.", RetriedDocument),
    answer(202, "It waits again.", RetriedDocument),
)
def retry(request: HttpRequest, document_id: str) -> HttpResponse:
    id_ = parse_id(document_id, field="document_id")
    count = documents.retry_document(id_, access=access_of(request))
    notify_workers(count)
    return body_response(RetriedDocument(document_id=id_, retried=count > 0), 202 if count else 200)


@operation(
    "listPlatformChunks",
    "A document's chunks in reading order",
    answer(200, "One page.", ChunkList),
    sorts=("",),
)
def chunks(request: HttpRequest, document_id: str) -> HttpResponse:
    id_ = parse_id(document_id, field="document_id")
    page = read_page(request.GET, of=f"chunks of {id_}", sorts=("chunk_index",), default="chunk_index")
    document, found, after = listing.list_chunks(id_, access=access_of(request), page=page)
    models = fetch_model_names([chunk.id for chunk in found])
    shown = [_chunk(chunk, document.metadata, models.get(chunk.id)) for chunk in found]
    return body_response(ChunkList(chunks=shown, next_cursor=next_cursor(page, after, of=f"chunks of {id_}")))


@operation("getPages", "How each page was read", answer(200, "All pages.", PageReportShape))
def pages(request: HttpRequest, document_id: str) -> HttpResponse:
    id_ = parse_id(document_id, field="document_id")
    report = page_report(id_, access=access_of(request), in_any_state=True)
    return body_response(
        PageReportShape(document_id=id_, pages=[ReadPage.model_validate(page) for page in report])
    )


def _fields(entry: Any) -> dict[str, Any]:
    source_type = "url" if entry.source_url else SOURCE_TYPES.get(entry.source_type or "", "file")
    return {
        "id": entry.id,
        "collection_id": entry.collection_id,
        "job_id": entry.job_id,
        "source": DocumentOrigin(type=source_type, url=entry.source_url, connector_id=None),
        "type": entry.source.lower(),
        "title": entry.title,
        "language": entry.language,
        "filename": entry.original_filename,
        "content_hash": entry.checksum,
        "size_bytes": entry.size_bytes,
        "page_count": entry.page_count,
        "metadata": entry.metadata,
        "permissions": {**ANYBODY, **entry.permissions},
        "warnings": entry.warnings,
        "processing": DocumentProcessing(
            status=entry.status,
            stage=entry.stage,
            chunk_count=entry.chunk_count,
            error_code=entry.error_code,
            error_message=entry.error,
            processed_at=entry.updated_at if entry.status in ENDED else None,
        ),
        "replacing": entry.replacing,
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
    }


def _chunk(chunk: Any, inherited: dict[str, Any], embedding_model: str | None) -> PlatformChunk:
    """inherited: the document's metadata, which the chunk's own go before."""
    return PlatformChunk(
        id=chunk.id,
        document_id=chunk.document_id,
        chunk_index=chunk.chunk_index,
        content=chunk.content,
        position=ChunkPosition.model_validate(chunk),
        token_count=chunk.token_count,
        metadata={
            **inherited,
            "section_title": chunk.section or chunk.chapter or None,
            "chapter": chunk.chapter or None,
            "headers": chunk.headers,
            "chunk_type": chunk.chunk_type,
        },
        created_at=chunk.created_at,
        embedding_model=embedding_model,
    )
