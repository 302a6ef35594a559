"""The Knowlex API's embeddings: /api/v1/embeddings. Waiting for the work, and searching, hold no thread."""

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse

from documents.access import access_of
from embeddings import services, tasks
from embeddings.types import RequestScope, SearchHit
from knowlex.base.errors import BrokerUnavailable, InvalidQuestion, UnsupportedMediaType
from knowlex.base.ids import parse_id
from knowlex.db.threads import release_connection
from knowlex.web.fields import check_question, int_parameter
from knowlex.web.responses import allow, json_response

T = TypeVar("T")
DEFAULT_K, MAX_K = 5, 50
PUBLISH_LIMIT_S = 4.0
_threads = ThreadPoolExecutor(16, "generate")  # for a moment each: asking, and telling the broker


@allow("POST")
async def generate(request: HttpRequest, document_id: str | None = None) -> HttpResponse:
    """Embed what has no vector yet, and say how much that was; `Prefer: respond-async` does not wait."""
    document = parse_id(document_id, field="documentId") if document_id is not None else None
    access = access_of(request)
    requested = await _in_thread(lambda: services.request_embeddings(document, access=access))
    await _tell_workers(requested)
    if _wants_no_wait(request):
        return _accepted(requested)
    embedded = await services.wait_until_done(requested)
    place = f" for document {document}" if document else ""
    return HttpResponse(f"Embedded {embedded} chunk(s){place}", content_type="text/plain; charset=utf-8")


@allow("POST")
async def search(request: HttpRequest) -> HttpResponse:
    """The chunks nearest to the text in the body."""
    limit = int_parameter(request.GET.get("k"), "k", low=1, high=MAX_K, default=DEFAULT_K)
    text = check_question(_plain_text(request), "query")
    collection = request.GET.get("collection")
    hits = await services.search_chunks(text, access=access_of(request), collection=collection, limit=limit)
    return json_response([_hit_body(hit) for hit in hits])


async def _tell_workers(requested: RequestScope) -> None:
    """Raises BrokerUnavailable in time, however it hangs; the work is on record, and the sweep finds it."""
    if not requested.batches:
        return
    try:
        async with asyncio.timeout(PUBLISH_LIMIT_S):
            await _in_thread(lambda: tasks.enqueue(requested.batches))
    except TimeoutError as exc:
        raise BrokerUnavailable("The message broker does not answer; the work stays queued.") from exc


async def _in_thread(work: Callable[[], T]) -> T:
    def run() -> T:
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
    body = {
        "runId": requested.run_id,
        "queued": requested.requested,
        "message": f"Queued {requested.requested} chunk(s)",
    }
    response = json_response(body, 202)
    response["Preference-Applied"] = "respond-async"
    return response


def _plain_text(request: HttpRequest) -> str:
    """The body as text. Raises UnsupportedMediaType for another declared type, InvalidQuestion."""
    charset = (request.content_params or {}).get("charset", "utf-8").strip("\"'").lower()
    if request.content_type not in ("", "text/plain") or charset not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMediaType("Content-Type must be text/plain, in UTF-8.")
    try:
        return request.body.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidQuestion("Query is not valid UTF-8.", field="query") from None


def _hit_body(hit: SearchHit) -> dict[str, Any]:
    return {
        "chunkId": hit.chunk_id,
        "documentId": hit.document_id,
        "chunkIndex": hit.chunk_index,
        "content": hit.content,
        "score": hit.distance,
        "documentName": hit.document_name,
        "title": hit.title,
        "pageNumber": hit.page_number,
    }
