"""Server-sent events: their form on the wire, a response that tells when it has ended, and who wants them."""

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any, Generic, TypeVar

from django.http import HttpRequest, StreamingHttpResponse

from knowlex.web.json_output import plain_json_bytes

T = TypeVar("T")
ROOM = 256  # that may wait for a slow taker; then the maker waits


class TakerTooSlow(Exception):
    """Nobody took what was made for too long."""


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class Pump(Generic[T]):
    """Runs the generator in one task of its own: its time limits and its clean-up hold, whoever takes when.

    Must be closed: that cancels the task and closes the generator.
    patience_s: for a taker; after it the generator is closed, and the end is TakerTooSlow.
    """

    def __init__(self, items: AsyncGenerator[T], *, room: int = ROOM, patience_s: float) -> None:
        self._queue: asyncio.Queue[T | _End] = asyncio.Queue()
        self._room, self._patience_s = asyncio.Semaphore(room), patience_s
        self._task = asyncio.create_task(self._run(items))

    async def next(self) -> T:
        """Raises StopAsyncIteration at the end, or what the generator raised. Safe to cancel."""
        item = await self._queue.get()
        if isinstance(item, _End):
            self._queue.put_nowait(item)  # for whoever asks again
            raise item.error or StopAsyncIteration
        self._room.release()
        return item

    async def aclose(self) -> None:
        """Returns when the generator is closed; what that raises is nobody's any more."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self, items: AsyncGenerator[T]) -> None:
        error: BaseException | None = TakerTooSlow()  # if we are cancelled there is nobody left to tell
        try:
            async with aclosing(items):
                async for item in items:
                    await self._wait_for_room()
                    self._queue.put_nowait(item)
            error = None
        except Exception as exc:  # noqa: BLE001 - told to whoever takes
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
            raise TakerTooSlow from exc


EVENT_STREAM, JSON = "text/event-stream", "application/json"
COMMENT = b": keep-alive\n\n"
HEADERS = {
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",  # nginx would keep the tokens until its buffer is full
}
UNDECIDED = frozenset({"", "*/*", JSON})  # what nearly all programs send
Ended = Callable[[bool], None]


def event(name: str, data: Any) -> bytes:
    """One event; its JSON is one line of valid UTF-8 (a lone surrogate becomes `?`)."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), plain_json_bytes(data))


class EventStream(StreamingHttpResponse):
    """The events; whoever serves it must call `aclose`, also if it was not begun.

    close: ends what the events come from. on_end: called at last with whether all was read, in the context
    in which the response was made.
    """

    def __init__(self, events: AsyncGenerator[bytes], close: Callable[[], Awaitable[None]]) -> None:
        super().__init__(
            self._counted(events), content_type=f"{EVENT_STREAM}; charset=utf-8", headers=HEADERS
        )
        self._events, self._close, self._whole = events, close, False
        self._context = contextvars.copy_context()
        self.on_end: list[Ended] = []

    async def _counted(self, events: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        async for one in events:
            yield one
        self._whole = True

    async def aclose(self) -> None:
        try:
            await self._events.aclose()
            await self._close()
        finally:
            told, self.on_end = self.on_end, []
            for tell in told:
                self._context.run(tell, self._whole)


def wants_events(request: HttpRequest) -> bool:
    """Whether `Accept` asks for an event stream rather than for JSON.

    The greater q decides; then the one that is named more exactly, so that `*/*` is no wish; then the first.
    """
    if request.META.get("HTTP_ACCEPT", "") in UNDECIDED:
        return False
    wished, plain = (_preference(request, media_type) for media_type in (EVENT_STREAM, JSON))
    return wished is not None and (plain is None or wished > plain)


def takes_events(request: HttpRequest) -> bool:
    """Whether `Accept` allows an event stream."""
    return _preference(request, EVENT_STREAM) is not None


def _preference(request: HttpRequest, media_type: str) -> tuple[float, int, int] | None:
    """(q, exactness, -place) of what fits the type best; None if it is not accepted."""
    accepted = request.headers.get("Accept", "") or "*/*"
    patterns = [media_type, f"{media_type.partition('/')[0]}/*", "*/*"]
    found = []
    for place, one in enumerate(accepted.split(",")):
        name, *parameters = (part.strip().lower() for part in one.split(";"))
        if name in patterns:
            found.append((2 - patterns.index(name), _quality(parameters), -place))
    if not found:
        return None
    exactness, quality, place = max(found)  # the most exact pattern tells the type's q
    return (quality, exactness, place) if quality > 0 else None


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            with suppress(ValueError):
                return min(max(float(value), 0.0), 1.0)
            return 0.0
    return 1.0
