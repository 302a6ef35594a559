"""`Knowlex` and `AsyncKnowlex`: the verbs of the API, each written once for both."""

import json
import os
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import (
    Any,
    BinaryIO,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    Self,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)
from uuid import UUID

import httpx2

from knowlex_client import operations
from knowlex_client.errors import WaitedTooLong
from knowlex_client.exchange import (
    Asynchronous,
    Blocking,
    Exchange,
    Operation,
    Retry,
    Transport,
    finish,
    iterate,
)
from knowlex_client.models import (
    Collection,
    CollectionReceipt,
    DocumentReceipt,
    EvaluationWithResults,
    FeedbackReceipt,
    Highlights,
    JobDocument,
    JobReport,
    Page,
    PlatformDocument,
    PlatformDocumentWithText,
    QueryAnswer,
    ReadPage,
    SearchResults,
)

P = ParamSpec("P")
T = TypeVar("T")
L = TypeVar("L", bound="Listed")
Id: TypeAlias = UUID | str
Source: TypeAlias = str | os.PathLike[str] | tuple[str, bytes]
URL_VARIABLE, KEY_VARIABLE, USUAL_URL = "KNOWLEX_URL", "KNOWLEX_API_KEY", "http://127.0.0.1:8080"
BATCH_FILES, BATCH_BYTES = 20, 16 * 1024 * 1024  # of one request of `ingest`; a larger file goes alone
WAIT_S = 10  # of one request that waits for a job
POLL_S, POLL_MOST_S = 0.5, 5.0
PATIENCE_S = 600.0
USUAL_RETRY = Retry()


class Settings(TypedDict, total=False):
    """How to search, and how to write the answer; what is left out is the server's choice."""

    top_k: int
    max_tokens: int
    mode: Literal["hybrid", "dense", "sparse", "exact"]
    rerank: bool
    rewrite: bool
    response_format: Literal["text", "json"]
    include_sources: bool


class Listed(Protocol):
    """A page of a list."""

    @property
    def next_cursor(self) -> str | None: ...


@dataclass(frozen=True)
class Progress:
    """How far `ingest` is. processed: files that have ended. failed: of these, duplicates included."""

    files: int
    sent: int = 0
    processed: int = 0
    failed: int = 0
    chunks_made: int = 0
    chunks_embedded: int = 0


@dataclass(frozen=True)
class Ingested:
    """What became of the files of one `ingest`: the jobs that took them."""

    jobs: tuple[JobReport, ...]

    @property
    def documents(self) -> list[JobDocument]:
        return [document for job in self.jobs for document in job.documents]

    @property
    def duplicates(self) -> list[JobDocument]:
        """Those whose bytes the collection had already; `duplicate_of` names the first."""
        return [document for document in self.documents if document.duplicate_of is not None]

    @property
    def failed(self) -> list[JobDocument]:
        """Those that could not be read, with `error` and `error_code`; duplicates are none of them."""
        ended = [document for document in self.documents if document.status == "failed"]
        return [document for document in ended if document.duplicate_of is None]


class verb(Generic[P, T]):
    """Makes of a coroutine function a method that blocks in `Knowlex`, and one to await in `AsyncKnowlex`."""

    def __init__(self, written: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self._written: Callable[..., Any] = written
        self.__doc__, self.__wrapped__ = written.__doc__, written

    @overload
    def __get__(self, client: "Knowlex", owner: Any = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: "AsyncKnowlex", owner: Any = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: None, owner: Any = None) -> Self: ...
    def __get__(self, client: Any, owner: Any = None) -> Any:
        if client is None:
            return self
        bound = partial(self._written, client)
        return bound if isinstance(client, AsyncKnowlex) else lambda *a, **k: finish(bound(*a, **k))


class series(Generic[P, T]):
    """The same for what yields items: an iterator in `Knowlex`, an asynchronous one in `AsyncKnowlex`."""

    def __init__(self, written: Callable[Concatenate[Any, P], AsyncGenerator[T]]) -> None:
        self._written: Callable[..., Any] = written
        self.__doc__, self.__wrapped__ = written.__doc__, written

    @overload
    def __get__(self, client: "Knowlex", owner: Any = None) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: "AsyncKnowlex", owner: Any = None) -> Callable[P, AsyncGenerator[T]]: ...
    @overload
    def __get__(self, client: None, owner: Any = None) -> Self: ...
    def __get__(self, client: Any, owner: Any = None) -> Any:
        if client is None:
            return self
        bound = partial(self._written, client)
        return bound if isinstance(client, AsyncKnowlex) else lambda *a, **k: iterate(bound(*a, **k))


