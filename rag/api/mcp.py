"""POST /mcp: the Model Context Protocol over streamable HTTP, by its official SDK.

Three tools (`search` and `fetch` as OpenAI's connectors call them, and `ask`) and the documents as resources.
Each request stands alone, so any web process can answer it. It is a view like any other: key, limits, Host,
Origin and body were checked before, and the access line is written behind it.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from pydantic import Field

from documents.access import access_of
from documents.library import listing
from documents.library.listing import DocumentFilter
from documents.viewing import service
from documents.viewing.service import TextWindow
from knowlex import __version__
from knowlex.base.errors import InvalidInput, NotFound
from knowlex.base.ids import parse_id
from knowlex.runtime.admission import leave_out_of_estimate
from knowlex.web.body import Message
from knowlex.web.handler import KnowlexRequest
from knowlex.web.json_body import check_content_type
from knowlex.web.json_output import plain_json_bytes
from knowlex.web.origins import public_address
from knowlex.web.pagination import PageParameters
from knowlex.web.responses import problem_event
from knowlex.web.shapes import (
    InputShape,
    Object,
    OutputShape,
    QuestionText,
    Share,
    integer,
    parse,
    text,
)
from knowlex.web.sse import EventStream, takes_events
from rag.answering import ask, services
from rag.answering.ask import AskResult, Caller
from rag.api.answers import QueryCitation, WhyNot, asker_of
from rag.api.v1.query import FoundPassage, QueryAnswer, answer_body
from rag.api.v1.questions import CollectionNames, QuestionSettings
from rag.types.question import Question
from rag.types.retrieval import Passage

if TYPE_CHECKING:
    from mcp import types
    from mcp.server import Server

T = TypeVar("T")
WINDOW_CHARS = 20_000  # of a document's text in one result; some 5,000 tokens
LEAD_CHARS = 2_000  # of a result's text before the passage that was found
WRITING = "Writing the answer; its claims are checked at the end"
SCHEME = "knowlex://documents/"
INSTRUCTIONS = (
    "Knowlex answers from the documents of this organisation only. `ask` gives an answer whose claims were "
    "checked against the passages that they cite, or the reason why there is none. `search` finds passages, "
    "`fetch` reads a document on from there. All collections that the key may read are searched unless "
    "`collections` names some."
)


class SearchArguments(InputShape):
    query: Annotated[QuestionText, Field(description="What to look for, in any language.")]
    collections: CollectionNames = []
    limit: Annotated[int, integer(1, 50), Field(description="How many results at most.")] = 10


class FetchArguments(InputShape):
    id: Annotated[str, text(100), Field(description="Of a result of `search`, or of a document.")]


class AskArguments(InputShape):
    question: Annotated[
        QuestionText, Field(description="A whole question, understood without a chat before.")
    ]
    collections: CollectionNames = []


class SearchItem(OutputShape):
    id: Annotated[str, Field(description="For `fetch`.")]
    title: str
    url: str


class SearchOutput(OutputShape):
    results: Annotated[list[SearchItem], Field(description="Best first.")]


class FetchOutput(OutputShape):
    id: str
    title: str
    text: Annotated[str, Field(description=f"At most {WINDOW_CHARS} characters; see metadata.next_id.")]
    url: str
    metadata: Annotated[
        Object,
        Field(
            description="document_id, document_name, checksum, total_chars, start_char and end_char of the "
            "text, pages, and next_id: for `fetch`, to read on; null at the end."
        ),
    ]


class LinkedCitation(QueryCitation):
    url: Annotated[str, Field(description="Shows the page with the quote marked.")]


class LinkedPassage(FoundPassage):
    url: str


class AskOutput(OutputShape):
    query_id: UUID
    answered: bool
    answer: Annotated[str, Field(description="[k] names the citations whose citation_index is k.")]
    reason: WhyNot
    citations: Annotated[list[LinkedCitation], Field(description="One for each marked claim and passage.")]
    contradicted: Annotated[list[str], Field(description="Claims that the passages do not bear out.")]
    nearest: Annotated[list[LinkedPassage], Field(description="Where there is no answer: at most three.")]
    warnings: Annotated[list[str], Field(description="Pages of cited documents that could not be read.")]
    relevance: Annotated[Share, Field(description="Of the best passage.")]


Report = Callable[[int], Awaitable[None]]  # how many characters of the answer are written


@dataclass(frozen=True, slots=True)
class Tool:
    title: str
    description: str
    takes: type[InputShape]
    gives: type[OutputShape]
    run: Callable[[HttpRequest, Any, Report | None], Awaitable[OutputShape]]


async def mcp(request: HttpRequest) -> HttpResponseBase:
    """Answer one message; as a stream of events where the client asks to be told of progress."""
    check_content_type(request)
    if b'"tools/call"' not in request.body:
        leave_out_of_estimate()
    if b'"progressToken"' in request.body and takes_events(request):
        return await _streamed(request)
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    await _serve(request, send, as_json=True)
    body = b"".join(message.get("body", b"") for message in messages[1:])
    return _with_headers(HttpResponse(body, status=messages[0]["status"]), messages[0])


async def _streamed(request: HttpRequest) -> HttpResponseBase:
    queue: asyncio.Queue[Message | None] = asyncio.Queue()
    serving = asyncio.create_task(_serve(request, queue.put, as_json=False))
    serving.add_done_callback(lambda _: queue.put_nowait(None))

    async def stop() -> None:
        serving.cancel()
        await asyncio.wait({serving})

    try:
        head = await queue.get()
    except BaseException:
        await stop()
        raise
    if head is None:
        await serving  # raises what went wrong
        raise RuntimeError("A message of the protocol was not answered.")

    async def parts() -> AsyncGenerator[bytes]:
        while (message := await queue.get()) is not None:
            yield message.get("body", b"")

    response = EventStream(parts(), stop)
    response.status_code = head["status"]
    return _with_headers(response, head)


def _with_headers(response: HttpResponseBase, head: Message) -> HttpResponseBase:
    for name, value in head.get("headers", ()):
        if name.lower() not in (b"content-length", b"connection"):
            response[name.decode("latin-1")] = value.decode("latin-1")
    response.headers.setdefault("Cache-Control", "no-store")
    return response


async def _serve(request: HttpRequest, send: Callable[[Message], Awaitable[None]], *, as_json: bool) -> None:
    """Have the SDK serve it, in a task group that ends with the request: whoever leaves ends the work."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    scope = {**request.scope, "knowlex.request": request}  # type: ignore[attr-defined]
    incoming = [{"type": "http.request", "body": request.body, "more_body": False}]

    async def receive() -> Message:
        if incoming:
            return incoming.pop()
        await asyncio.Event().wait()  # the handler cancels the view of a client that has left
        raise AssertionError

    manager = StreamableHTTPSessionManager(_server(), json_response=as_json, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, receive, cast(Any, send))


