"""Embeddings from OpenAI, or from any server that speaks its API."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx2
import openai

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
from knowlex.net.json_client import JsonWire, Reply, Unreachable
from knowlex.runtime import background

REFUSED = {
    401: "refuses the API key (OPENAI_API_KEY)",
    403: "does not allow this API key to use it",
    404: "is not known to the server (KNOWLEX_EMBEDDING_MODEL, OPENAI_BASE_URL)",
}
OPENAI_URL = "https://api.openai.com/v1"
NATIVE_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
FIXED_SIZE = frozenset({"text-embedding-ada-002"})  # refuses the parameter `dimensions`
MAX_ANSWER_BYTES = 16 * 1024 * 1024  # 20 vectors of 16,000 dimensions as JSON stay below
QUERY_LIMIT_S = 10.0  # a question's embedding, retries included: someone waits for it
THREE_MORE = Retry(retries=3, base_s=1.0)  # after 1, 2 and 4 s
CONNECTIONS = 1000


class OpenAIEmbedder:
    """Only the headers are the SDK's: its own way of a request takes 0.4 ms of CPU more a question."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None,
        model_name: str,
        dimensions: int | None = None,
        timeout_s: float = 30.0,
        retry: Retry = THREE_MORE,
    ) -> None:
        if not api_key and base_url is None:
            raise ValueError("OPENAI_API_KEY is not set, and OPENAI_BASE_URL names no server of your own.")
        self.model_name = model_name
        self.dimensions = dimensions or NATIVE_DIMENSIONS.get(model_name)
        self._request: dict[str, Any] = {"model": model_name, "encoding_format": "float"}
        if dimensions and model_name not in FIXED_SIZE:
            self._request["dimensions"] = dimensions
        self._api_key, self._timeout_s, self._retry = api_key, timeout_s, retry
        url = base_url or OPENAI_URL
        self._wire = JsonWire(
            url,
            headers=_sdk_headers(api_key, url),
            max_bytes=MAX_ANSWER_BYTES,
            connections=CONNECTIONS,
            ssl=httpx2.create_ssl_context() if url.startswith("https:") else True,
        )
        background.before_end(self._wire.aclose)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return background.run(self._embed(texts))

    async def aembed_query(self, text: str) -> Vector:
        try:
            async with asyncio.timeout(QUERY_LIMIT_S):
                (vector,) = await self._embed([text])
                return vector
        except TimeoutError as exc:
            raise EmbedderUnavailable(TOO_SLOW) from exc

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        await self._wire.aclose()

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        return await self._retry.acall(lambda: self._attempt(texts), retry_on=(EmbedderUnavailable,))

    async def _attempt(self, texts: Sequence[str]) -> list[Vector]:
        request = {**self._request, "input": list(texts)}
        try:
            reply = await self._wire.send("POST", "/embeddings", request, timeout_s=self._timeout_s)
        except TimeoutError as exc:
            raise EmbedderUnavailable(TOO_SLOW) from exc
        except Unreachable as exc:
            raise EmbedderUnavailable(BROKEN_OFF) from exc
        if not reply.ok:
            raise self._translate_failure(reply)
        items = reply.body.get("data") if isinstance(reply.body, dict) else None
        try:
            return check_vectors(items, len(texts), self.dimensions)
        except UnusableVectors as exc:
            raise EmbedderUnavailable(f"The embedding model's answer is unusable. {exc}") from exc

    def _translate_failure(self, reply: Reply) -> EmbedderError:
        """Return our error for it. The key stands in no message, even if the server sends it back."""
        status = reply.status
        if status in TEXT_REFUSED:
            error = reply.body.get("error", reply.body) if isinstance(reply.body, dict) else {}
            message = error.get("message") if isinstance(error, dict) else None
            reason = reason_of(message, secret=self._api_key)
            return TextRejected(f"The embedding model refuses the text (HTTP {status}){reason}")
        if is_transient(status):
            return transient_failure(status, reply.retry_after)
        return EmbedderRejected(f"The embedding model {REFUSED.get(status, f'answers with HTTP {status}')}.")


def _sdk_headers(api_key: str, base_url: str) -> dict[str, str]:
    """A server of one's own may ask for no key, but the SDK insists on one."""
    client = openai.AsyncOpenAI(api_key=api_key or "none", base_url=base_url)
    headers = {**client.default_headers, **client.auth_headers}
    return {name: value for name, value in headers.items() if isinstance(value, str)}
