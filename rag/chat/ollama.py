"""Ollama's own API, POST /api/chat."""

import json
from typing import Any

from knowlex.common.errors import SynthesisFailed
from knowlex.common.retry import Retry
from rag.chat.client import HttpChat, Request
from rag.chat.lines import Lines
from rag.chat.reading import Told, Tongue
from rag.chat.replies import (
    NO_ANSWER,
    TWO_MORE,
    Again,
    content_text,
    error_failure,
    json_reply,
    status_failure,
    token_count,
)
from rag.chat.wire import Wire
from rag.types import Usage

DEFAULT_MAX_TOKENS = 1024
# Beside the passages: the instructions, the question, and room, for models count otherwise than the embedder.
PROMPT_TOKENS = 2000


class OllamaChat(HttpChat):
    """context_tokens: of passages in a prompt. window: the model's, None: what prompt and reply take.

    timeout_s: of the whole, retries included.
    """

    def __init__(
        self,
        *,
        host: str,
        model_name: str,
        timeout_s: float = 10.0,
        temperature: float = 0.0,
        context_tokens: int = 4000,
        window: int | None = None,
        retry: Retry = TWO_MORE,
    ) -> None:
        base = host if "://" in host else f"http://{host}"  # OLLAMA_HOST is often written as host:port
        wire = Wire(f"{base.rstrip('/')}/api/chat")
        dialect = OllamaDialect(model_name, temperature, context_tokens, window)
        super().__init__(wire, dialect, model_name=model_name, timeout_s=timeout_s, retry=retry)


class OllamaDialect:
    """num_ctx is always sent: Ollama's default cuts the beginning of a long prompt off without a word."""

    def __init__(self, model_name: str, temperature: float, context_tokens: int, window: int | None) -> None:
        self.tongue = Tongue(Lines, _message, _whole, streams_objects=True)
        self._model_name, self._temperature = model_name, temperature
        self._context_tokens, self._window = context_tokens, window

    def body(self, request: Request) -> bytes:
        max_tokens = request.max_tokens or DEFAULT_MAX_TOKENS
        # Not less for a short reply: Ollama loads the model anew whenever the window changes.
        window = self._context_tokens + PROMPT_TOKENS + max(max_tokens, DEFAULT_MAX_TOKENS)
        body: dict[str, Any] = {
            "model": self._model_name,
            "messages": [message.as_dict() for message in request.messages],
            "stream": request.streamed,
            "options": {
                "temperature": self._temperature,
                "num_predict": max_tokens,
                "num_ctx": self._window or window,
            },
        }
        if request.schema is not None:
            body["format"] = request.schema
        return json.dumps(body).encode()

    def learn(self, status: int, said: str) -> None:
        """Ollama passes over what it does not know."""

    def failure(self, status: int, retry_after: str, said: str) -> SynthesisFailed:
        if status == 404:
            return SynthesisFailed(f"Ollama does not have the model {self._model_name!r}; pull it first.")
        return status_failure(status, retry_after, said)


def _message(line: bytes) -> Told:
    """One line of a stream."""
    return _told(json_reply(line)) if line.strip() else Told()


def _whole(reply: dict[str, Any]) -> Told:
    told = _told(reply)
    return told._replace(last=True)


def _told(reply: dict[str, Any]) -> Told:
    if reply.get("error"):
        raise error_failure(reply["error"])
    message = reply.get("message")
    content = content_text(message.get("content")) if isinstance(message, dict) else None
    done = reply.get("done") is True
    if content is None and not done:
        raise Again(NO_ANSWER)
    used = Usage(token_count(reply.get("prompt_eval_count")), token_count(reply.get("eval_count")))
    return Told(content or "", used if done else None, ended=done, last=done)
