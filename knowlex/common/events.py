"""Server-sent events: their form on the wire, a response that tells when it has ended, and who wants them."""

import contextvars
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse

from knowlex.common.json_output import plain_json_bytes

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
