"""/v1/sources: folders, WebDAV folders and buckets that stay in sync with a collection."""

from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import ConfigDict, Field, model_validator

from documents.access import access_of
from documents.library.collections import find_collection
from documents.sources import services
from embeddings.ingest.documents import DeletionReceipt, delete_documents
from embeddings.tasks import hint_delivery, hint_sync
from knowlex.web.openapi import answer, operation
from knowlex.web.pagination import PageParameters, sorting
from knowlex.web.responses import body_response
from knowlex.web.shapes import (
    Count,
    InputShape,
    Object,
    Omittable,
    OutputShape,
    Rule,
    Time,
    choice,
    integer,
    object_rule,
    read_body,
    read_parameters,
    storable_text,
    text,
)
from rag.api.v1.parameters import Cursor, InCollection

Kind = Literal["folder", "webdav", "s3"]
State = Literal["idle", "pending", "running", "completed", "needs_confirmation", "failed"]
Stage = Literal["listing", "matching", "taking", "waiting", "removing"]
ItemState = Literal["new", "taken", "present", "skipped", "failed"]
MIN_MINUTES, MAX_MINUTES = 1, 60 * 24 * 365
_CONFIG = {
    "type": "object",
    "description": "folder: `path`. webdav: `url`, `username`. s3: `bucket`, `prefix`, `endpoint`, `region`, "
    "`access_key_id`.",
    "properties": {
        name: {"type": "string"}
        for name in ("path", "url", "username", "bucket", "prefix", "endpoint", "region", "access_key_id")
    },
    "additionalProperties": False,
}


def _check_minutes(value: Any) -> int | None:
    return None if value is None else integer(MIN_MINUTES, MAX_MINUTES).check(value)


Minutes = Annotated[
    int | None,
    Rule(
        _check_minutes, {"type": "integer", "nullable": True, "minimum": MIN_MINUTES, "maximum": MAX_MINUTES}
    ),
    Field(description="Runs begin so long after the end of the last one; null: only when told to."),
]
Secret = Annotated[
    str,
    storable_text(),
    Field(description="The password, or the secret access key. Stored encrypted and never shown."),
]


class NewSource(InputShape):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "name": "handbooks",
                "collection": "default",
                "kind": "webdav",
                "config": {
                    "url": "https://cloud.example.com/remote.php/dav/files/ann/Handbooks",
                    "username": "ann",
                },
                "secret": "an app password",
                "every_minutes": 30,
            }
        }
    )

    name: Annotated[str, text(255)]
    collection: Annotated[str, text(255), Field(description="A collection's name or id.")]
    kind: Annotated[Kind, choice(*get_args(Kind))]
    config: Annotated[dict[str, Any], object_rule(_CONFIG)]
    secret: Secret = ""
    every_minutes: Minutes = None


class SourceChanges(InputShape):
    """What is not given stays; a config is given whole. Kind and collection of a source never change."""

    model_config = ConfigDict(json_schema_extra={"example": {"every_minutes": 60}})

    name: Omittable[Annotated[str, text(255)]] = None
    config: Omittable[Annotated[dict[str, Any], object_rule(_CONFIG)]] = None
    secret: Omittable[Secret] = None
    every_minutes: Minutes = None


