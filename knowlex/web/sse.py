"""Server-sent events: their form on the wire, the response that sends them, and which clients want them."""

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any, Generic, TypeVar

from django.http import HttpRequest, StreamingHttpResponse

from knowlex.web.json_output import plain_json_bytes

T = TypeVar("T")
ROOM = 256  # items that may wait for a slow reader; then the generator waits


class ReaderTooSlow(Exception):
    """Nobody read the items for too long."""


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class Pump(Generic[T]):
    """Runs a generator in a task of its own: its time limits and its clean-up hold, however it is read.

    Must be closed: that cancels the task and closes the generator.
    patience_s: how long to wait for a reader; then the generator is closed, and the end is ReaderTooSlow.
    """

    def __init__(self, items: AsyncGenerator[T], *, room: int = ROOM, patience_s: float) -> None:
        self._queue: asyncio.Queue[T | _End] = asyncio.Queue()
        self._room, self._patience_s = asyncio.Semaphore(room), patience_s
        self._task = asyncio.create_task(self._run(items))

    async def next(self) -> T:
        """Raises StopAsyncIteration at the end, or what the generator raised. Safe to cancel."""
        item = await self._queue.get()
        if isinstance(item, _End):
            self._queue.put_nowait(item)  # for the next call
            raise item.error or StopAsyncIteration
        self._room.release()
        return item

    async def aclose(self) -> None:
        """Return when the generator is closed; what closing raises is dropped."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self, items: AsyncGenerator[T]) -> None:
        error: BaseException | None = ReaderTooSlow()  # after a cancellation nobody reads it
        try:
            async with aclosing(items):
                async for item in items:
                    await self._wait_for_room()
                    self._queue.put_nowait(item)
            error = None
        except Exception as exc:  # noqa: BLE001 - `next` raises it
            error = exc
        finally:
            self._queue.put_nowait(_End(error))

    async def _wait_for_room(self) -> None:
        if not self._room.locked():
            await self._room.acquire()  # at once
            return
        try:
            async with asyncio.timeout(self._patience_s):
                await self._room.acquire()
        except TimeoutError as exc:
            raise ReaderTooSlow from exc


EVENT_STREAM, JSON = "text/event-stream", "application/json"
COMMENT = b": keep-alive\n\n"
HEADERS = {
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",  # nginx would keep the tokens until its buffer is full
}
UNDECIDED = frozenset({"", "*/*", JSON})  # what nearly all programs send
Ended = Callable[[bool], None]


def event(name: str, data: Any) -> bytes:
    """Return one event; its JSON is one line of valid UTF-8 (a lone surrogate becomes `?`)."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), plain_json_bytes(data))


class EventStream(StreamingHttpResponse):
    """A response of events; whoever serves it must call `aclose`, even if it never began.

    close: ends the source of the events. on_end: called at the end with whether all events were read, in the
    context in which the response was made.
    """

    def __init__(self, events: AsyncGenerator[bytes], close: Callable[[], Awaitable[None]]) -> None:
        super().__init__(
            self._read_to_end(events), content_type=f"{EVENT_STREAM}; charset=utf-8", headers=HEADERS
        )
        self._events, self._close, self._whole = events, close, False
        self._context = contextvars.copy_context()
        self.on_end: list[Ended] = []

    async def _read_to_end(self, events: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        async for part in events:
            yield part
        self._whole = True

    async def aclose(self) -> None:
        try:
            await self._events.aclose()
            await self._close()
        finally:
            callbacks, self.on_end = self.on_end, []
            for callback in callbacks:
                self._context.run(callback, self._whole)


def wants_events(request: HttpRequest) -> bool:
    """Return whether `Accept` asks for an event stream rather than for JSON.

    The greater q decides; then the more exact name, so that `*/*` asks for nothing; then the first one.
    """
    if request.META.get("HTTP_ACCEPT", "") in UNDECIDED:
        return False
    stream, plain = _preference(request, EVENT_STREAM), _preference(request, JSON)
    return stream is not None and (plain is None or stream > plain)


def takes_events(request: HttpRequest) -> bool:
    """Return whether `Accept` allows an event stream."""
    return _preference(request, EVENT_STREAM) is not None


def _preference(request: HttpRequest, media_type: str) -> tuple[float, int, int] | None:
    """Return (q, exactness, -position) of what fits the type best; None if it is not accepted."""
    accepted = request.headers.get("Accept", "") or "*/*"
    patterns = [media_type, f"{media_type.partition('/')[0]}/*", "*/*"]
    matches = []
    for position, media_range in enumerate(accepted.split(",")):
        name, *parameters = (part.strip().lower() for part in media_range.split(";"))
        if name in patterns:
            matches.append((2 - patterns.index(name), _quality(parameters), -position))
    if not matches:
        return None
    exactness, quality, position = max(matches)  # the most exact pattern gives the type's q
    return (quality, exactness, position) if quality > 0 else None


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            with suppress(ValueError):
                return min(max(float(value), 0.0), 1.0)
            return 0.0
    return 1.0
