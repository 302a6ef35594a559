"""Embeddings from Ollama's own API. Works without Django."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import httpx2

from embeddings.embedders.failing import BROKEN_OFF, TOO_SLOW
from embeddings.embedders.ollama_words import Exchange, OllamaWords
from embeddings.types import Vector
from knowlex.common.bounded_http import sync_client
from knowlex.common.errors import EmbedderUnavailable
from knowlex.common.json_wire import JsonWire, Reply, Unreachable
from knowlex.common.ollama import base_url
from knowlex.common.retry import Retry

MAX_ANSWER_BYTES = 16 * 1024 * 1024  # 50 vectors of 4,096 dimensions as JSON stay below
MOST_TEXTS = 50  # in one request
QUERY_LIMIT_S = 10.0  # a question's embedding, retries included: someone waits for it
THREE_MORE = Retry(retries=3, base_s=1.0)  # after 1, 2 and 4 s
FAILURES = (httpx2.HTTPError, httpx2.StreamError, OSError, ValueError, RecursionError)


class OllamaEmbedder:
    """host: a URL, or host:port as OLLAMA_HOST often is. dimensions: to ask for; None: the model's own.

    The prefixes stand before every text of their kind, for models trained with them. keep_alive: how
    long the model stays loaded, as OLLAMA_KEEP_ALIVE has it. timeout_s: of one try.
    """

    def __init__(
        self,
        *,
        host: str,
        model_name: str,
        dimensions: int | None = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        keep_alive: str | float = "30m",
        timeout_s: float = 30.0,
        retry: Retry = THREE_MORE,
    ) -> None:
        self.model_name, self.dimensions = model_name, dimensions
        self._query_prefix, self._passage_prefix = query_prefix or "", passage_prefix or ""
        self._timeout_s, self._retry = timeout_s, retry
        self._words = OllamaWords(model_name, dimensions, keep_alive)
        self._base = base_url(host)
        self._wire = JsonWire(self._base, max_bytes=MAX_ANSWER_BYTES)
        self._sync: httpx2.Client | None = None

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        found: list[Vector] = []
        for start in range(0, len(texts), MOST_TEXTS):
            found += self._embedded(
                [self._passage_prefix + text for text in texts[start : start + MOST_TEXTS]]
            )
        return found

    async def aembed_query(self, text: str) -> Vector:
        return await self._one(self._query_prefix + text)

    async def aembed_passage(self, text: str) -> Vector:
        return await self._one(self._passage_prefix + text)

    async def warm_up(self, *, timeout_s: float) -> None:
        """Have the model loaded. Raises EmbedderError."""
        await self._talk(self._words.loading(), timeout_s)

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        await self._wire.aclose()

    def _embedded(self, texts: Sequence[str]) -> list[Vector]:
        def attempt() -> list[Vector]:
            exchange, reply = self._words.vectors(texts), None
            try:
                while True:
                    reply = self._post(*exchange.send(reply))  # type: ignore[arg-type]  # None begins it
            except StopIteration as done:
                vectors: list[Vector] = done.value
                self.dimensions = self._words.size
                return vectors

        return self._retry.call(attempt, retry_on=(EmbedderUnavailable,))

    async def _one(self, text: str) -> Vector:
        async def attempt() -> Vector:
            (vector,) = await self._talk(self._words.vectors([text]), self._timeout_s)
            return vector

        try:
            async with asyncio.timeout(QUERY_LIMIT_S):
                return await self._retry.acall(attempt, retry_on=(EmbedderUnavailable,))
        except TimeoutError as exc:
            raise EmbedderUnavailable(TOO_SLOW) from exc

    async def _talk(self, exchange: Exchange, timeout_s: float) -> list[Vector]:
        reply = None
        try:
            while True:
                path, body = exchange.send(reply)  # type: ignore[arg-type]  # None begins it
                reply = await self._wire.send("POST", path, body, timeout_s=timeout_s)
        except StopIteration as done:
            vectors: list[Vector] = done.value
            self.dimensions = self._words.size
            return vectors
        except TimeoutError as exc:
            raise EmbedderUnavailable(TOO_SLOW) from exc
        except Unreachable as exc:
            raise EmbedderUnavailable(BROKEN_OFF) from exc

    def _post(self, path: str, body: dict[str, Any]) -> Reply:
        try:
            response = self._client().post(f"{self._base}{path}", json=body)
            parsed = _parsed(response)
        except httpx2.TimeoutException as exc:
            raise EmbedderUnavailable(TOO_SLOW) from exc
        except FAILURES as exc:
            raise EmbedderUnavailable(BROKEN_OFF) from exc
        return Reply(response.status_code, parsed, response.headers.get("retry-after", ""))

    def _client(self) -> httpx2.Client:
        if self._sync is None:  # made after a worker has forked
            self._sync = sync_client(self._base, max_bytes=MAX_ANSWER_BYTES, timeout_s=self._timeout_s)
        return self._sync


def _parsed(response: httpx2.Response) -> Any:
    """Of an error also what is not JSON. Raises ValueError, RecursionError."""
    try:
        return json.loads(response.content)
    except ValueError:
        if response.is_success:
            raise
        return response.text[:2000]
