"""Requests and their answers, with retries: written once, for blocking and for asynchronous programs.

All of it is coroutines over a transport. On `Blocking` none of them ever waits, so `finish` and `iterate` run
them to their end without an event loop.
"""

import asyncio
import email.utils
import json
import random
import time
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import count
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx2
from pydantic import TypeAdapter, ValidationError

from knowlex_client.errors import (
    ApiError,
    ConnectionFailed,
    KnowlexError,
    UnexpectedAnswer,
    choose_error_class,
)

T = TypeVar("T")
JSON, FORM, EVENTS = "application/json", "multipart/form-data", "text/event-stream"
NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
UNUSABLE = (httpx2.InvalidURL, httpx2.UnsupportedProtocol)
TRANSIENT = (502, 503, 504)
MESSAGE_CHARS = 300  # of a body that is no error body of ours
_END: Any = object()


@dataclass(frozen=True)
class Operation(Generic[T]):
    """One operation of the server's schema, and the type of its answer.

    bodies: the media types that it takes, the usual one first. files: the fields of a form that hold files.
    repeatable: a second time changes nothing. keyed: it takes an Idempotency-Key, so it may be repeated too.
    """

    name: str
    method: str
    path: str
    answer: Any
    parameters: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    repeatable: bool = False
    keyed: bool = False


@dataclass(frozen=True)
class Retry:
    """tries: so many requests at most. base_s: before the second, doubled before each other one.

    max_wait_s: of all pauses together. A `Retry-After` beyond it is not waited for: the error is raised at
    once, with `retry_after_s`.
    """

    tries: int = 4
    base_s: float = 0.5
    max_wait_s: float = 60.0

    def pause(self, failed: int, waited_s: float, retry_after_s: float | None) -> float | None:
        """Return the seconds before the next try after so many; None for no other try."""
        if failed >= self.tries:
            return None
        doubled = self.base_s * 2 ** (failed - 1) * random.uniform(0.5, 1)  # noqa: S311 - spreads clients
        pause = doubled if retry_after_s is None else retry_after_s
        return pause if waited_s + pause <= self.max_wait_s else None


