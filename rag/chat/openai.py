"""OpenAI's chat API, or any server that speaks it."""

import json
from collections.abc import Sequence
from typing import Any

import aiohttp
import httpx2
import openai

from knowlex.common.bounded_http import HEADERS, async_hooks
from knowlex.common.errors import SynthesisFailed
from knowlex.common.per_loop import PerLoop
from knowlex.common.retry import Retry
from rag.chat.protocol import Message
from rag.chat.replies import (
    MAX_REPLY_BYTES,
    TEMPERATURE,
    TWO_MORE,
    Again,
    answer_text,
    json_reply,
    status_failure,
    token_count,
    within,
)
from rag.types import Synthesis, Usage

OPENAI_URL = "https://api.openai.com/v1"
NO_REPLY = (httpx2.HTTPError, httpx2.StreamError, aiohttp.ClientError, OSError, ValueError)
CONNECTIONS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)


class OpenAIChat:
    """The SDK's headers and connections, on aiohttp; request and reply are written and read here.

    The SDK's own way takes 0.4 ms CPU more a question, and raises whatever a broken body provokes.
    timeout_s: of the whole, retries included.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None,
        model_name: str,
        timeout_s: float = 10.0,
        retry: Retry = TWO_MORE,
    ) -> None:
        if not api_key and base_url is None:
            raise ValueError("OPENAI_API_KEY is not set, and OPENAI_BASE_URL names no server of your own.")
        self._api_key, self._base_url, self._model_name = api_key, base_url or OPENAI_URL, model_name
        self._url = f"{self._base_url.rstrip('/')}/chat/completions"
        self._timeout_s, self._retry = timeout_s, retry
        self._limit_name = "max_tokens"
        self._connections: PerLoop[httpx2.AsyncClient] = PerLoop(self._new_connections)

    async def complete(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> Synthesis:
        said = [message.as_dict() for message in messages]
        return await within(self._timeout_s, self._retry, lambda: self._attempt(said, max_tokens))

    async def aclose(self) -> None:
        connections = self._connections.take()
        if connections is not None:
            await connections.aclose()

    async def _attempt(self, messages: list[dict[str, str]], max_tokens: int | None) -> Synthesis:
        try:
            response = await self._send(messages, max_tokens)
        except NO_REPLY as exc:
            raise Again("The chat model could not be reached, or broke off its reply.") from exc
        if response.is_success:
            return self._read(response.content)
        if response.status_code == 400 and max_tokens is not None and self._may_rename_limit(response):
            self._limit_name = "max_completion_tokens"  # newer models know the limit by this name only
            return await self._attempt(messages, max_tokens)
        raise status_failure(response.status_code, response.headers.get("retry-after", ""))

    def _may_rename_limit(self, response: httpx2.Response) -> bool:
        return self._limit_name == "max_tokens" and "max_completion_tokens" in response.text[:4000]

    async def _send(self, messages: list[dict[str, str]], max_tokens: int | None) -> httpx2.Response:
        limit = {} if max_tokens is None else {self._limit_name: max_tokens}
        request: dict[str, Any] = {
            "model": self._model_name,
            "messages": messages,
            "temperature": TEMPERATURE,
            **limit,
        }
        return await self._connections.get().post(self._url, content=json.dumps(request).encode())

    def _read(self, body: bytes) -> Synthesis:
        reply = json_reply(body)
        try:
            choice = reply["choices"][0]
            message = choice["message"]
            content, refusal = message.get("content"), message.get("refusal")
        except (KeyError, IndexError, TypeError, AttributeError) as exc:
            raise Again("The chat model's reply holds no answer.") from exc
        if refusal or choice.get("finish_reason") == "content_filter":
            raise SynthesisFailed("The chat model refuses to answer.")
        counted = reply.get("usage")
        usage = counted if isinstance(counted, dict) else {}
        return Synthesis(
            answer_text(content),
            Usage(
                token_count(usage.get("prompt_tokens")),
                token_count(usage.get("completion_tokens")),
                self._model_name,
            ),
        )

    def _new_connections(self) -> httpx2.AsyncClient:
        connections = openai.DefaultAioHttpClient(
            timeout=httpx2.Timeout(None, connect=5.0),  # the whole is bounded above
            limits=CONNECTIONS,
            follow_redirects=False,
            event_hooks=async_hooks(max_bytes=MAX_REPLY_BYTES, timeout_s=self._timeout_s),
        )
        client = openai.AsyncOpenAI(
            api_key=self._api_key or "none",  # a server of one's own may ask for no key; the SDK insists
            base_url=self._base_url,
            http_client=connections,
        )
        sent = {**client.default_headers, **client.auth_headers, **HEADERS}
        connections.headers.update({name: value for name, value in sent.items() if isinstance(value, str)})
        return connections
