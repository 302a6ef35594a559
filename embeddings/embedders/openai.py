"""Embeddings from OpenAI, or from any server that speaks its API."""

from collections.abc import Sequence
from typing import Any

import httpx2
import openai

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
from knowlex.base import spending
from knowlex.base.errors import EmbedderError, EmbedderRejected, TextRejected
from knowlex.base.retry import Retry
from knowlex.net.json_client import JsonWire, Reply

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
CONNECTIONS = 1000


class OpenAIEmbedder(ServedEmbedder):
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
        url = base_url or OPENAI_URL
        wire = JsonWire(
            url,
            headers=_sdk_headers(api_key, url),
            max_bytes=MAX_ANSWER_BYTES,
            connections=CONNECTIONS,
            ssl=httpx2.create_ssl_context() if url.startswith("https:") else True,
        )
        size = dimensions or NATIVE_DIMENSIONS.get(model_name)
        super().__init__(wire, model_name=model_name, dimensions=size, timeout_s=timeout_s, retry=retry)
        self._api_key = api_key
        self._request: dict[str, Any] = {"model": model_name, "encoding_format": "float"}
        if dimensions and model_name not in FIXED_SIZE:
            self._request["dimensions"] = dimensions

    async def _attempt(self, texts: Sequence[str]) -> list[Vector]:
        request = {**self._request, "input": list(texts)}
        reply = await self._post("/embeddings", request, self._timeout_s)
        if not reply.ok:
            raise self._translate_failure(reply)
        body = reply.body if isinstance(reply.body, dict) else {}
        usage, items = body.get("usage"), body.get("data")
        told = usage.get("total_tokens") if isinstance(usage, dict) else None
        await spending.add(told, text_bytes=sum(len(text.encode("utf-8", "replace")) for text in texts))
        return self._check_vectors(items, len(texts))

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
