"""Embeddings from Ollama's own API. Works without Django."""

import asyncio
import json
from collections.abc import Generator, Sequence
from typing import Any, TypeAlias

import httpx2

from embeddings.embedders.failing import (
    BROKEN_OFF,
    TEXT_REFUSED,
    TOO_SLOW,
    is_transient,
    reason_of,
    transient_failure,
)
from embeddings.types import Vector
from embeddings.vectors.checks import UnusableVectors, check_vectors
from knowlex.base.errors import EmbedderError, EmbedderRejected, EmbedderUnavailable, TextRejected
from knowlex.base.retry import Retry
from knowlex.net.bounded import sync_client
from knowlex.net.json_client import JsonWire, Reply, Unreachable
from knowlex.net.ollama import base_url, is_not_pulled, keep_alive, not_pulled

Step: TypeAlias = tuple[str, dict[str, Any]]  # a path and a body to post to it
Exchange: TypeAlias = Generator[Step, Reply, list[Vector]]
EMBED, ONE_BY_ONE = "/api/embed", "/api/embeddings"
# Said of a text, whatever the status: the same text will not fare better.
_OF_A_TEXT = ("exceeds the context", "too large to process", "unsupported value")
_NEVER = ("does not support", "invalid model", "invalid option")  # said with 400, but of every text


class OllamaWords:
    """dimensions: what is asked for; None: the model's own. As soon as a vector tells, `size` is known."""

    def __init__(self, model_name: str, dimensions: int | None, stays: str | float) -> None:
        self.size = dimensions
        self._one_by_one = False
        self._model_name = model_name
        self._always = {"model": model_name, "keep_alive": keep_alive(stays)}
        self._asked = {"dimensions": dimensions} if dimensions else {}

    def vectors(self, texts: Sequence[str]) -> Exchange:
        """One try: yields what to post, is sent the reply, returns a vector each. Raises EmbedderError."""
        if not self._one_by_one:
            reply = yield EMBED, {**self._always, "input": list(texts), **self._asked}
            if not _has_no_route(reply):
                return self._checked(self._read(reply, "embeddings"), len(texts))
            self._one_by_one = True  # a release before 0.3
        found = []
        for text in texts:
            reply = yield ONE_BY_ONE, {**self._always, "prompt": text}
            found.append(self._read(reply, "embedding"))
        return self._checked(found, len(texts))

    def loading(self) -> Exchange:
        """Without a text the model is only loaded."""
        self._read((yield EMBED, {**self._always, "input": []}), "embeddings")
        return []

    def _read(self, reply: Reply, name: str) -> Any:
        body = reply.body if isinstance(reply.body, dict) else {}
        if not reply.ok or body.get("error"):
            raise self._failure(reply, _error_text(body))
        return body.get(name)

    def _checked(self, rows: Any, count: int) -> list[Vector]:
        items = [{"index": n, "embedding": row} for n, row in enumerate(rows)] if _is_list(rows) else rows
        try:
            found = check_vectors(items, count, self.size)
        except UnusableVectors as exc:
            raise EmbedderUnavailable(f"The embedding model's answer is unusable. {exc}") from exc
        self.size = self.size or next((len(vector) for vector in found), None)
        return found

    def _failure(self, reply: Reply, said: str) -> EmbedderError:
        status, reason = reply.status, reason_of(said)
        if is_not_pulled(said) or (status == 404 and not _has_no_route(reply)):
            return EmbedderRejected(not_pulled(self._model_name))
        if status == 404:
            return EmbedderRejected(
                "OLLAMA_HOST embeds nothing: neither /api/embed nor /api/embeddings is there."
            )
        if any(words in said for words in _NEVER):
            return EmbedderRejected(f"The embedding model {self._model_name} cannot embed{reason}")
        if status in TEXT_REFUSED or any(words in said for words in _OF_A_TEXT):
            return TextRejected(f"The embedding model refuses the text (HTTP {status}){reason}")
        if reply.ok or is_transient(status):
            return transient_failure(status, reply.retry_after, reason)
        return EmbedderRejected(f"The embedding model's server answers with HTTP {status}{reason}")


def _error_text(body: dict[str, Any]) -> str:
    """Ollama's errors are texts; a proxy's may be objects."""
    error = body.get("error")
    said = error.get("message") if isinstance(error, dict) else error
    return said if isinstance(said, str) else ""


def _has_no_route(reply: Reply) -> bool:
    """The path is missing, not the model: of that Ollama would speak in JSON."""
    return reply.status in (404, 405) and not isinstance(reply.body, dict)


def _is_list(rows: Any) -> bool:
    return isinstance(rows, list)


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
            parsed = _parse_vectors(response)
        except httpx2.TimeoutException as exc:
            raise EmbedderUnavailable(TOO_SLOW) from exc
        except FAILURES as exc:
            raise EmbedderUnavailable(BROKEN_OFF) from exc
        return Reply(response.status_code, parsed, response.headers.get("retry-after", ""))

    def _client(self) -> httpx2.Client:
        if self._sync is None:  # made after a worker has forked
            self._sync = sync_client(self._base, max_bytes=MAX_ANSWER_BYTES, timeout_s=self._timeout_s)
        return self._sync


def _parse_vectors(response: httpx2.Response) -> Any:
    """Of an error also what is not JSON. Raises ValueError, RecursionError."""
    try:
        return json.loads(response.content)
    except ValueError:
        if response.is_success:
            raise
        return response.text[:2000]
