"""An answer as server-sent events, as it is written: `token`s, `sources`, `done`; or `error` on the way."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.http import HttpRequest

from knowlex.base.errors import SynthesisTimeout
from knowlex.web.responses import QUERY_ID_HEADER, failed_query, problem_told
from knowlex.web.sse import COMMENT, EventStream, Pump, TakerTooSlow, event
from rag.answering.ask import AskResult, Caller, StreamEvent, ask_stream
from rag.types.answer import Started
from rag.types.question import Question

COMMENT_S = 9.0  # without an event; at least every 10 s are promised
FINDING_S = 0.5  # what a question may take before its model is asked
LATER_S = 1.5  # by default, the model's time is over no later than this after COMMENT_S


class Writer(Protocol):
    """The text as the face sends it, piece by piece."""

    def feed(self, piece: str) -> str:
        """What can be sent now; "" for nothing yet."""
        ...

    def finish(self) -> str:
        """The rest."""
        ...


@dataclass(frozen=True, slots=True)
class Telling:
    """How a face tells an answer. body: the whole of it, as when it is not streamed, with `answer`.

    writer: of the text whose markers name these passages. sources: the name of the body's list of them.
    again: whether `done` says that list again.
    """

    body: Callable[[AskResult], dict[str, Any]]
    writer: Callable[[Started], Writer]
    sources: str
    again: bool = True


async def event_response(
    request: HttpRequest, question: Question, asker: Caller, telling: Telling
) -> EventStream:
    """Made once the first token is there: what is raised before is an error response like any other.

    A model that thinks longer than `_first_wait` gets the head sent before; then a failure is an event.
    """
    pump = Pump(ask_stream(question, asker), patience_s=settings.CLIENT_PATIENCE_S)
    teller = _Teller(pump, telling)
    try:
        first = await teller.next(_first_wait() - (time.monotonic() - asker.started))
    except BaseException:
        failed_query(request, asker.query_id)
        await pump.aclose()
        raise
    response = EventStream(_events(request, first, teller), pump.aclose)
    response[QUERY_ID_HEADER] = str(asker.query_id)
    return response


def _first_wait() -> float:
    """Seconds from the request on: until the model's time is over, if that is soon after COMMENT_S."""
    told_by = float(settings.LLM_TIMEOUT_S) + FINDING_S
    return told_by if COMMENT_S < told_by <= COMMENT_S + LATER_S else COMMENT_S


async def _events(request: HttpRequest, first: bytes | None, teller: "_Teller") -> AsyncGenerator[bytes]:
    one = first
    try:
        while not teller.done:
            yield one or COMMENT
            one = await teller.next(COMMENT_S)
        yield one or b""
    except Exception as exc:  # noqa: BLE001 - the head is sent: all that is left is to say it
        yield event("error", problem_told(request, exc))


class _Teller:
    """Takes what is told, and makes events of it. done: the last one was made."""

    def __init__(self, pump: Pump[StreamEvent], telling: Telling) -> None:
        self._pump, self._telling = pump, telling
        self._writer: Writer | None = None
        self._wrote = self.done = False

    async def next(self, patience_s: float) -> bytes | None:
        """The next event, or the last ones; None if there is none in time. Raises as `ask_stream`."""
        try:
            async with asyncio.timeout(max(0.0, patience_s)) as limit:
                while not (made := b"".join(self._made(await self._pump.next()))):
                    pass
                return made
        except TimeoutError:
            if limit.expired():
                return None
            raise
        except TakerTooSlow:
            raise SynthesisTimeout("The answer was not taken in time.") from None

    def _made(self, told: StreamEvent) -> Iterator[bytes]:
        if isinstance(told, Started):
            self._writer = self._telling.writer(told)
        elif isinstance(told, AskResult):
            yield from self._ending(told)
        elif self._writer is not None:
            yield from self._token(self._writer.feed(told))

    def _token(self, text: str) -> Iterator[bytes]:
        if text:
            self._wrote = True
            yield event("token", {"text": text})

    def _ending(self, asked: AskResult) -> Iterator[bytes]:
        """The text's rest, or where there was no text, all that is said instead; then what it rests on."""
        body = self._telling.body(asked)
        if self._writer is not None:
            yield from self._token(self._writer.finish())
        if not self._wrote:
            yield from self._token(body["answer"])
        name = self._telling.sources
        yield event("sources", {name: body[name], "sources": body[name]})
        kept = body if self._telling.again else {key: body[key] for key in body if key != name}
        yield event("done", {"query_id": asked.query_id, **kept})
        self.done = True
