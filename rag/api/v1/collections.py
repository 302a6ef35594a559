"""/v1/collections: making, listing, changing and counting collections."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from documents.access import access_of
from documents.library import collections
from embeddings.ingest import documents
from embeddings.tasks import hint_delivery
from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.fields import check_storable
from knowlex.web.pagination import next_cursor, page_asked
from knowlex.web.responses import json_object, json_response, utc_timestamp
from rag.api.v1.question_fields import search_text, settings_field
from rag.history.collection_statistics import collection_statistics

SORTS = ("name", "created_at")
MAX_DESCRIPTION_CHARS = 10_000


def create(request: HttpRequest) -> HttpResponse:
    body = json_object(request)
    made = collections.create_collection(
        access=access_of(request),
        name=_text(body, "name") or "",
        description=_description(body),
        settings=settings_field(body),
    )
    response = json_response(_body(made), 201)
    response["Location"] = f"/v1/collections/{made.id}"
    return response


def index(request: HttpRequest) -> HttpResponse:
    page = page_asked(request.GET, of="collections", sorts=SORTS, default="name")
    found, after = collections.list_collections(
        access=access_of(request), page=page, q=search_text(request.GET)
    )
    body = {
        "collections": [_body(collection) for collection in found],
        "next_cursor": next_cursor(page, after, of="collections"),
    }
    return json_response(body)


def show(request: HttpRequest, collection_id: str) -> HttpResponse:
    id_ = parse_id(collection_id, field="collection_id")
    return json_response(_body(collections.get_collection(id_, access=access_of(request))))


def change(request: HttpRequest, collection_id: str) -> HttpResponse:
    id_ = parse_id(collection_id, field="collection_id")
    body = json_object(request)
    changes: dict[str, Any] = {name: body[name] for name in ("settings",) if name in body}
    if "name" in body:
        changes["name"] = _text(body, "name")
    if "description" in body:
        changes["description"] = _description(body)
    if not changes:
        raise InvalidInput("Give at least one of name, description and settings.")
    changed = collections.change_collection(id_, access=access_of(request), changes=changes)
    return json_response(_body(changed))


def remove(request: HttpRequest, collection_id: str) -> HttpResponse:
    id_ = parse_id(collection_id, field="collection_id")
    receipt = documents.delete_collection(id_, access=access_of(request))
    hint_delivery()
    body = {
        "deleted": True,
        "documents_removed": receipt.stored,
        "pages_removed": receipt.pages,
        "chunks_removed": receipt.chunks,
        "vectors_removed": receipt.vectors,
    }
    return json_response(body)


def stats(request: HttpRequest, collection_id: str) -> HttpResponse:
    id_ = parse_id(collection_id, field="collection_id")
    found = collection_statistics(id_, access=access_of(request))
    body = {
        "collection_id": id_,
        "document_count": found.counts.documents,
        "chunk_count": found.counts.chunks,
        "total_tokens": found.counts.tokens,
        "storage_bytes": found.counts.bytes + found.vector_bytes,
        "query_count_30d": found.questions,
        "documents_by_status": found.counts.by_status,
        "documents_by_type": found.counts.by_type,
    }
    return json_response(body)


def _body(collection: Any) -> dict[str, Any]:
    return {
        "id": collection.id,
        "name": collection.name,
        "description": collection.description,
        "settings": collections.effective_settings(collection),
        "document_count": collection.document_count,
        "chunk_count": collection.chunk_count,
        "created_at": utc_timestamp(collection.created_at),
    }


def _text(body: dict[str, Any], name: str) -> str:
    """A string; what it may be like is the service's to say. Raises InvalidInput."""
    if not isinstance(body.get(name), str):
        raise InvalidInput(
            f"{name} must be a string." if name in body else f"{name} is required.", field=name
        )
    return check_storable(body[name], name)


def _description(body: dict[str, Any]) -> str:
    text = _text(body, "description") if "description" in body else ""
    if len(text) > MAX_DESCRIPTION_CHARS:
        raise InvalidInput(
            f"description must be at most {MAX_DESCRIPTION_CHARS} characters.", field="description"
        )
    return text
