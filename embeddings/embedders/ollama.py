"""Embeddings from Ollama's own API. Works without Django."""

from collections.abc import Sequence
from typing import Any

from embeddings.embedders.served import (
    MAX_ANSWER_BYTES,
    TEXT_REFUSED,
    THREE_MORE,
    ServedEmbedder,
    is_transient,
    reason_of,
    transient_failure,
)
from embeddings.types import Vector
from knowlex.base.errors import EmbedderError, EmbedderRejected, TextRejected
from knowlex.base.retry import Retry
from knowlex.net import ollama
from knowlex.net.json_client import JsonWire, Reply
from knowlex.runtime import background

MAX_TEXTS = 50  # in one request
# Said of a text, whatever the status: the same text will not fare better.
_OF_A_TEXT = ("exceeds the context", "too large to process", "unsupported value")
_NEVER = ("does not support", "invalid model", "invalid option")  # said with 400, but of every text


class OllamaEmbedder(ServedEmbedder):
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
        wire = JsonWire(ollama.base_url(host), max_bytes=MAX_ANSWER_BYTES)
        super().__init__(wire, model_name=model_name, dimensions=dimensions, timeout_s=timeout_s, retry=retry)
        self._query_prefix, self._passage_prefix = query_prefix or "", passage_prefix or ""
        self._request: dict[str, Any] = {"model": model_name, "keep_alive": ollama.keep_alive(keep_alive)}
        self._size = {"dimensions": dimensions} if dimensions else {}

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        prefixed, vectors = [self._passage_prefix + text for text in texts], list[Vector]()
        for start in range(0, len(texts), MAX_TEXTS):
            vectors += background.run(self._embed(prefixed[start : start + MAX_TEXTS]))
        return vectors

    async def aembed_query(self, text: str) -> Vector:
        return await self._embed_now(self._query_prefix + text)

    async def aembed_passage(self, text: str) -> Vector:
        return await self._embed_now(self._passage_prefix + text)

    async def warm_up(self, *, timeout_s: float) -> None:
        """Have the model loaded, which a request without a text does. Raises EmbedderError."""
        await self._ask({**self._request, "input": []}, timeout_s)

    async def _attempt(self, texts: Sequence[str]) -> list[Vector]:
        body = await self._ask({**self._request, **self._size, "input": texts}, self._timeout_s)
        rows = body.get("embeddings")
        if isinstance(rows, list):
            rows = [{"index": n, "embedding": row} for n, row in enumerate(rows)]
        vectors = self._check_vectors(rows, len(texts))
        self.dimensions = len(vectors[0])
        return vectors

    async def _ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        reply = await self._post("/api/embed", request, timeout_s)
        body = reply.body if isinstance(reply.body, dict) else {}
        if not reply.ok or body.get("error"):
            raise self._translate_failure(reply, _error_text(body))
        return body

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