class Verbs:
    """What can be done. Each raises KnowlexError: an ApiError as the server words it, or ConnectionFailed."""

    _exchange: Exchange

    def _set_up(self, transport: Transport, url: str, key: str, retry: Retry) -> None:
        address = (url or os.environ.get(URL_VARIABLE, USUAL_URL)).rstrip("/")
        key = key or os.environ.get(KEY_VARIABLE, "")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._exchange = Exchange(transport, address, headers, retry)

    @verb
    async def ask(
        self,
        question: str,
        *,
        collections: Sequence[str] = (),
        filters: Mapping[str, Any] | None = None,
        conversation_id: str | None = None,
        **settings: Unpack[Settings],
    ) -> QueryAnswer:
        """Return the answer to a question with its checked citations, or with the `reason` why there is none.

        collections: names or ids; without any, all that the key may read. conversation_id: of the answer
        before, where this is a follow-up question.
        """
        body = _make_question(question, collections, filters, settings, conversation_id)
        return await self._exchange.call(operations.platform_query, body)

    @series
    async def stream(
        self,
        question: str,
        *,
        collections: Sequence[str] = (),
        filters: Mapping[str, Any] | None = None,
        conversation_id: str | None = None,
        **settings: Unpack[Settings],
    ) -> AsyncGenerator[str | QueryAnswer]:
        """Yield the text of an answer as it is written, and at last the whole answer, which `ask` returns."""
        body = _make_question(question, collections, filters, settings, conversation_id)
        told: dict[str, Any] = {}
        async with aclosing(self._exchange.events(operations.platform_query, body)) as events:
            async for name, data in events:
                if name == "token":
                    yield data["text"]
                elif name in ("sources", "done"):
                    told |= data
        yield QueryAnswer.model_validate(told)

    @verb
    async def search(
        self,
        query: str,
        *,
        collections: Sequence[str] = (),
        filters: Mapping[str, Any] | None = None,
        **settings: Unpack[Settings],
    ) -> SearchResults:
        """Return the passages that an answer would be made from, best first."""
        return await self._exchange.call(
            operations.search, _make_question(query, collections, filters, settings)
        )

    @verb
    async def ingest(
        self,
        *sources: Source,
        collection: str = "default",
        metadata: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        wait: bool = True,
        progress: Callable[[Progress], None] = lambda progress: None,
        patience_s: float = PATIENCE_S,
    ) -> Ingested:
        """Send files, folders (all files below, hidden ones left out) and pairs of name and bytes.

        metadata: of all the files. settings: how they are split. With `wait` they can be found by search when
        it returns, but for those in `failed`. Raises WaitedTooLong when nothing has moved for `patience_s`.
        """
        files = [file for source in sources for file in _find_files(source)]
        if not files:
            raise ValueError("There is no file to ingest.")
        told = Progress(len(files))
        objects = {"metadata": metadata, "settings": settings}
        fields = {name: json.dumps(value) for name, value in objects.items() if value}
        ids = []
        for batch in _make_batches(files):
            with ExitStack() as opened:
                sent = [(file.name, file.open(opened)) for file in batch]
                form = {"collection_id": collection, "file": sent, **fields}
                ids.append((await self._exchange.call(operations.ingest, form)).job_id)
            told = replace(told, sent=told.sent + len(batch))
            progress(told)
        reports = [await self._exchange.call(operations.get_job, job_id=job_id) for job_id in ids]
        patience, told = _Patience(patience_s), _add_counts(told, reports)
        progress(told)
        for place, report in enumerate(reports):
            while wait and report.status not in ("completed", "failed"):
                reports[place] = report = await self._exchange.call(
                    operations.get_job, job_id=report.job_id, wait=min(WAIT_S, max(1, round(patience_s)))
                )
                told = _add_counts(told, reports)
                patience.note(told, f"Job {report.job_id}")
                progress(told)
        return Ingested(tuple(reports))

    @series
    async def documents(
        self,
        *,
        collection: str | None = None,
        status: Literal["pending", "processing", "completed", "failed"] | None = None,
        type: str | None = None,
        q: str | None = None,
    ) -> AsyncGenerator[PlatformDocument]:
        """Yield documents, newest first. q: text in their names."""
        listed = self._each(
            operations.list_platform_documents,
            lambda page: page.documents,
            collection=collection,
            status=status,
            type=type,
            q=q,
        )
        async with aclosing(listed):
            async for document in listed:
                yield document

    @verb
    async def document(self, document_id: Id) -> PlatformDocumentWithText:
        return await self._exchange.call(operations.get_platform_document, document_id=document_id)

    @verb
    async def delete_document(self, document_id: Id) -> DocumentReceipt:
        return await self._exchange.call(operations.delete_platform_document, document_id=document_id)

    @verb
    async def pages(self, document_id: Id) -> list[ReadPage]:
        """Return how each page was read."""
        return (await self._exchange.call(operations.get_pages, document_id=document_id)).pages

    @verb
    async def page(self, document_id: Id, number: int) -> Page:
        """Return the text of a page, from 1, and where its lines stand."""
        return await self._exchange.call(operations.get_page, document_id=document_id, number=number)

    @verb
    async def page_image(self, document_id: Id, number: int, *, width: int | None = None) -> bytes:
        """Return a picture (PNG or JPEG) of a PDF's page. width: in pixels, one that the server offers."""
        return await self._exchange.call(
            operations.get_page_image, document_id=document_id, number=number, width=width
        )

    @verb
    async def highlights(
        self, document_id: Id, start: int, end: int, *, checksum: str | None = None
    ) -> Highlights:
        """Return where a quote stands on its pages. A citation has `start_char`, `end_char`, `checksum`."""
        return await self._exchange.call(
            operations.get_highlights, document_id=document_id, start=start, end=end, checksum=checksum
        )

    @verb
    async def feedback(
        self,
        query_id: Id,
        rating: Literal["thumbs_up", "thumbs_down"] | None = None,
        *,
        comment: str | None = None,
    ) -> FeedbackReceipt:
        """Rate an answer, comment on it, or both."""
        body = {"query_id": str(query_id), "rating": rating, "comment": comment}
        return await self._exchange.call(operations.give_feedback, _drop_missing(body))

    @verb
    async def evaluate(
        self,
        question_set: str,
        *,
        collections: Sequence[str] = (),
        configurations: Sequence[Mapping[str, Any]] = (),
        answers: bool = False,
        wait: bool = True,
        progress: Callable[[EvaluationWithResults], None] = lambda evaluation: None,
        patience_s: float = PATIENCE_S,
    ) -> EvaluationWithResults:
        """Measure search, and with `answers` answers too, on a stored set (its name or id).

        configurations: one or two, each `{"name": ..., "settings": {...}}`. patience_s: as in `ingest`.
        """
        lists = {"collections": list(collections), "configurations": list(configurations)}
        body = {"question_set": question_set, "answers": answers}
        body |= {name: value for name, value in lists.items() if value}
        started = await self._exchange.call(operations.create_evaluation, body)
        patience, pause_s = _Patience(patience_s), POLL_S
        while True:
            evaluation = await self._exchange.call(operations.get_evaluation, evaluation_id=started.id)
            progress(evaluation)
            if not wait or evaluation.status in ("completed", "failed"):
                return evaluation
            patience.note(evaluation.progress, f"Evaluation {started.id}")
            await self._exchange.transport.sleep(pause_s)
            pause_s = min(pause_s * 1.5, POLL_MOST_S)

    @series
    async def collections(self, *, q: str | None = None) -> AsyncGenerator[Collection]:
        listed = self._each(operations.list_collections, lambda page: page.collections, q=q)
        async with aclosing(listed):
            async for collection in listed:
                yield collection

    @verb
    async def create_collection(
        self, name: str, *, description: str = "", settings: Mapping[str, Any] | None = None
    ) -> Collection:
        body = {"name": name, "description": description, "settings": dict(settings or {})}
        return await self._exchange.call(operations.create_collection, body)

    @verb
    async def delete_collection(self, collection_id: Id) -> CollectionReceipt:
        return await self._exchange.call(operations.delete_collection, collection_id=collection_id)

    async def _each(
        self, operation: Operation[L], items: Callable[[L], Iterable[T]], **parameters: Any
    ) -> AsyncGenerator[T]:
        cursor: str | None = None
        while True:
            page = await self._exchange.call(operation, **parameters, cursor=cursor)
            for item in items(page):
                yield item
            if (cursor := page.next_cursor) is None:
                return