@cache
def _server() -> "Server[Any]":
    """Make the server, once a process. The SDK takes a second of CPU to import: warming up does it."""
    from mcp.server import Server

    return Server(
        "knowlex",
        title="Knowlex",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read_resource,
    )


preload = _server


async def _list_tools(ctx: Any, params: Any) -> "types.ListToolsResult":
    return _tools()


@cache
def _tools() -> "types.ListToolsResult":
    from mcp import types

    tools = [
        types.Tool(
            name=name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.takes.model_json_schema(),
            output_schema=tool.gives.model_json_schema(mode="serialization"),
            annotations=types.ToolAnnotations(
                read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
            ),
        )
        for name, tool in TOOLS.items()
    ]
    return types.ListToolsResult(tools=tools)


async def _call_tool(ctx: Any, params: Any) -> "types.CallToolResult":
    """Run a tool. A failure is a result that the model can read: the error body of the other faces."""
    from mcp import types
    from mcp.shared.exceptions import MCPError

    tool = TOOLS.get(params.name)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:100]}")
    request = _request(ctx)

    async def report(written: int) -> None:
        await ctx.session.report_progress(written, message=WRITING if written else "Searching")

    try:
        given = {name: value for name, value in (params.arguments or {}).items() if value is not None}
        reporting = report if ctx.meta and "progress_token" in ctx.meta else None
        output = await tool.run(request, parse(tool.takes, given), reporting)
        body: Any = output.model_dump(mode="json")
        failed = False
    except Exception as exc:  # noqa: BLE001 - logged and told as everywhere
        body, failed = problem_event(request, exc), True
    content: list[Any] = [types.TextContent(type="text", text=plain_json_bytes(body).decode())]
    return types.CallToolResult(content=content, structured_content=None if failed else body, is_error=failed)


