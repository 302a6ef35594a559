"""/v1/documents: what is stored or on its way; replacing, retrying and deleting it."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from documents.access.scopes import access_of
from documents.ingest.idempotency import KEY_HEADER, answer_once, checked_key
from documents.ingest.requests import replace_request
from documents.library import listing
from documents.library.collections import find_collection
from documents.library.listing import DocumentFilter, page_report
from embeddings.tasks import tell_shipping
from embeddings.vectors.storage_used import embedded_by
from embeddings.work import ingestion
from knowlex.base.ids import parse_id
from knowlex.web.pagination import next_cursor, page_asked
from knowlex.web.responses import json_response, utc_timestamp
from rag.api.v1.ingest_requests import take_replacement, tell_workers
from rag.api.v1.question_fields import answer, choice, named_in, optional_id, search_text

LOCK_S = 120.0
MAX_TEXT_CHARS = 1_000_000  # of a document's text that is shown with it
SOURCE_TYPES = {"url": "url", "text": "api"}  # else "file"
ANYBODY = {"visibility": "public", "allowed_users": [], "allowed_groups": []}
ENDED = ("completed", "failed")


def index(request: HttpRequest) -> HttpResponse:
    access, asked = access_of(request), request.GET
    page = page_asked(asked, of="documents", sorts=listing.SORTS, default="-created_at")
    named = named_in(asked)
    wanted = DocumentFilter(
        collection_id=None if named is None else find_collection(named, access=access).id,
        job_id=optional_id(asked, "job_id"),
        status=choice(asked, "status", listing.STATUSES),
        type=choice(asked, "type", listing.TYPES),
        q=search_text(asked),
    )
    found, after = listing.list_documents(access=access, page=page, wanted=wanted)
    body = {
        "documents": [_body(entry) for entry in found],
        "next_cursor": next_cursor(page, after, of="documents"),
    }
    return json_response(body)


def show(request: HttpRequest, document_id: str) -> HttpResponse:
    id_ = parse_id(document_id, field="document_id")
    entry = listing.get_document(id_, access=access_of(request))
    text = listing.get_document_text(id_, max_chars=MAX_TEXT_CHARS)
    return json_response({**_body(entry), "content": text})


def replace(request: HttpRequest, document_id: str) -> HttpResponse:
    """The old version answers until the new one is embedded."""
    id_, access = parse_id(document_id, field="document_id"), access_of(request)
    access.require("write")
    key = checked_key(request.headers.get(KEY_HEADER))
    entry = listing.get_document(id_, access=access)
    with replace_request(request, entry.original_filename) as brought:
        reply = answer_once(
            key,
            lambda _: take_replacement(id_, brought, access=access),
            access=access,
            asked=brought.fingerprint("PUT", str(id_)),
            lock_s=LOCK_S,
            in_transaction=True,
        )
    if reply.status == 202 and not reply.replayed:
        tell_workers(1)
    return answer(reply)


def remove(request: HttpRequest, document_id: str) -> HttpResponse:
    id_ = parse_id(document_id, field="document_id")
    receipt = ingestion.delete_document(id_, access=access_of(request))
    tell_shipping()
    body = {
        "deleted": True,
        "chunks_removed": receipt.chunks,
        "pages_removed": receipt.pages,
        "vectors_removed": receipt.vectors,
    }
    return json_response(body)


def retry(request: HttpRequest, document_id: str) -> HttpResponse:
    id_ = parse_id(document_id, field="document_id")
    count = ingestion.retry_document(id_, access=access_of(request))
    tell_workers(count)
    return json_response({"document_id": id_, "retried": count > 0}, 202 if count else 200)


def chunks(request: HttpRequest, document_id: str) -> HttpResponse:
    id_ = parse_id(document_id, field="document_id")
    page = page_asked(request.GET, of=f"chunks of {id_}", sorts=("chunk_index",), default="chunk_index")
    document, found, after = listing.list_chunks(id_, access=access_of(request), page=page)
    models = embedded_by([chunk.id for chunk in found])
    body = {
        "chunks": [
            {**_chunk(chunk, document.metadata), "embedding_model": models.get(chunk.id)} for chunk in found
        ],
        "next_cursor": next_cursor(page, after, of=f"chunks of {id_}"),
    }
    return json_response(body)


def pages(request: HttpRequest, document_id: str) -> HttpResponse:
    id_ = parse_id(document_id, field="document_id")
    body = [
        {
            "page_number": page.number,
            "characters": page.characters,
            "read_by": page.read_by,
            "warnings": list(page.warnings),
        }
        for page in page_report(id_, access=access_of(request), in_any_state=True)
    ]
    return json_response({"document_id": id_, "pages": body})


def _body(entry: Any) -> dict[str, Any]:
    source_type = "url" if entry.source_url else SOURCE_TYPES.get(entry.source_type or "", "file")
    return {
        "id": entry.id,
        "collection_id": entry.collection_id,
        "job_id": entry.job_id,
        "source": {"type": source_type, "url": entry.source_url or None, "connector_id": None},
        "type": entry.source.lower() or None,
        "title": entry.title,
        "language": entry.language or None,
        "filename": entry.original_filename,
        "content_hash": entry.checksum or None,
        "size_bytes": entry.size_bytes,
        "page_count": entry.page_count,
        "metadata": entry.metadata,
        "permissions": {**ANYBODY, **entry.permissions},
        "warnings": entry.warnings,
        "processing": _processing(entry),
        "replacing": entry.replacing,
        "created_at": utc_timestamp(entry.created_at),
        "updated_at": utc_timestamp(entry.updated_at),
    }


def _processing(entry: Any) -> dict[str, Any]:
    return {
        "status": entry.status,
        "stage": entry.stage or None,
        "chunk_count": entry.chunk_count,
        "error_code": entry.error_code or None,
        "error_message": entry.error or None,
        "processed_at": utc_timestamp(entry.updated_at) if entry.status in ENDED else None,
    }


def _chunk(chunk: Any, inherited: dict[str, Any]) -> dict[str, Any]:
    """inherited: the document's metadata, which the chunk's own go before."""
    return {
        "id": chunk.id,
        "document_id": chunk.document_id,
        "chunk_index": chunk.chunk_index,
        "content": chunk.content,
        "position": {
            "start_char": chunk.start_char,
            "end_char": chunk.end_char,
            "page_number": chunk.page_number,
            "last_page": chunk.last_page,
        },
        "token_count": chunk.token_count,
        "metadata": {
            **inherited,
            "section_title": chunk.section or chunk.chapter or None,
            "chapter": chunk.chapter or None,
            "headers": chunk.headers,
            "chunk_type": chunk.chunk_type,
        },
        "created_at": utc_timestamp(chunk.created_at),
    }
