"""/v1/collections: making, listing, changing and counting collections."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import ConfigDict, Field

from documents.access import access_of
from documents.library import collections
from embeddings.ingest import documents
from embeddings.tasks import hint_delivery
from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.openapi import answer, operation
from knowlex.web.pagination import next_cursor, read_page
from knowlex.web.responses import body_response
from knowlex.web.shapes import (
    AsItIs,
    Count,
    InputShape,
    Object,
    Omittable,
    OutputShape,
    Time,
    object_rule,
    read_body,
    read_parameters,
    storable_text,
)
from rag.api.v1.parameters import CHUNKING, Cursor, NamesHolding
from rag.history.statistics import fetch_collection_statistics

SORTS = ("name", "created_at")
MAX_DESCRIPTION_CHARS = 10_000
_SETTINGS = {
    "type": "object",
    "properties": {
        **CHUNKING,
        "embedding_model": {"type": "string"},
        "default_permissions": {"type": "object", "additionalProperties": True},
    },
    "additionalProperties": False,
}
Description = Annotated[str, storable_text(MAX_DESCRIPTION_CHARS)]


class NewCollection(InputShape):
    model_config = ConfigDict(
        json_schema_extra={"example": {"name": "manuals", "description": "What came with the machines."}}
    )

    name: Annotated[str, storable_text()]
    description: Description = ""
    settings: Annotated[dict[str, Any], object_rule(_SETTINGS)] = {}


class CollectionChanges(InputShape):
    """At least one of them."""

    model_config = ConfigDict(json_schema_extra={"example": {"description": "Manuals of all machines."}})

    name: Omittable[Annotated[str, storable_text()]] = None
    description: Omittable[Description] = None
    settings: Annotated[Any, AsItIs(**_SETTINGS)] = None


class CollectionShape(OutputShape):
    id: UUID
    name: str
    description: str
    settings: Object
    document_count: Count
    chunk_count: Count
    created_at: Time


class CollectionList(OutputShape):
    collections: list[CollectionShape]
    next_cursor: Cursor


class CollectionReceipt(OutputShape):
    deleted: bool
    documents_removed: Count
    pages_removed: Count
    chunks_removed: Count
    vectors_removed: Count


class CollectionStats(OutputShape):
    collection_id: UUID
    document_count: Count
    chunk_count: Count
    total_tokens: Count
    storage_bytes: Annotated[Count, Field(description="Files, text and vectors.")]
    query_count_30d: Count
    documents_by_status: dict[str, Count]
    documents_by_type: dict[str, Count]


@operation(
    "createCollection",
    "Make a collection",
    answer(201, "Made.", CollectionShape),
    body=NewCollection,
    failures="409",
)
def create(request: HttpRequest) -> HttpResponse:
    new = read_body(request, NewCollection)
    collection = collections.create_collection(
        access=access_of(request), name=new.name, description=new.description, settings=new.settings
    )
    return body_response(_body(collection), 201, location=f"/v1/collections/{collection.id}")


@operation(
    "listCollections",
    "List collections",
    answer(200, "One page.", CollectionList),
    parameters=NamesHolding,
    sorts=SORTS,
    description="At most `limit` at a time; `next_cursor` of a page is the `cursor` of the next.",
)
def index(request: HttpRequest) -> HttpResponse:
    page = read_page(request.GET, of="collections", sorts=SORTS, default="name")
    wanted = read_parameters(request, NamesHolding)
    found, after = collections.list_collections(access=access_of(request), page=page, q=wanted.q)
    cursor = next_cursor(page, after, of="collections")
    return body_response(CollectionList(collections=[_body(one) for one in found], next_cursor=cursor))


@operation("getCollection", "One collection", answer(200, "The collection.", CollectionShape))
def show(request: HttpRequest, collection_id: str) -> HttpResponse:
    id_ = parse_id(collection_id, field="collection_id")
    return body_response(_body(collections.get_collection(id_, access=access_of(request))))


@operation(
    "changeCollection",
    "Change name, description or settings; documents stay as they are",
    answer(200, "Changed.", CollectionShape),
    body=CollectionChanges,
    failures="409",
)
def change(request: HttpRequest, collection_id: str) -> HttpResponse:
    id_ = parse_id(collection_id, field="collection_id")
    given = read_body(request, CollectionChanges)
    changes = {name: getattr(given, name) for name in given.model_fields_set}
    if not changes:
        raise InvalidInput("Give at least one of name, description and settings.")
    return body_response(
        _body(collections.change_collection(id_, access=access_of(request), changes=changes))
    )


@operation(
    "deleteCollection",
    "Delete a collection and everything in it",
    answer(200, "What went.", CollectionReceipt),
)
def remove(request: HttpRequest, collection_id: str) -> HttpResponse:
    id_ = parse_id(collection_id, field="collection_id")
    receipt = documents.delete_collection(id_, access=access_of(request))
    hint_delivery()
    body = CollectionReceipt(
        deleted=True,
        documents_removed=receipt.stored,
        pages_removed=receipt.pages,
        chunks_removed=receipt.chunks,
        vectors_removed=receipt.vectors,
    )
    return body_response(body)


@operation(
    "getCollectionStats",
    "What a collection holds, and how much it is asked",
    answer(200, "The figures.", CollectionStats),
)
def stats(request: HttpRequest, collection_id: str) -> HttpResponse:
    id_ = parse_id(collection_id, field="collection_id")
    found = fetch_collection_statistics(id_, access=access_of(request))
    body = CollectionStats(
        collection_id=id_,
        document_count=found.counts.documents,
        chunk_count=found.counts.chunks,
        total_tokens=found.counts.tokens,
        storage_bytes=found.counts.bytes + found.vector_bytes,
        query_count_30d=found.questions,
        documents_by_status=found.counts.by_status,
        documents_by_type=found.counts.by_type,
    )
    return body_response(body)


def _body(collection: Any) -> CollectionShape:
    settings = collections.effective_settings(collection)
    fields = ("id", "name", "description", "document_count", "chunk_count", "created_at")
    return CollectionShape(settings=settings, **{name: getattr(collection, name) for name in fields})