def _request(ctx: Any) -> HttpRequest:
    request: HttpRequest = ctx.request.scope["knowlex.request"]
    return request


async def _search(request: HttpRequest, given: SearchArguments, report: Report | None) -> SearchOutput:
    question = await _question(request, given.query, given.collections, top_k=given.limit)
    found = await services.search(question)
    items: dict[str, SearchItem] = {}
    covered: dict[UUID, list[int]] = {}
    for passage in found.passages:
        starts = covered.setdefault(passage.document_id, [])
        if any(start <= passage.start_char and passage.end_char <= start + WINDOW_CHARS for start in starts):
            continue  # it stands in the text that a better one's id fetches
        start = max(0, passage.start_char - LEAD_CHARS)
        starts.append(start)
        id_ = _fetch_id(passage.document_id, start)
        items[id_] = SearchItem(id=id_, title=_title(passage), url=_passage_url(request, passage))
    return SearchOutput(results=list(items.values()))


async def _fetch(request: HttpRequest, given: FetchArguments, report: Report | None) -> FetchOutput:
    window = await _read_window(request, given.id)
    return FetchOutput(
        id=given.id,
        title=window.document.title or window.document.original_filename,
        text=window.text,
        url=_url(request, window.document.id),
        metadata={
            "document_id": str(window.document.id),
            "document_name": window.document.original_filename,
            "checksum": window.document.checksum,
            "start_char": window.start,
            "end_char": window.end,
            "total_chars": window.total_chars,
            "pages": window.pages,
            "next_id": _next_id(window),
        },
    )


async def _ask(request: HttpRequest, given: AskArguments, report: Report | None) -> AskOutput:
    question = await _question(request, given.question, given.collections, top_k=10, max_tokens=1024)
    asker = asker_of(request, "mcp")
    if report is None:
        result = await ask.ask(question, asker)
    else:
        result = await _ask_reporting(question, asker, report)
    body = answer_body(result, QuestionSettings(), QueryAnswer)
    return AskOutput(
        query_id=result.query_id,
        answered=result.answer.answered,
        answer=body.answer,
        reason=body.reason,
        citations=[LinkedCitation.of(cited, url=_passage_url(request, cited)) for cited in body.citations],
        contradicted=[claim.text for claim in body.contradicted],
        nearest=[
            LinkedPassage.of(near, chapter=None, section=None, url=_passage_url(request, near))
            for near in body.nearest
        ],
        warnings=[f"{warning.document_name}: {warning.message}" for warning in body.warnings],
        relevance=body.relevance,
    )


async def _ask_reporting(question: Question, asker: Caller, report: Report) -> AskResult:
    """Tell how much is written, not what: it is not checked yet."""
    written = 0
    await report(written)
    async with aclosing(ask.ask_stream(question, asker)) as steps:
        async for step in steps:
            if isinstance(step, AskResult):
                return step
            if isinstance(step, str):
                written += len(step)
                await report(written)
    raise RuntimeError("An answer ended without its result.")


TOOLS = {
    "search": Tool(
        "Search the documents",
        "Find passages in the documents by meaning and by words. Gives ids for `fetch`, best first.",
        SearchArguments,
        SearchOutput,
        _search,
    ),
    "fetch": Tool(
        "Read a document",
        "Read the text of a document from where a search result stands, or from its beginning.",
        FetchArguments,
        FetchOutput,
        _fetch,
    ),
    "ask": Tool(
        "Ask the documents",
        "Answer a question from the documents. Each claim is cited with document, page, quote and how far it"
        " was checked (support: exact, supported or unverified). Where the documents do not say it, answered"
        " is false and reason says why.",
        AskArguments,
        AskOutput,
        _ask,
    ),
}


async def _question(
    request: HttpRequest, words: str, collections: list[str], *, top_k: int, max_tokens: int | None = None
) -> Question:
    return await services.make_platform_question(
        words, access=access_of(request), collections=collections, top_k=top_k, max_tokens=max_tokens
    )


