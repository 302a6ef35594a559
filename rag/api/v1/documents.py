"""/v1/documents: what is stored or on its way; replacing, retrying and deleting it."""

from functools import partial
from typing import Annotated, Any, get_args
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from documents.access import access_of
from documents.ingest.requests import RAW_TYPES, IngestForm, ReplaceRequest, receive_replacement
from documents.library import listing
from documents.library.collections import find_collection
from documents.library.listing import DocumentFilter, page_report
from documents.types import Source
from embeddings.ingest import documents
from embeddings.tasks import hint_delivery
from embeddings.vectors.rows import fetch_model_names
from knowlex.web.openapi import IDEMPOTENCY_KEY, JSON, answer, operation
from knowlex.web.pagination import PageParameters, sorting
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
    read_parameters,
)
from rag.api.v1.ingest_jobs import ReplacementReceipt, answer_ingest, make_replacement, notify_workers
from rag.api.v1.parameters import Cursor, InCollection, NamesHolding, Status, WithStatus

MAX_TEXT_CHARS = 1_000_000  # of a document's text that is shown with it
SOURCE_TYPES = {"url": "url", "text": "api"}  # else "file"
ANYBODY = {"visibility": "public", "allowed_users": [], "allowed_groups": []}
ENDED = ("completed", "failed")
BINARY = {"schema": {"type": "string", "format": "binary"}}


class DocumentListParameters(NamesHolding, WithStatus, InCollection, PageParameters):
    sort: Annotated[str, sorting(*listing.SORTS)] = ""
    type: Omittable[Annotated[str, choice(*listing.TYPES, fold=True)]] = None
    job_id: IdOrNone = None


class ChunkListParameters(PageParameters):
    default_sort = "chunk_index"
    sort: SkipJsonSchema[Annotated[str, sorting("chunk_index")]] = ""


class ReplaceParameters(InputShape):
    filename: Annotated[str, Field(description="Of bytes that are sent bare.")] = ""


class DocumentOrigin(OutputShape):
    type: Annotated[str, Field(json_schema_extra={"enum": ["file", "url", "api", "manual"]})]
    url: TextOrNull
    connector_id: str | None


class DocumentProcessing(OutputShape):
    status: Status
    stage: TextOrNull
    chunk_count: Count
    error_code: TextOrNull
    error_message: Annotated[TextOrNull, Field(validation_alias="error")]
    processed_at: Time | None


class PlatformDocument(OutputShape):
    id: UUID
    collection_id: UUID
    job_id: UUID | None
    source: DocumentOrigin
    type: Annotated[TextOrNull, Field(json_schema_extra={"enum": [*map(str.lower, get_args(Source)), None]})]
    title: str
    language: Annotated[TextOrNull, Field(description="ISO 639-1 code; null if it is not known.")]
    filename: Annotated[str, Field(validation_alias="original_filename")]
    content_hash: Annotated[
        TextOrNull, Field(validation_alias="checksum", description="SHA-256 of the bytes, 64 hex digits.")
    ]
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


class DocumentReceipt(OutputShape):
    deleted: bool
    chunks_removed: Annotated[Count, Field(validation_alias="chunks")]
    pages_removed: Annotated[Count, Field(validation_alias="pages")]
    vectors_removed: Annotated[Count, Field(validation_alias="vectors")]
    views_removed: Annotated[
        Count, Field(validation_alias="views", description="Cached pictures and layouts of its pages.")
    ]


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
    failures="404",
)
def index(request: HttpRequest) -> HttpResponse:
    access = access_of(request)
    given = read_parameters(request, DocumentListParameters)
    page = given.page("documents")
    wanted = DocumentFilter(
        collection_id=find_collection(given.collection, access=access).id if given.collection else None,
        job_id=given.job_id,
        status=given.status or "",
        type=given.type or "",
        q=given.q,
    )
    entries, after = listing.list_documents(access=access, page=page, filters=wanted)
    shapes = [_document(entry) for entry in entries]
    return body_response(DocumentList(documents=shapes, next_cursor=page.next_cursor(after)))


