"""/v1/collections: making, listing, changing and counting collections."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import ConfigDict, Field

from documents.access import access_of
from documents.library import collections
from documents.library.collection_settings import CollectionFields, WithoutPermissions, settings_schema
from embeddings.ingest import documents
from embeddings.tasks import hint_delivery
from knowlex.base.errors import InvalidInput
from knowlex.web.openapi import answer, operation
from knowlex.web.pagination import PageParameters, sorting
from knowlex.web.responses import body_response
from knowlex.web.shapes import (
    AsItIs,
    Count,
    Object,
    Omittable,
    OutputShape,
    Time,
    object_rule,
    read_body,
    read_parameters,
    storable_text,
)
from rag.api.v1.parameters import Cursor, NamesHolding
from rag.history.statistics import fetch_collection_statistics

MAX_DESCRIPTION_CHARS = 10_000
_SETTINGS = settings_schema(CollectionFields)
Description = Annotated[str, storable_text(MAX_DESCRIPTION_CHARS)]


class NewCollection(WithoutPermissions):
    model_config = ConfigDict(
        json_schema_extra={"example": {"name": "manuals", "description": "What came with the machines."}}
    )

    name: Annotated[str, storable_text()]
    description: Description = ""
    settings: Annotated[dict[str, Any], object_rule(_SETTINGS)] = {}


class CollectionChanges(WithoutPermissions):
    """At least one of them."""

    model_config = ConfigDict(json_schema_extra={"example": {"description": "Manuals of all machines."}})

    name: Omittable[Annotated[str, storable_text()]] = None
    description: Omittable[Description] = None
    settings: Annotated[Any, AsItIs(**_SETTINGS)] = None


class CollectionListParameters(NamesHolding, PageParameters):
    default_sort = "name"
    sort: Annotated[str, sorting("name", "created_at")] = ""


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
    documents_removed: Annotated[Count, Field(validation_alias="stored")]
    pages_removed: Annotated[Count, Field(validation_alias="pages")]
    chunks_removed: Annotated[Count, Field(validation_alias="chunks")]
    vectors_removed: Annotated[Count, Field(validation_alias="vectors")]


class CollectionStats(OutputShape):
    collection_id: UUID
    document_count: Annotated[Count, Field(validation_alias="documents")]
    chunk_count: Annotated[Count, Field(validation_alias="chunks")]
    total_tokens: Annotated[Count, Field(validation_alias="tokens")]
    storage_bytes: Annotated[Count, Field(description="Files, text and vectors.")]
    query_count_30d: Count
    documents_by_status: Annotated[dict[str, Count], Field(validation_alias="by_status")]
    documents_by_type: Annotated[dict[str, Count], Field(validation_alias="by_type")]


@operation(
    "createCollection",
    "Make a collection",
    answer(201, "Made.", CollectionShape),
    body=NewCollection,
    failures="409 422",
)
def create(request: HttpRequest) -> HttpResponse:
    new = read_body(request, NewCollection)
    collection = collections.create_collection(
        access=access_of(request), name=new.name, description=new.description, settings=new.settings
    )
    return body_response(_shape(collection), 201, location=f"/v1/collections/{collection.id}")


@operation(
    "listCollections",
    "List collections",
    answer(200, "One page.", CollectionList),
    parameters=CollectionListParameters,
    description="At most `limit` at a time; `next_cursor` of a page is the `cursor` of the next.",
)
def index(request: HttpRequest) -> HttpResponse:
    given = read_parameters(request, CollectionListParameters)
    page = given.page("collections")
    rows, after = collections.list_collections(access=access_of(request), page=page, q=given.q)
    shapes = [_shape(row) for row in rows]
    return body_response(CollectionList(collections=shapes, next_cursor=page.next_cursor(after)))


@operation("getCollection", "One collection", answer(200, "The collection.", CollectionShape))
def show(request: HttpRequest, collection_id: UUID) -> HttpResponse:
    return body_response(_shape(collections.get_collection(collection_id, access=access_of(request))))


@operation(
    "changeCollection",
    "Change name, description or settings; documents stay as they are",
    answer(200, "Changed.", CollectionShape),
    body=CollectionChanges,
    failures="409 422",
)
def change(request: HttpRequest, collection_id: UUID) -> HttpResponse:
    given = read_body(request, CollectionChanges)
    changes = {name: getattr(given, name) for name in given.model_fields_set}
    if not changes:
        raise InvalidInput("Give at least one of name, description and settings.")
    collection = collections.change_collection(collection_id, access=access_of(request), changes=changes)
    return body_response(_shape(collection))


@operation(
    "deleteCollection",
    "Delete a collection and everything in it",
    answer(200, "What went.", CollectionReceipt),
)
def remove(request: HttpRequest, collection_id: UUID) -> HttpResponse:
    receipt = documents.delete_collection(collection_id, access=access_of(request))
    hint_delivery()
    return body_response(CollectionReceipt.of(receipt, deleted=True))


@operation(
    "getCollectionStats",
    "What a collection holds, and how much it is asked",
    answer(200, "The figures.", CollectionStats),
)
def stats(request: HttpRequest, collection_id: UUID) -> HttpResponse:
    found = fetch_collection_statistics(collection_id, access=access_of(request))
    body = CollectionStats.of(
        found.counts,
        collection_id=collection_id,
        storage_bytes=found.counts.bytes + found.vector_bytes,
        query_count_30d=found.questions,
    )
    return body_response(body)


def _shape(collection: Any) -> CollectionShape:
    return CollectionShape.of(collection, settings=collections.effective_settings(collection))