async def _list_resources(ctx: Any, params: Any) -> "types.ListResourcesResult":
    """List the documents that the key may read, newest first, a page at a time."""
    from mcp import types

    request = _request(ctx)
    with _as_protocol_errors(request):
        cursor = {"cursor": params.cursor} if params is not None and params.cursor else {}
        page = parse(PageParameters, cursor).page("mcp resources")
        filters = DocumentFilter(status="completed")
        entries, after = await _run_in_thread(
            request, lambda: listing.list_documents(access=access_of(request), page=page, filters=filters)
        )
    resources = [
        types.Resource(
            name=entry.original_filename,
            title=entry.title or entry.original_filename,
            uri=f"{SCHEME}{entry.id}",
            mime_type="text/plain",
        )
        for entry in entries
    ]
    return types.ListResourcesResult(resources=resources, next_cursor=page.next_cursor(after))


async def _list_templates(ctx: Any, params: Any) -> "types.ListResourceTemplatesResult":
    from mcp import types

    page = types.ResourceTemplate(
        name="page",
        title="A page of a document",
        uri_template=f"{SCHEME}{{id}}/pages/{{number}}",
        description=f"Its text, at most {WINDOW_CHARS} characters; next_uri in _meta tells where it goes on.",
        mime_type="text/plain",
    )
    return types.ListResourceTemplatesResult(resource_templates=[page])


async def _read_resource(ctx: Any, params: Any) -> "types.ReadResourceResult":
    """Read a document from its beginning or from an offset, or one of its pages."""
    from mcp import types

    request = _request(ctx)
    with _as_protocol_errors(request):
        if not params.uri.startswith(SCHEME):
            raise NotFound(f"Resource not found: {params.uri[:200]}")
        window = await _read_window(request, params.uri.removeprefix(SCHEME))
    next_id = _next_id(window)
    meta = {
        "total_chars": window.total_chars,
        "start_char": window.start,
        "end_char": window.end,
        "next_uri": f"{SCHEME}{next_id}" if next_id else None,
    }
    contents: list[Any] = [
        types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=window.text, _meta=meta)
    ]
    return types.ReadResourceResult(contents=contents)


async def _read_window(request: HttpRequest, place: str) -> TextWindow:
    """Read from `ID`, `ID@OFFSET` or `ID/pages/NUMBER`. Raises NotFound, InvalidInput."""
    match = _PLACE.fullmatch(place)
    if match is None:
        raise NotFound(f"There is nothing with the id {place[:100]!r}.")
    document_id = parse_id(match["id"], field="id")
    start, number = int(match["start"] or 0), int(match["page"]) if match["page"] else None
    return await _run_in_thread(
        request,
        lambda: service.read_window(
            document_id, start=start, number=number, max_chars=WINDOW_CHARS, access=access_of(request)
        ),
    )


_PLACE = re.compile(r"(?P<id>[^@/]{1,50})(?:@(?P<start>[0-9]{1,9})|/pages/(?P<page>[0-9]{1,9}))?", re.ASCII)


def _fetch_id(document_id: UUID, start: int) -> str:
    return f"{document_id}@{start}" if start else str(document_id)


def _next_id(window: TextWindow) -> str | None:
    return _fetch_id(window.document.id, window.end) if window.end < window.total_chars else None


async def _run_in_thread(request: HttpRequest, call: Callable[[], T]) -> T:
    return await cast(KnowlexRequest, request).run_in_thread(call)


@contextmanager
def _as_protocol_errors(request: HttpRequest) -> Iterator[None]:
    """Raise what went wrong as an error of the protocol, in the words of the other faces."""
    from mcp import types
    from mcp.shared.exceptions import MCPError

    try:
        yield
    except Exception as exc:
        body = problem_event(request, exc)
        fault = types.INVALID_PARAMS if isinstance(exc, InvalidInput | NotFound) else types.INTERNAL_ERROR
        raise MCPError(fault, body["message"], body) from exc


def _passage_url(request: HttpRequest, place: Any) -> str:
    return _url(
        request, place.document_id, start=place.start_char, end=place.end_char, checksum=place.checksum
    )


def _url(request: HttpRequest, document_id: UUID, **place: Any) -> str:
    query = f"?{urlencode(place)}" if place else ""
    return public_address(request, f"/d/{document_id}{query}")


def _title(passage: Passage) -> str:
    title, place = passage.title or passage.document_name, re.sub("^page ", "p. ", passage.place)
    return f"{title}, {place}" if place not in ("", title) else title