@operation(
    "getPlatformDocument",
    "One document, in whatever state",
    answer(200, "The document.", PlatformDocumentWithText),
)
def show(request: HttpRequest, document_id: UUID) -> HttpResponse:
    entry = listing.get_document(document_id, access=access_of(request))
    text = listing.get_document_text(document_id, max_chars=MAX_TEXT_CHARS)
    return body_response(_document(entry, PlatformDocumentWithText, content=text))


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
def replace(request: HttpRequest, document_id: UUID) -> HttpResponse:
    access = access_of(request)
    access.require("write")
    entry = listing.get_document(document_id, access=access)
    receiving = receive_replacement(request, entry.original_filename)
    return answer_ingest(request, receiving, partial(make_replacement, document_id), "PUT", str(document_id))


@operation(
    "deletePlatformDocument",
    "Delete a document in any state, with its chunks and vectors",
    answer(200, "What went.", DocumentReceipt),
)
def remove(request: HttpRequest, document_id: UUID) -> HttpResponse:
    receipt = documents.delete_document(document_id, access=access_of(request))
    hint_delivery()
    return body_response(DocumentReceipt.of(receipt, deleted=True))


@operation(
    "retryDocument",
    "Try a failed document, or its failed replacement, again",
    answer(200, "There was nothing to retry.", RetriedDocument),
    answer(202, "It waits again.", RetriedDocument),
)
def retry(request: HttpRequest, document_id: UUID) -> HttpResponse:
    count = documents.retry_document(document_id, access=access_of(request))
    notify_workers(count)
    return body_response(RetriedDocument(document_id=document_id, retried=count > 0), 202 if count else 200)


@operation(
    "listPlatformChunks",
    "A document's chunks in reading order",
    answer(200, "One page.", ChunkList),
    parameters=ChunkListParameters,
)
def chunks(request: HttpRequest, document_id: UUID) -> HttpResponse:
    page = read_parameters(request, ChunkListParameters).page(f"chunks of {document_id}")
    document, rows, after = listing.list_chunks(document_id, access=access_of(request), page=page)
    models = fetch_model_names([chunk.id for chunk in rows])
    shapes = [_chunk(chunk, document.metadata, models.get(chunk.id)) for chunk in rows]
    return body_response(ChunkList(chunks=shapes, next_cursor=page.next_cursor(after)))


@operation("getPages", "How each page was read", answer(200, "All pages.", PageReportShape))
def pages(request: HttpRequest, document_id: UUID) -> HttpResponse:
    report = page_report(document_id, access=access_of(request), in_any_state=True)
    return body_response(PageReportShape.model_validate({"document_id": document_id, "pages": report}))


def _document(entry: Any, shape: type[PlatformDocument] = PlatformDocument, **more: Any) -> PlatformDocument:
    source_type = "url" if entry.source_url else SOURCE_TYPES.get(entry.source_type or "", "file")
    processed_at = entry.updated_at if entry.status in ENDED else None
    return shape.of(
        entry,
        source=DocumentOrigin(type=source_type, url=entry.source_url, connector_id=None),
        type=entry.source.lower(),
        permissions={**ANYBODY, **entry.permissions},
        processing=DocumentProcessing.of(entry, processed_at=processed_at),
        **more,
    )


def _chunk(chunk: Any, document_metadata: dict[str, Any], embedding_model: str | None) -> PlatformChunk:
    """Return the shape of a chunk. Its own metadata go before those of its document."""
    own = {
        "section_title": chunk.section or chunk.chapter or None,
        "chapter": chunk.chapter or None,
        "headers": chunk.headers,
        "chunk_type": chunk.chunk_type,
    }
    metadata = {**document_metadata, **own}
    return PlatformChunk.of(chunk, position=chunk, metadata=metadata, embedding_model=embedding_model)