class Transport(Protocol):
    """What differs between blocking and asynchronous programs."""

    @property
    def http(self) -> httpx2.Client | httpx2.AsyncClient: ...

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response; of its body nothing is read yet."""

    async def read(self, response: httpx2.Response) -> None: ...

    async def close(self, response: httpx2.Response) -> None: ...

    def lines(self, response: httpx2.Response) -> AsyncGenerator[str]: ...

    async def sleep(self, seconds: float) -> None: ...


class Blocking:
    def __init__(self, http: httpx2.Client) -> None:
        self.http = http

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        return self.http.send(request, stream=True)

    async def read(self, response: httpx2.Response) -> None:
        response.read()

    async def close(self, response: httpx2.Response) -> None:
        response.close()

    async def lines(self, response: httpx2.Response) -> AsyncGenerator[str]:
        for line in response.iter_lines():
            yield line

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - blocking is what it is for


class Asynchronous:
    def __init__(self, http: httpx2.AsyncClient) -> None:
        self.http = http

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        return await self.http.send(request, stream=True)

    async def read(self, response: httpx2.Response) -> None:
        await response.aread()

    async def close(self, response: httpx2.Response) -> None:
        await response.aclose()

    async def lines(self, response: httpx2.Response) -> AsyncGenerator[str]:
        async for line in response.aiter_lines():
            yield line

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on `Blocking`: it ends in one step, as nothing in it waits."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    raise RuntimeError("A coroutine waited for an event loop in a blocking client.")


def iterate(items: AsyncGenerator[T]) -> Iterator[T]:
    """Yield the items of a generator on `Blocking`; it is closed at the end, or when nobody reads on."""

    async def step() -> T:
        return await anext(items, _END)

    try:
        while (item := finish(step())) is not _END:
            yield item
    finally:
        finish(items.aclose())


@dataclass(frozen=True)
class Exchange:
    """Calls operations of one server with one key."""

    transport: Transport
    url: str
    headers: Mapping[str, str]
    retry: Retry

    async def call(
        self,
        operation: Operation[T],
        body: Any = None,
        *,
        media_type: str = "",
        idempotency_key: str = "",
        **parameters: Any,
    ) -> T:
        """Return what the operation answers. Raises KnowlexError, TypeError: it has no such parameter.

        body: an object for JSON or a form (files as `(name, bytes or opened file)`, or a list of those), text
        or bytes for another media type.
        """
        asked = _build_arguments(operation, body, media_type, idempotency_key, parameters)
        return _parse_answer(operation, await self._send(operation, asked, whole=True))

    async def events(self, operation: Operation[Any], body: Any) -> AsyncGenerator[tuple[str, Any]]:
        """Yield each event of a streamed answer: its name, and its data as JSON. Raises as `call`.

        A stream that ends without `done` is an error, and so is an event `error`.
        """
        asked = _build_arguments(operation, body, JSON, "", {})
        asked["headers"]["Accept"] = EVENTS
        response, done = await self._send(operation, asked, whole=False), False
        try:
            async with aclosing(_read_events(self.transport.lines(response))) as events:
                async for name, data in events:
                    if name == "error":
                        raise _make_error(data.get("status", 500), data, response)
                    done = name == "done"
                    yield name, data
        except httpx2.TransportError as exc:
            raise ConnectionFailed(f"{self.url} broke off in the middle of its answer: {exc}") from exc
        finally:
            await self.transport.close(response)
        if not done:
            raise ConnectionFailed(f"{self.url} ended its answer before it was whole.")

    async def _send(
        self, operation: Operation[Any], asked: dict[str, Any], *, whole: bool
    ) -> httpx2.Response:
        """Return a response that is a success. whole: its body is read, and it is closed."""
        waited_s = 0.0
        for tried in count(1):
            try:
                response = await self.transport.send(self._build(operation, asked))
                if whole or not response.is_success:
                    await self.transport.read(response)
            except (httpx2.TransportError, *UNUSABLE) as exc:
                failure: KnowlexError = ConnectionFailed(
                    f"{self.url} cannot be reached: {exc or type(exc).__name__}"
                )
                failure.__cause__ = exc
                again = _may_repeat(operation, exc)
            else:
                if response.is_success:
                    return response
                failure = refusal = _read_refusal(response)
                again = _may_repeat_after(operation, refusal)
            pause = self.retry.pause(tried, waited_s, failure.retry_after_s) if again else None
            if pause is None:
                raise failure
            await self.transport.sleep(pause)
            waited_s += pause
        raise AssertionError

    def _build(self, operation: Operation[Any], asked: dict[str, Any]) -> httpx2.Request:
        """Build it anew for each try: files are read from their beginning."""
        given = {**asked, "headers": {**self.headers, **asked["headers"]}}
        path = given.pop("path")
        return self.transport.http.build_request(operation.method, f"{self.url}{path}", **given)


def _build_arguments(
    operation: Operation[Any], body: Any, media_type: str, idempotency_key: str, parameters: dict[str, Any]
) -> dict[str, Any]:
    """Return what `build_request` is given, and the path."""
    given = {
        name: value.isoformat() if isinstance(value, date) else value
        for name, value in parameters.items()
        if value is not None
    }
    path, in_path = operation.path, [name for name in given if f"{{{name}}}" in operation.path]
    for name in in_path:
        path = path.replace(f"{{{name}}}", quote(str(given.pop(name)), safe=""))
    if "{" in path:
        raise TypeError(f"{operation.name} needs {path[path.index('{') + 1 : path.index('}')]}.")
    if unknown := given.keys() - set(operation.parameters):
        raise TypeError(f"{operation.name} has no parameter {', '.join(sorted(unknown))}.")
    headers = {name: str(given.pop(name)) for name in ("Prefer",) if name in given}
    if operation.keyed:
        headers["Idempotency-Key"] = idempotency_key or uuid4().hex
    asked = {"path": path, "params": given, "headers": headers}
    if body is None:
        return asked
    media_type = media_type or _choose_media_type(operation, body)
    if media_type == JSON:
        return asked | {"json": body}
    if media_type == FORM:
        return asked | _make_form(operation, body)
    headers["Content-Type"] = media_type
    return asked | {"content": body}


def _choose_media_type(operation: Operation[Any], body: Any) -> str:
    if not operation.bodies:
        raise TypeError(f"{operation.name} takes no body.")
    if isinstance(body, Mapping) and any(name in body for name in operation.files):
        return FORM
    if JSON in operation.bodies and not isinstance(body, str | bytes):
        return JSON
    return next((kind for kind in operation.bodies if kind != JSON), JSON)


def _make_form(operation: Operation[Any], body: Mapping[str, Any]) -> dict[str, Any]:
    files = []
    for name in operation.files:
        given = body.get(name, [])
        files += [
            (name, file)
            for file in (given if isinstance(given, Sequence) and not _is_file(given) else [given])
        ]
    return {
        "files": files,
        "data": {name: value for name, value in body.items() if name not in operation.files},
    }


def _is_file(given: Any) -> bool:
    return isinstance(given, str | bytes) or (isinstance(given, tuple) and isinstance(given[0], str))


def _may_repeat(operation: Operation[Any], exc: Exception) -> bool:
    """Tell if another try may follow a request without an answer. Who waited has waited long enough."""
    if isinstance(exc, UNUSABLE):
        return False
    if isinstance(exc, NEVER_SENT):
        return True
    late = isinstance(exc, httpx2.TimeoutException)
    return operation.keyed or (operation.repeatable and not late)


def _may_repeat_after(operation: Operation[Any], failure: ApiError) -> bool:
    """Tell if another try may follow this answer: the request was refused at once, or does no harm twice."""
    if failure.status == 409:  # the first request with this key is under way
        return operation.keyed and failure.retry_after_s is not None
    return failure.status == 429 or (
        failure.status in TRANSIENT and (operation.keyed or operation.repeatable)
    )


def _read_refusal(response: httpx2.Response) -> ApiError:
    try:
        body = response.json()
    except ValueError:
        body = None
    return _make_error(response.status_code, body, response)


def _make_error(status: int, body: Any, response: httpx2.Response) -> ApiError:
    """Return the error of an error body: ours, OpenAI's, or that of something in between."""
    told = body if isinstance(body, dict) else {}
    code: Any = told.get("error")
    message = told.get("message")
    if isinstance(code, dict):
        message, code = code.get("message"), code.get("code")
    if not told:
        message = response.text[:MESSAGE_CHARS]
    request_id = told.get("request_id") or told.get("requestId") or response.headers.get("X-Request-ID", "")
    return choose_error_class(status)(
        str(message or "The server did not say why."),
        status=status,
        code=str(code or f"HTTP_{status}"),
        details=told.get("details") or (told if "error" not in told else {}),
        request_id=str(request_id),
        retry_after_s=_read_retry_after(response.headers.get("Retry-After", "")),
    )


def _read_retry_after(value: str) -> float | None:
    """Return the seconds of a `Retry-After` header, a number or a date; None without a usable one."""
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _parse_answer(operation: Operation[T], response: httpx2.Response) -> T:
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    adapter = _make_adapter(operation.answer)
    try:
        if kind == JSON:
            answer: T = adapter.validate_json(response.content)
        elif response.status_code == 204:
            answer = adapter.validate_python(None)
        else:
            is_text = kind.startswith("text/") or kind.endswith("+xml")
            answer = adapter.validate_python(response.text if is_text else response.content, strict=True)
    except ValidationError as exc:
        raise UnexpectedAnswer(f"{operation.name} is not answered as its schema says: {exc}") from exc
    return answer


@cache
def _make_adapter(answer: Any) -> TypeAdapter[Any]:
    return TypeAdapter(answer)


async def _read_events(lines: AsyncGenerator[str]) -> AsyncGenerator[tuple[str, Any]]:
    name, data = "message", ""
    async with aclosing(lines):
        async for line in lines:
            if line.startswith("event:"):
                name = line.removeprefix("event:").strip()
            elif line.startswith("data:"):
                data += line.removeprefix("data:").strip()
            elif not line and data:
                yield name, json.loads(data)
                name, data = "message", ""
