"""The Knowlex API's embeddings: /api/v1/embeddings. Waiting for the work, and searching, hold no thread."""

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from time import monotonic
from typing import Annotated, Any, TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from documents.access import access_of
from embeddings import services, tasks
from embeddings.types import RequestScope
from knowlex.base.errors import BrokerUnavailable, InvalidQuestion, UnsupportedMediaType
from knowlex.base.ids import parse_id
from knowlex.db.threads import note_wait, release_connection
from knowlex.web.fields import check_question
from knowlex.web.openapi import answer, operation
from knowlex.web.responses import allow, body_response
from knowlex.web.shapes import CamelShape, InputShape, Number, number_text, read_parameters

T = TypeVar("T")
DEFAULT_K, MAX_K = 5, 50
PUBLISH_LIMIT_S = 4.0
_threads = ThreadPoolExecutor(16, "generate")  # for a moment each: asking, and telling the broker


class QueuedEmbeddings(CamelShape):
    run_id: UUID
    queued: int
    message: str


class EmbeddingHit(CamelShape):
    chunk_id: UUID
    document_id: UUID
    chunk_index: Annotated[int, Field(description="Place in the document, from 0.")]
    content: str
    score: Annotated[
        Number,
        Field(validation_alias="distance", description="Cosine distance: lower is closer, 0.0 is identical."),
    ]
    document_name: str
    title: str
    page_number: Annotated[int | None, Field(description="From 1; null without pages.")]


class NearestParameters(InputShape):
    k: Annotated[int, number_text(1, MAX_K)] = DEFAULT_K
    collection: Annotated[str | None, Field(description="Name or id; `default` unless given.")] = None


PREFER = {
    "name": "Prefer",
    "in": "header",
    "schema": {"type": "string"},
    "description": "`respond-async` answers 202 at once instead of waiting for the work.",
}


def _embedded(example: str) -> dict[str, Any]:
    return {"text/plain": {"schema": {"type": "string"}, "example": example}}


@allow("POST")
@operation(
    "generateEmbeddings",
    "Embed all chunks that have no vector yet",
    answer(200, "How many were embedded.", _embedded("Embedded 42 chunk(s)")),
    answer(202, "Queued.", QueuedEmbeddings),
    tag="embeddings",
    headers=(PREFER,),
)
async def generate(request: HttpRequest) -> HttpResponse:
    """Embed what has no vector yet, and say how much that was; `Prefer: respond-async` does not wait."""
    return await _generate(request, None)


@allow("POST")
@operation(
    "generateDocumentEmbeddings",
    "Embed the chunks of one document that have no vector yet",
    answer(200, "How many were embedded.", _embedded("Embedded 42 chunk(s) for document ...")),
    answer(202, "Queued.", QueuedEmbeddings),
    tag="embeddings",
    headers=(PREFER,),
)
async def generate_document(request: HttpRequest, documentId: str) -> HttpResponse:
    return await _generate(request, parse_id(documentId, field="documentId"))


async def _generate(request: HttpRequest, document: UUID | None) -> HttpResponse:
    access = access_of(request)
    requested = await _in_thread(lambda: services.request_embeddings(document, access=access))
    await _notify_workers(requested)
    if _wants_no_wait(request):
        return _accepted(requested)
    embedded = await services.wait_until_done(requested)
    place = f" for document {document}" if document else ""
    return HttpResponse(f"Embedded {embedded} chunk(s){place}", content_type="text/plain; charset=utf-8")


@allow("POST")
@operation(
    "searchEmbeddings",
    "The chunks nearest to the text in the body",
    answer(200, "Closest first.", list[EmbeddingHit]),
    tag="embeddings",
    body={
        "text/plain": {"schema": {"type": "string", "maxLength": 2000}, "example": "How are answers cited?"}
    },
    parameters=NearestParameters,
    failures="404",
)
async def search(request: HttpRequest) -> HttpResponse:
    given = read_parameters(request, NearestParameters)
    text = check_question(_plain_text(request), "query")
    hits = await services.search_chunks(
        text, access=access_of(request), collection=given.collection, limit=given.k
    )
    return body_response([EmbeddingHit.model_validate(hit) for hit in hits])


async def _notify_workers(requested: RequestScope) -> None:
    """Notify them. Raises BrokerUnavailable in time; the work is on record, and the sweep finds it."""
    if not requested.batches:
        return
    try:
        async with asyncio.timeout(PUBLISH_LIMIT_S):
            await _in_thread(lambda: tasks.enqueue(requested.batches))
    except TimeoutError as exc:
        raise BrokerUnavailable("The message broker does not answer; the work stays queued.") from exc


async def _in_thread(work: Callable[[], T]) -> T:
    came = monotonic()

    def run() -> T:
        note_wait(came)
        try:
            return work()
        finally:
            release_connection()

    context = copy_context()  # the request's id goes along, into the task and the worker's log
    return await asyncio.get_running_loop().run_in_executor(_threads, context.run, run)


def _wants_no_wait(request: HttpRequest) -> bool:
    preferences = re.split(r"[,;]", request.headers.get("Prefer", ""))
    return "respond-async" in (preference.strip().lower() for preference in preferences)


def _accepted(requested: RequestScope) -> HttpResponse:
    count = requested.requested
    body = QueuedEmbeddings(run_id=requested.run_id, queued=count, message=f"Queued {count} chunk(s)")
    response = body_response(body, 202)
    response["Preference-Applied"] = "respond-async"
    return response


def _plain_text(request: HttpRequest) -> str:
    """Return the body as text. Raises UnsupportedMediaType for another declared type, InvalidQuestion."""
    charset = (request.content_params or {}).get("charset", "utf-8").strip("\"'").lower()
    if request.content_type not in ("", "text/plain") or charset not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMediaType("Content-Type must be text/plain, in UTF-8.")
    try:
        return request.body.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidQuestion("Query is not valid UTF-8.", field="query") from None
