"""Asking a chat model over HTTP, whole or streamed: tries, deadlines, text made safe."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import aiohttp

from knowlex.base import spending
from knowlex.base.errors import SynthesisFailed, SynthesisTimeout
from knowlex.base.retry import Retry
from knowlex.runtime.admission import elsewhere
from rag.chat.cleaning import Cleaner
from rag.chat.protocol import Message
from rag.chat.reading import ReplyFormat, ReplyReader
from rag.chat.replies import EMPTY, RetryableFailure, SchemaRefused, too_slow, within
from rag.chat.wire import Wire, drain, excerpt, read_block
from rag.types.answer import Synthesis, Usage

MAX_REPLY_BYTES = 4 * 1024 * 1024
MAX_STREAM_BYTES = 16 * 1024 * 1024  # a token of a stream is wrapped in some 250 bytes, one of reasoning too
MOST_CHANGES = 4  # of a request that the server refuses
USAGE_S = 1.0  # for the count of tokens, which comes after the text
NO_SCHEMA = frozenset({400, 404, 415, 422, 501})


@dataclass(frozen=True, slots=True)
class Request:
    messages: Sequence[Message]
    max_tokens: int | None
    schema: Mapping[str, Any] | None
    streamed: bool


class Dialect(Protocol):
    """How one API words requests and replies."""

    tongue: ReplyFormat

    def body(self, request: Request) -> bytes: ...

    def learn(self, status: int, said: str) -> None:
        """Leave out from now on what the server refuses, where it can be done without."""
        ...

    def failure(self, status: int, retry_after: str, said: str) -> SynthesisFailed: ...


class HttpChat:
    """Asks a chat model over HTTP. timeout_s: of the whole, retries included."""

    def __init__(
        self, wire: Wire, dialect: Dialect, *, model_name: str, timeout_s: float, retry: Retry
    ) -> None:
        self._wire, self._dialect, self.model_name = wire, dialect, model_name
        self._timeout_s, self._retry = timeout_s, retry
        self._unannounced = False  # whether its last reply had a `</think>` that nothing announced

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        timeout_s: float | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Synthesis:
        request = Request(messages, max_tokens, schema, streamed=False)
        limit = self._limit(timeout_s)
        ends = time.monotonic() + limit
        try:
            with elsewhere():
                return await within(limit, self._retry, lambda: self._completed(request, ends))
        except SynthesisTimeout:
            self._timed_out()
            raise

    async def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        timeout_s: float | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[str | Usage]:
        request = Request(messages, max_tokens, schema, streamed=True)
        limit = self._limit(timeout_s)
        began, tried, shown = time.monotonic(), 0, False
        if limit <= 0:
            raise too_slow()
        while True:
            try:
                with elsewhere():
                    async with aclosing(self._pieces(request, began + limit)) as pieces:
                        async for piece in pieces:
                            shown = True
                            yield piece
                return
            except TimeoutError as exc:
                self._timed_out()
                raise too_slow() from exc
            except RetryableFailure as exc:
                if shown:
                    raise SynthesisFailed(exc.message) from exc
                wait = self._wait(exc, tried, began, limit)
            tried += 1
            await asyncio.sleep(wait)

    async def aclose(self) -> None:
        await self._wire.aclose()
        await spending.aclose()

    def _timed_out(self) -> None:
        """Help a server that may need it after a question was given up."""

    def _limit(self, timeout_s: float | None) -> float:
        return min(self._timeout_s, math.inf if timeout_s is None else timeout_s)

    def _wait(self, exc: RetryableFailure, tried: int, began: float, limit: float) -> float:
        try:
            return replace(self._retry, deadline_s=limit).wait_or_raise(exc, tried, began)
        except RetryableFailure as last:
            raise SynthesisFailed(last.message) from exc

    async def _completed(self, request: Request, ends: float) -> Synthesis:
        reading, cleaner = self._reading(request), Cleaner(unannounced=self._unannounced)
        async with self._answered(request, ends, reading) as response:
            read = aclosing(_texts(response, reading, ends, MAX_REPLY_BYTES))
            async with read as texts:
                raw = "".join([text async for text in texts])
        text = cleaner.feed(raw) + cleaner.finish()
        self._unannounced = cleaner.unannounced
        if not text:
            raise RetryableFailure(EMPTY)
        return Synthesis(text, self._used(reading))

    async def _pieces(self, request: Request, ends: float) -> AsyncGenerator[str | Usage]:
        """Make one try. Raises RetryableFailure, SynthesisFailed, TimeoutError."""
        reading, cleaner = self._reading(request), Cleaner(unannounced=self._unannounced)
        shown = False
        async with self._answered(request, ends, reading) as response:
            async with aclosing(_texts(response, reading, ends, MAX_STREAM_BYTES)) as texts:
                async for raw in texts:
                    if text := self._clean(cleaner, raw):
                        shown = True
                        yield text
                    if cleaner.full:
                        break
            rest = cleaner.finish()
            self._unannounced = cleaner.unannounced
            if not (shown or rest):
                raise RetryableFailure(EMPTY)
            if rest:
                yield rest
            yield self._used(reading)
            if reading.last:
                await drain(response)

    def _clean(self, cleaner: Cleaner, raw: str) -> str:
        try:
            return cleaner.feed(raw)
        finally:
            self._unannounced = self._unannounced or cleaner.unannounced

    def _reading(self, request: Request) -> ReplyReader:
        return ReplyReader(self._dialect.tongue, streamed=request.streamed)

    def _used(self, reading: ReplyReader) -> Usage:
        return replace(reading.usage or Usage(), model=self.model_name, cut=reading.cut)

    @asynccontextmanager
    async def _answered(
        self, request: Request, ends: float, reading: ReplyReader
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Yield the response of a server that takes the request, if need be without what it refuses.

        What it took is counted, also for a reply that nobody waited for. Raises DailyTokensSpent.
        """
        await spending.require_tokens()
        for _ in range(MOST_CHANGES):
            sent, taken = self._dialect.body(request), True  # also by a server that was too slow
            try:
                async with self._wire.post(sent, ends) as response:
                    taken = 200 <= response.status < 300
                    if taken:
                        yield response
                        return
                    said = await excerpt(response, ends)
            except RetryableFailure:
                taken = reading.begun
                raise
            finally:
                if taken:
                    used = reading.usage or Usage()
                    told = used.input_tokens + used.output_tokens
                    await spending.add(told, text_bytes=len(sent) + reading.text_bytes)
            self._dialect.learn(response.status, said)
            if self._dialect.body(request) == sent:
                break
        raise self._refusal(request, response, said)

    def _refusal(self, request: Request, response: aiohttp.ClientResponse, said: str) -> SynthesisFailed:
        retry_after = response.headers.get("Retry-After", "")
        failure = self._dialect.failure(response.status, retry_after, said)
        if request.schema is not None and response.status in NO_SCHEMA and type(failure) is SynthesisFailed:
            return SchemaRefused("The chat model's server takes no JSON schema.")
        return failure


async def _texts(
    response: aiohttp.ClientResponse, reading: ReplyReader, ends: float, max_bytes: int
) -> AsyncGenerator[str]:
    """Yield the reply's text as it is written. Raises RetryableFailure, TimeoutError."""
    while not reading.last:
        until = min(ends, time.monotonic() + USAGE_S) if reading.ended else ends
        try:
            block = await read_block(response, until)
        except (RetryableFailure, TimeoutError):
            if reading.ended:
                break  # the text is whole
            raise
        if not block:
            break
        max_bytes -= len(block)
        if max_bytes < 0:
            raise RetryableFailure("The chat model's reply is too large.")
        if text := reading.feed(block):
            yield text
        if reading.failure:
            raise reading.failure
    if text := reading.finish():
        yield text
    if reading.failure:
        raise reading.failure
