"""Ollama's own API, POST /api/chat."""

from collections.abc import Sequence
from typing import Any

import aiohttp

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

DEFAULT_MAX_TOKENS = 1024
PROMPT_TOKENS = (
    6000  # a context of 4000 by the embedder's count, the instructions, and room: models count otherwise
)


class OllamaChat:
    """num_ctx is always sent: Ollama's default cuts the beginning of a long prompt off without a word.

    timeout_s: of the whole, retries included.
    """

    def __init__(
        self, *, host: str, model_name: str, timeout_s: float = 10.0, retry: Retry = TWO_MORE
    ) -> None:
        base = host if "://" in host else f"http://{host}"  # OLLAMA_HOST is often written as host:port
        self._url = f"{base.rstrip('/')}/api/chat"
        self._model_name, self._timeout_s, self._retry = model_name, timeout_s, retry
        self._sessions: PerLoop[aiohttp.ClientSession] = PerLoop(self._new_session)

    async def complete(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> Synthesis:
        request = self._request(messages, max_tokens or DEFAULT_MAX_TOKENS)
        return await within(self._timeout_s, self._retry, lambda: self._attempt(request))

    async def aclose(self) -> None:
        session = self._sessions.take()
        if session is not None:
            await session.close()

    def _request(self, messages: Sequence[Message], max_tokens: int) -> dict[str, Any]:
        return {
            "model": self._model_name,
            "messages": [message.as_dict() for message in messages],
            "stream": False,
            "options": {
                "temperature": TEMPERATURE,
                "num_predict": max_tokens,
                # Not less for a short reply: Ollama loads the model anew whenever the window changes.
                "num_ctx": PROMPT_TOKENS + max(max_tokens, DEFAULT_MAX_TOKENS),
            },
        }

    async def _attempt(self, request: dict[str, Any]) -> Synthesis:
        try:
            return self._read(await self._send(request))
        except (aiohttp.ClientError, OSError) as exc:
            raise Again("Ollama could not be reached, or broke off its reply.") from exc

    async def _send(self, request: dict[str, Any]) -> dict[str, Any]:
        async with self._sessions.get().post(self._url, json=request, allow_redirects=False) as response:
            if response.status == 404:
                raise SynthesisFailed(f"Ollama does not have the model {self._model_name!r}; pull it first.")
            if response.status != 200:
                raise status_failure(response.status, response.headers.get("Retry-After", ""))
            return json_reply(await _bounded(response))

    def _read(self, reply: dict[str, Any]) -> Synthesis:
        if reply.get("error"):
            raise Again("Ollama failed while it answered.")
        message = reply.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        used = Usage(
            token_count(reply.get("prompt_eval_count")),
            token_count(reply.get("eval_count")),
            self._model_name,
        )
        return Synthesis(answer_text(content), used)

    def _new_session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=1000),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=5.0),  # the whole is bounded above
            auto_decompress=False,
            headers={"Accept-Encoding": "identity"},  # what is counted is what is held
        )


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    """The body. Raises Again when it is too large to be an answer."""
    blocks = bytearray()
    async for block in response.content.iter_any():
        blocks += block
        if len(blocks) > MAX_REPLY_BYTES:
            raise Again("Ollama's reply is too large.")
    return bytes(blocks)
