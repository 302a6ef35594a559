"""An answer as server-sent events, as it is written: `token`s, `sources`, `done`, or `error` on the way."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.http import HttpRequest

from knowlex.base.errors import SynthesisTimeout
from knowlex.web.responses import QUERY_ID_HEADER, failed_query, problem_event
from knowlex.web.sse import COMMENT, EventStream, Pump, ReaderTooSlow, event
from rag.answering.ask import AskResult, Caller, StreamEvent, ask_stream
from rag.types.answer import Started
from rag.types.question import Question

COMMENT_S = 9.0  # without an event; at least every 10 s are promised
FINDING_S = 0.5  # what a question may take before its model is asked
LATER_S = 1.5  # by default, the model's time is over no later than this after COMMENT_S


class Writer(Protocol):
    """Writes the text as the face sends it, piece by piece."""

    def feed(self, piece: str) -> str:
        """Return what can be sent now, "" for nothing yet."""
        ...

    def finish(self) -> str:
        """Return the rest."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """How a face writes an answer. body: the whole of it, as when it is not streamed, with `answer`.

    writer: of the text whose markers name these passages. sources: the name of the body's list of them.
    again: whether `done` repeats that list. passages: the body of an event `passages` that tells what was
    found before the first token; None for no such event.
    """

    body: Callable[[AskResult], dict[str, Any]]
    writer: Callable[[Started], Writer]
    sources: str
    again: bool = True
    passages: Callable[[Started], dict[str, Any]] | None = None


async def event_response(
    request: HttpRequest, question: Question, asker: Caller, answer_format: AnswerFormat
) -> EventStream:
    """Return the events of `stream_answer` as most faces write them."""
    return await stream_answer(request, question, asker, lambda pump: EventWriter(pump, answer_format))


async def stream_answer(
    request: HttpRequest,
    question: Question,
    asker: Caller,
    writer_of: Callable[[Pump[StreamEvent]], "EventWriter"],
) -> EventStream:
    """Return a stream once the first token is there: what is raised before is an error response as ever.

    A model that thinks longer than `_first_wait` gets the head sent before; then a failure is an event.
    """
    pump = Pump(ask_stream(question, asker), patience_s=settings.CLIENT_PATIENCE_S)
    writer = writer_of(pump)
    try:
        first = await writer.next(_first_wait() - (time.monotonic() - asker.started))
    except BaseException:
        failed_query(request, asker.query_id)
        await pump.aclose()
        raise
    response = EventStream(_events(request, first, writer), pump.aclose)
    response[QUERY_ID_HEADER] = str(asker.query_id)
    return response


def _first_wait() -> float:
    """Return for how long the head may wait, from the request on: for all of the model's time if that ends
    soon after COMMENT_S.
    """
    limit_s = float(settings.LLM_TIMEOUT_S) + FINDING_S
    return limit_s if COMMENT_S < limit_s <= COMMENT_S + LATER_S else COMMENT_S


async def _events(request: HttpRequest, first: bytes | None, writer: "EventWriter") -> AsyncGenerator[bytes]:
    part = first
    try:
        while not writer.done:
            yield part or COMMENT
            part = await writer.next(COMMENT_S)
        yield part or b""
    except Exception as exc:  # noqa: BLE001 - the head is sent: an event is all that is left
        yield writer.failed(problem_event(request, exc))


class EventWriter:
    """Makes events of the steps of an answer. done: the last one was made."""

    def __init__(self, pump: Pump[StreamEvent], answer_format: AnswerFormat) -> None:
        self._pump, self._format = pump, answer_format
        self._writer: Writer | None = None
        self.wrote = self.done = False

    async def next(self, patience_s: float) -> bytes | None:
        """Return the next event, or the last ones; None if there is none in time. Raises as `ask_stream`."""
        try:
            async with asyncio.timeout(max(0.0, patience_s)) as limit:
                while not (made := b"".join(self._events_of(await self._pump.next()))):
                    pass
                return made
        except TimeoutError:
            if limit.expired():
                return None
            raise
        except ReaderTooSlow:
            raise SynthesisTimeout("The answer was not taken in time.") from None

    def _events_of(self, step: StreamEvent) -> Iterator[bytes]:
        if isinstance(step, Started):
            self._writer = self._format.writer(step)
            if self._format.passages is not None:
                yield event("passages", self._format.passages(step))
        elif isinstance(step, AskResult):
            yield from self.ending(step)
            self.done = True
        elif self._writer is not None:
            yield from self.token(self._writer.feed(step))

    def token(self, text: str) -> Iterator[bytes]:
        """Write a piece of the text, if it is any."""
        if text:
            self.wrote = True
            yield self.text_event(text)

    def text_event(self, text: str) -> bytes:
        return event("token", {"text": text})

    def failed(self, problem: dict[str, Any]) -> bytes:
        """Write the error body of a failure after the head."""
        return event("error", problem)

    def rest(self, answer: str) -> Iterator[bytes]:
        """Write the text's rest, or where there was no text, the answer that stands in its place."""
        if self._writer is not None:
            yield from self.token(self._writer.finish())
        if not self.wrote:
            yield from self.token(answer)

    def ending(self, asked: AskResult) -> Iterator[bytes]:
        """Write the text's rest, or where there was no text, what stands in its place; then the sources."""
        body = self._format.body(asked)
        yield from self.rest(body["answer"])
        name = self._format.sources
        yield event("sources", {name: body[name], "sources": body[name]})
        rest = body if self._format.again else {key: body[key] for key in body if key != name}
        yield event("done", {"query_id": asked.query_id, **rest})