class Knowlex(Verbs):
    """A client for programs that block; safe to share between threads.

    url: KNOWLEX_URL, or this machine's, unless given. key: KNOWLEX_API_KEY unless given; none where the
    server asks for none. timeout_s: between two pieces of an answer. http: a client of httpx2 of your own.
    """

    def __init__(
        self,
        url: str = "",
        *,
        key: str = "",
        timeout_s: float = 60.0,
        retry: Retry = USUAL_RETRY,
        http: httpx2.Client | None = None,
    ) -> None:
        self._http = http or httpx2.Client(timeout=timeout_s)
        self._set_up(Blocking(self._http), url, key, retry)

    def call(self, operation: Operation[T], body: Any = None, **asked: Any) -> T:
        """Call any operation in `knowlex_client.operations`, with its parameters by their names."""
        return finish(self._exchange.call(operation, body, **asked))

    def each(
        self, operation: Operation[L], items: Callable[[L], Iterable[T]], **parameters: Any
    ) -> Iterator[T]:
        """Yield what all pages of a list hold: `each(operations.list_queries, lambda page: page.queries)`."""
        return iterate(self._each(operation, items, **parameters))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class AsyncKnowlex(Verbs):
    """The same for programs with an event loop: verbs are awaited, `stream` and lists take an `async for`."""

    def __init__(
        self,
        url: str = "",
        *,
        key: str = "",
        timeout_s: float = 60.0,
        retry: Retry = USUAL_RETRY,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        self._http = http or httpx2.AsyncClient(timeout=timeout_s)
        self._set_up(Asynchronous(self._http), url, key, retry)

    async def call(self, operation: Operation[T], body: Any = None, **asked: Any) -> T:
        """Call any operation in `knowlex_client.operations`, with its parameters by their names."""
        return await self._exchange.call(operation, body, **asked)

    def each(
        self, operation: Operation[L], items: Callable[[L], Iterable[T]], **parameters: Any
    ) -> AsyncGenerator[T]:
        """Yield what all pages of a list hold: `each(operations.list_queries, lambda page: page.queries)`."""
        return self._each(operation, items, **parameters)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()


def _make_question(
    text: str,
    collections: Sequence[str],
    filters: Mapping[str, Any] | None,
    settings: Settings,
    conversation_id: str | None = None,
) -> dict[str, Any]:
    body = {
        "query": text,
        "collections": list(collections),
        "settings": settings,
        "conversation_id": conversation_id,
    }
    return _drop_missing(body | {"filters": filters})


def _drop_missing(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


@dataclass(frozen=True)
class _File:
    """content: its path, or its bytes."""

    name: str
    size: int
    content: Path | bytes

    def open(self, opened: ExitStack) -> BinaryIO | bytes:
        return (
            self.content if isinstance(self.content, bytes) else opened.enter_context(self.content.open("rb"))
        )


def _find_files(source: Source) -> Iterator[_File]:
    """Yield the file, or all files below the folder in the order of their paths. Raises FileNotFoundError."""
    if isinstance(source, tuple):
        name, content = source
        yield _File(name, len(content), content)
        return
    path = Path(source)
    if not path.is_dir():
        yield _File(path.name, path.stat().st_size, path)
        return
    for below in sorted(path.rglob("*")):
        is_hidden = any(part.startswith(".") for part in below.relative_to(path).parts)
        if below.is_file() and not is_hidden:
            yield _File(below.name, below.stat().st_size, below)


def _make_batches(files: Iterable[_File]) -> Iterator[list[_File]]:
    batch: list[_File] = []
    for file in files:
        if batch and (
            len(batch) == BATCH_FILES or sum(each.size for each in batch) + file.size > BATCH_BYTES
        ):
            yield batch
            batch = []
        batch.append(file)
    yield batch


def _add_counts(told: Progress, reports: Sequence[JobReport]) -> Progress:
    counts = [report.progress for report in reports]
    return replace(
        told,
        processed=sum(count.processed for count in counts),
        failed=sum(count.failed for count in counts),
        chunks_made=sum(count.chunks_made for count in counts),
        chunks_embedded=sum(count.chunks_embedded for count in counts),
    )


class _Patience:
    """Ends when the same state was noted for too long."""

    def __init__(self, seconds: float) -> None:
        self._state: Any = None
        self._seconds, self._since = seconds, time.monotonic()

    def note(self, state: Any, what: str) -> None:
        """Raises WaitedTooLong."""
        now = time.monotonic()
        if state != self._state:
            self._state, self._since = state, now
        elif now - self._since >= self._seconds:
            raise WaitedTooLong(f"{what} has not moved for {self._seconds:g} s. It goes on without you.")
