"""Embeddings from Ollama's own API. Works without Django."""

import asyncio
from collections.abc import Sequence
from typing import Any

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
from knowlex.net import ollama
from knowlex.net.json_client import JsonWire, Reply, Unreachable
from knowlex.runtime import background

MAX_ANSWER_BYTES = 16 * 1024 * 1024  # 50 vectors of 4,096 dimensions as JSON stay below
MAX_TEXTS = 50  # in one request
QUERY_LIMIT_S = 10.0  # a question's embedding, retries included: someone waits for it
THREE_MORE = Retry(retries=3, base_s=1.0)  # after 1, 2 and 4 s
# Said of a text, whatever the status: the same text will not fare better.
_OF_A_TEXT = ("exceeds the context", "too large to process", "unsupported value")
_NEVER = ("does not support", "invalid model", "invalid option")  # said with 400, but of every text


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
        self._request = {"model": model_name, "keep_alive": ollama.keep_alive(keep_alive)}
        if dimensions:
            self._request["dimensions"] = dimensions
        self._wire = JsonWire(ollama.base_url(host), max_bytes=MAX_ANSWER_BYTES)
        background.before_end(self._wire.aclose)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return background.run(self._embed_passages(texts))

    async def aembed_query(self, text: str) -> Vector:
        return await self._embed_now(self._query_prefix + text)

    async def aembed_passage(self, text: str) -> Vector:
        return await self._embed_now(self._passage_prefix + text)

    async def warm_up(self, *, timeout_s: float) -> None:
        """Have the model loaded, which a request without a text does. Raises EmbedderError."""
        request = {name: value for name, value in self._request.items() if name != "dimensions"}
        await self._post({**request, "input": []}, timeout_s)

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        await self._wire.aclose()

    async def _embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        prefixed, vectors = [self._passage_prefix + text for text in texts], list[Vector]()
        for start in range(0, len(texts), MAX_TEXTS):
            vectors += await self._embed(prefixed[start : start + MAX_TEXTS])
        return vectors

    async def _embed_now(self, text: str) -> Vector:
        try:
            async with asyncio.timeout(QUERY_LIMIT_S):
                (vector,) = await self._embed([text])
                return vector
        except TimeoutError as exc:
            raise EmbedderUnavailable(TOO_SLOW) from exc

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        async def attempt() -> list[Vector]:
            body = await self._post({**self._request, "input": texts}, self._timeout_s)
            return self._read_vectors(body.get("embeddings"), len(texts))

        return await self._retry.acall(attempt, retry_on=(EmbedderUnavailable,))

    async def _post(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        try:
            reply = await self._wire.send("POST", "/api/embed", request, timeout_s=timeout_s)
        except TimeoutError as exc:
            raise EmbedderUnavailable(TOO_SLOW) from exc
        except Unreachable as exc:
            raise EmbedderUnavailable(BROKEN_OFF) from exc
        body = reply.body if isinstance(reply.body, dict) else {}
        if not reply.ok or body.get("error"):
            raise self._translate_failure(reply, _error_text(body))
        return body

    def _read_vectors(self, rows: Any, count: int) -> list[Vector]:
        if isinstance(rows, list):
            rows = [{"index": n, "embedding": row} for n, row in enumerate(rows)]
        try:
            vectors = check_vectors(rows, count, self.dimensions)
        except UnusableVectors as exc:
            raise EmbedderUnavailable(f"The embedding model's answer is unusable. {exc}") from exc
        self.dimensions = len(vectors[0])
        return vectors

    def _translate_failure(self, reply: Reply, error: str) -> EmbedderError:
        status, reason = reply.status, reason_of(error)
        # Of a missing model Ollama speaks in JSON; without it, the path is missing.
        if ollama.is_not_pulled(error) or (status == 404 and isinstance(reply.body, dict)):
            return EmbedderRejected(ollama.not_pulled(self.model_name))
        if status == 404:
            return EmbedderRejected("OLLAMA_HOST embeds nothing: /api/embed is not there.")
        if any(words in error for words in _NEVER):
            return EmbedderRejected(f"The embedding model {self.model_name} cannot embed{reason}")
        if status in TEXT_REFUSED or any(words in error for words in _OF_A_TEXT):
            return TextRejected(f"The embedding model refuses the text (HTTP {status}){reason}")
        if reply.ok or is_transient(status):
            return transient_failure(status, reply.retry_after, reason)
        return EmbedderRejected(f"The embedding model's server answers with HTTP {status}{reason}")


def _error_text(body: dict[str, Any]) -> str:
    """Ollama's errors are texts; a proxy's may be objects."""
    error = body.get("error")
    text = error.get("message") if isinstance(error, dict) else error
    return text if isinstance(text, str) else ""
