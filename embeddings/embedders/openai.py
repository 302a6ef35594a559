"""Embeddings from OpenAI, or from any server that speaks its API."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import aiohttp
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
from knowlex.base.event_loops import PerLoop
from knowlex.base.retry import Retry
from knowlex.net.bounded import HEADERS, async_hooks, route, sync_client

REFUSED = {
    401: "refuses the API key (OPENAI_API_KEY)",
    403: "does not allow this API key to use it",
    404: "is not known to the server (KNOWLEX_EMBEDDING_MODEL, OPENAI_BASE_URL)",
}


def translate_error(exc: Exception, *, secret: str) -> EmbedderError:
    """`secret` stands in no message, even if the server sends it back."""
    if not isinstance(exc, openai.APIStatusError):
        timed_out = isinstance(exc, openai.APITimeoutError | httpx2.TimeoutException)
        return EmbedderUnavailable(TOO_SLOW if timed_out else BROKEN_OFF)
    status = exc.status_code
    if status in TEXT_REFUSED:
        error = exc.body if isinstance(exc.body, dict) else {}
        reason = reason_of(error.get("message"), secret=secret)
        return TextRejected(f"The embedding model refuses the text (HTTP {status}){reason}")
    if is_transient(status):
        return transient_failure(status, exc.response.headers.get("retry-after", ""))
    return EmbedderRejected(f"The embedding model {REFUSED.get(status, f'answers with HTTP {status}')}.")


def translate_refusal(response: httpx2.Response) -> openai.APIStatusError:
    """An answer with an error status as the exception that the SDK would raise."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        body = None
    error = body.get("error", body) if isinstance(body, dict) else body
    return openai.APIStatusError("", response=response, body=error)


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
CONNECTIONS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
NO_ANSWER = (
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.StreamError,
    aiohttp.ClientError,
    OSError,
    ValueError,
)


class OpenAIEmbedder:
    """The SDK's retries are off (nested loops multiply), and bodies are read here (it lets too much pass)."""

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
        self.model_name = model_name
        self.dimensions = dimensions or NATIVE_DIMENSIONS.get(model_name)
        self._asked_dimensions = dimensions if model_name not in FIXED_SIZE else None
        # A server of one's own may ask for no key; the SDK insists on one.
        self._client_options: dict[str, Any] = {
            "api_key": api_key or "none",
            "base_url": base_url or OPENAI_URL,
            "max_retries": 0,
        }
        self._api_key, self._timeout_s, self._retry = api_key, timeout_s, retry
        self._sync: openai.OpenAI | None = None
        self._url = f"{(base_url or OPENAI_URL).rstrip('/')}/embeddings"
        self._connections = PerLoop(self._new_connections)
        if not api_key and base_url is None:
            raise ValueError("OPENAI_API_KEY is not set, and OPENAI_BASE_URL names no server of your own.")

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        def attempt() -> list[Vector]:
            try:
                raw = self._client().embeddings.with_raw_response.create(**self._request(texts))
            except NO_ANSWER as exc:
                raise translate_error(exc, secret=self._api_key) from exc
            return self._read(raw.content, len(texts))

        return self._retry.call(attempt, retry_on=(EmbedderUnavailable,))

    async def aembed_query(self, text: str) -> Vector:
        body = json.dumps(self._request([text])).encode()

        async def attempt() -> Vector:
            try:
                # Not embeddings.create: the SDK's own way takes 0.4 ms CPU more a question.
                response = await self._connections.get().post(self._url, content=body)
            except NO_ANSWER as exc:
                raise translate_error(exc, secret=self._api_key) from exc
            if not response.is_success:
                raise translate_error(translate_refusal(response), secret=self._api_key)
            (vector,) = self._read(response.content, 1)
            return vector

        try:
            async with asyncio.timeout(QUERY_LIMIT_S):
                return await self._retry.acall(attempt, retry_on=(EmbedderUnavailable,))
        except TimeoutError as exc:
            raise EmbedderUnavailable("The embedding model did not answer in time.") from exc

    def _request(self, texts: Sequence[str]) -> dict[str, Any]:
        size = {"dimensions": self._asked_dimensions} if self._asked_dimensions else {}
        return {"model": self.model_name, "input": list(texts), "encoding_format": "float", **size}

    def _read(self, content: bytes, count: int) -> list[Vector]:
        try:
            reply = json.loads(content)
            return check_vectors(
                reply.get("data") if isinstance(reply, dict) else None, count, self.dimensions
            )
        except UnusableVectors as exc:
            raise EmbedderUnavailable(f"The embedding model's answer is unusable. {exc}") from exc
        except (ValueError, RecursionError) as exc:
            raise EmbedderUnavailable("The embedding model's answer is not JSON.") from exc

    def _client(self) -> openai.OpenAI:
        if self._sync is None:  # made after a worker has forked
            http_client = sync_client(self._url, max_bytes=MAX_ANSWER_BYTES, timeout_s=self._timeout_s)
            self._sync = openai.OpenAI(**self._client_options, http_client=http_client)
        return self._sync

    def _new_connections(self) -> httpx2.AsyncClient:
        """One set for each event loop, with the SDK's headers."""
        connections = openai.DefaultAioHttpClient(
            timeout=self._timeout_s,
            limits=CONNECTIONS,
            follow_redirects=False,
            **route(self._url),
            event_hooks=async_hooks(max_bytes=MAX_ANSWER_BYTES, timeout_s=self._timeout_s),
        )
        client = openai.AsyncOpenAI(**self._client_options, http_client=connections)
        sent = {**client.default_headers, **client.auth_headers, **HEADERS}
        connections.headers.update({name: value for name, value in sent.items() if isinstance(value, str)})
        return connections

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        connections = self._connections.take()
        if connections is not None:
            await connections.aclose()