class RunRequest(InputShape):
    """What is misspelt is refused: a real run may delete what a dry one only counts."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"dry_run": True}})

    dry_run: Annotated[bool, Field(description="Count what a run would do, and change nothing.")] = False
    confirm_deletions: Annotated[
        bool, Field(description="What the last run asked about may be deleted, and nothing else.")
    ] = False

    @model_validator(mode="after")
    def _agree(self) -> "RunRequest":
        if self.dry_run and self.confirm_deletions:
            raise ValueError("a dry run deletes nothing")
        return self


class SourceListParameters(InCollection, PageParameters):
    default_sort = "name"
    sort: Annotated[str, sorting("name", "created_at")] = ""


class ItemListParameters(PageParameters):
    default_sort = "path"
    sort: Annotated[str, sorting("path")] = ""
    state: Omittable[Annotated[str, choice(*get_args(ItemState))]] = None


class RemovalParameters(InputShape):
    documents: Annotated[
        str, choice("keep", "delete"), Field(description="What becomes of the documents that it brought.")
    ] = "keep"


class RunCounts(OutputShape):
    """Files of the latest run, as it goes on; pages, chunks and vectors of what was deleted."""

    listed: Count = 0
    unchanged: Count = 0
    added: Count = 0
    replaced: Count = 0
    moved: Annotated[Count, Field(description="Under another path; not embedded again.")] = 0
    present: Annotated[Count, Field(description="Their bytes were in the collection already.")] = 0
    skipped: Annotated[Count, Field(description="Of no known format, too large, empty, or unreadable.")] = 0
    failed: Annotated[Count, Field(description="Could not be had now; the next run tries again.")] = 0
    deleted: Annotated[Count, Field(description="Documents.")] = 0
    gone: Annotated[Count, Field(description="Would be deleted, or wait for a confirmation.")] = 0
    known: Annotated[Count, Field(description="Files with a document before the run.")] = 0
    pages: Count = 0
    chunks: Count = 0
    vectors: Count = 0


class SourceShape(OutputShape):
    id: UUID
    name: str
    collection: str
    collection_id: UUID
    kind: Kind
    config: Object
    has_secret: bool
    every_minutes: int | None
    state: State
    stage: Annotated[Stage | None, Field(description="Of a run that is under way.")]
    dry_run: Annotated[bool, Field(description="Whether the latest run is one.")]
    counts: RunCounts
    error: Annotated[str | None, Field(description="Why it failed, or what it asks.")]
    files: Annotated[Count, Field(description="Seen in the latest run.")]
    waiting: Annotated[Count, Field(description="Of these, being read or embedded.")]
    refused: Annotated[Count, Field(description="Of these, skipped or failed.")]
    created_at: Time
    started_at: Time | None
    ended_at: Time | None
    next_run_at: Time | None


class SourceList(OutputShape):
    sources: list[SourceShape]
    next_cursor: Cursor


class SourceItemShape(OutputShape):
    path: str
    state: ItemState
    reason: Annotated[str | None, Field(description="Why it was skipped or failed.")]
    size_bytes: Annotated[Count, Field(validation_alias="listed_size")]
    document_id: Annotated[UUID | None, Field(validation_alias="document")]
    gone: bool


class SourceItemList(OutputShape):
    items: list[SourceItemShape]
    next_cursor: Cursor


class SourceReceipt(OutputShape):
    deleted: bool
    documents_kept: Count
    documents_removed: Annotated[Count, Field(validation_alias="documents")]
    pages_removed: Annotated[Count, Field(validation_alias="pages")]
    chunks_removed: Annotated[Count, Field(validation_alias="chunks")]
    vectors_removed: Annotated[Count, Field(validation_alias="vectors")]


@operation(
    "createSource",
    "Make a source: a folder, a WebDAV folder or a bucket that stays in sync with a collection",
    answer(201, "Made.", SourceShape),
    body=NewSource,
    failures="404 409",
)
def create(request: HttpRequest) -> HttpResponse:
    new = read_body(request, NewSource)
    source = services.create_source(
        access=access_of(request),
        name=new.name,
        collection=new.collection,
        kind=new.kind,
        config=new.config,
        secret=new.secret,
        every_minutes=new.every_minutes,
    )
    return body_response(_shape(source), 201, location=f"/v1/sources/{source.id}")


@operation(
    "listSources",
    "List sources with their state",
    answer(200, "One page.", SourceList),
    parameters=SourceListParameters,
    failures="404",
)
def index(request: HttpRequest) -> HttpResponse:
    access = access_of(request)
    given = read_parameters(request, SourceListParameters)
    page = given.page("sources")
    collection_id = find_collection(given.collection, access=access).id if given.collection else None
    rows, after = services.list_sources(access=access, page=page, collection_id=collection_id)
    return _uncached(SourceList(sources=[_shape(row) for row in rows], next_cursor=page.next_cursor(after)))


@operation(
    "getSource", "A source, its state and the counts of its run", answer(200, "The source.", SourceShape)
)
def show(request: HttpRequest, source_id: UUID) -> HttpResponse:
    return _uncached(_shape(services.get_source(str(source_id), access=access_of(request))))


@operation(
    "changeSource",
    "Change name, config, secret or schedule",
    answer(200, "Changed.", SourceShape),
    body=SourceChanges,
    failures="409",
)
def change(request: HttpRequest, source_id: UUID) -> HttpResponse:
    given = read_body(request, SourceChanges)
    changes = {name: getattr(given, name) for name in given.model_fields_set}
    source = services.change_source(str(source_id), access=access_of(request), changes=changes)
    return body_response(_shape(source))


@operation(
    "deleteSource",
    "Delete a source; its documents stay, or go",
    answer(200, "What went.", SourceReceipt),
    parameters=RemovalParameters,
)
def remove(request: HttpRequest, source_id: UUID) -> HttpResponse:
    access = access_of(request)
    given = read_parameters(request, RemovalParameters)
    documents = services.delete_source(str(source_id), access=access)
    receipt = DeletionReceipt()
    if given.documents == "delete":
        receipt = delete_documents(documents, access=access)
        hint_delivery()
    kept = 0 if given.documents == "delete" else len(documents)
    return body_response(SourceReceipt.of(receipt, deleted=True, documents_kept=kept))


@operation(
    "syncSource",
    "Run a source now, in the background",
    answer(202, "A worker takes it; one that is running goes on.", SourceShape),
    body=RunRequest,
    failures="409",
)
def sync(request: HttpRequest, source_id: UUID) -> HttpResponse:
    given = read_body(request, RunRequest)
    source = services.start_run(
        str(source_id),
        access=access_of(request),
        dry_run=given.dry_run,
        confirm_deletions=given.confirm_deletions,
    )
    hint_sync()
    return body_response(_shape(source), 202, location=f"/v1/sources/{source.id}")


@operation(
    "listSourceItems",
    "The files of a source as the latest run saw them, by their paths",
    answer(200, "One page.", SourceItemList),
    parameters=ItemListParameters,
)
def items(request: HttpRequest, source_id: UUID) -> HttpResponse:
    source = services.get_source(str(source_id), access=access_of(request))
    given = read_parameters(request, ItemListParameters)
    page = given.page(f"source-items.{source.id}")
    rows, after = services.list_items(source, page=page, state=given.state or "")
    shapes = [
        SourceItemShape.of(row, reason=row.reason or None, gone=row.listed_in < source.run) for row in rows
    ]
    return _uncached(SourceItemList(items=shapes, next_cursor=page.next_cursor(after)))


def _shape(source: Any) -> SourceShape:
    return SourceShape.of(
        source,
        collection=source.collection.name,
        has_secret=bool(source.secret),
        stage=source.stage or None,
        counts=RunCounts.model_validate(source.counts),
        error=source.error or None,
    )


def _uncached(body: OutputShape) -> HttpResponse:
    response = body_response(body)
    response["Cache-Control"] = "no-store"
    return response
