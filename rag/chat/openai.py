"""OpenAI's chat API, or any server that speaks it."""

from typing import Any

import openai

from knowlex.base.errors import SynthesisFailed
from knowlex.base.retry import Retry
from rag.chat.client import HttpChat, Request
from rag.chat.reading import EventSplitter, ReplyFormat, ReplyMessage, ServerEvent
from rag.chat.replies import (
    NO_ANSWER,
    TWO_MORE,
    RetryableFailure,
    content_text,
    error_failure,
    json_reply,
    status_failure,
    token_count,
)
from rag.chat.wire import Wire, json_body
from rag.types.answer import Usage

OPENAI_URL = "https://api.openai.com/v1"
CUT = "length"
REFUSED = "The chat model refuses to answer."


class OpenAIChat(HttpChat):
    """The SDK's headers on aiohttp; request and reply are written and read here.

    The SDK's own way takes 0.4 ms CPU more a question, and raises whatever a broken body provokes.
    timeout_s: of the whole, retries included. most_tokens: of a reply, as the model's window allows.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None,
        model_name: str,
        timeout_s: float = 10.0,
        temperature: float = 0.0,
        most_tokens: int | None = None,
        retry: Retry = TWO_MORE,
    ) -> None:
        if not api_key and base_url is None:
            raise ValueError("OPENAI_API_KEY is not set, and OPENAI_BASE_URL names no server of your own.")
        base = base_url or OPENAI_URL
        wire = Wire(f"{base.rstrip('/')}/chat/completions", _headers(api_key, base))
        dialect = OpenAIDialect(model_name, temperature, most_tokens)
        super().__init__(wire, dialect, model_name=model_name, timeout_s=timeout_s, retry=retry)


class OpenAIDialect:
    """How servers of OpenAI's API word requests and replies. What a server refuses of a request is not
    sent again: servers differ, and newer models know less.
    """

    def __init__(self, model_name: str, temperature: float, most_tokens: int | None = None) -> None:
        self.tongue = ReplyFormat(EventSplitter, _message, _whole, streams_objects=False)
        self._asked: dict[str, Any] = {"model": model_name, "temperature": temperature}
        self._limit_name, self._counted, self._most_tokens = "max_tokens", True, most_tokens

    def body(self, request: Request) -> bytes:
        body = {**self._asked, "messages": [message.as_dict() for message in request.messages]}
        if request.max_tokens is not None:
            body[self._limit_name] = min(request.max_tokens, self._most_tokens or request.max_tokens)
        if request.schema is not None:
            schema = {"name": "reply", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if request.streamed:
            body["stream"] = True
            if self._counted:
                body["stream_options"] = {"include_usage": True}
        return json_body(body)

    def learn(self, status: int, said: str) -> None:
        if status not in (400, 422):
            return
        if "max_completion_tokens" in said:
            self._limit_name = "max_completion_tokens"  # newer models know the limit by this name only
        elif "stream_options" in said:
            self._counted = False
        elif "temperature" in said and "support" in said:
            self._asked.pop("temperature", None)  # reasoning models know their own only

    def failure(self, status: int, retry_after: str, said: str) -> SynthesisFailed:
        return status_failure(status, retry_after, said)


def _headers(api_key: str, base_url: str) -> dict[str, str]:
    """Return the SDK's headers; it insists on a key, which a server of one's own may not ask for."""
    client = openai.AsyncOpenAI(api_key=api_key or "none", base_url=base_url)
    sent = {**client.default_headers, **client.auth_headers}
    return {name: value for name, value in sent.items() if isinstance(value, str)}


def _message(event: ServerEvent) -> ReplyMessage:
    """Read one event of a stream."""
    if event.data.strip() == b"[DONE]":
        return ReplyMessage(last=True)
    said = json_reply(event.data)
    if event.name == "error" or said.get("error"):
        raise error_failure(said.get("error") or said)
    usage = _usage(said)
    choice = _choice(said)
    if choice is None:
        return ReplyMessage(usage=usage)
    delta = choice.get("delta") or choice.get("message") or {}
    if not isinstance(delta, dict):
        raise RetryableFailure(NO_ANSWER)
    ended = choice.get("finish_reason")
    return ReplyMessage(_text(choice, delta) or "", usage, ended=bool(ended), cut=ended == CUT)


def _whole(reply: dict[str, Any]) -> ReplyMessage:
    if reply.get("error"):
        raise error_failure(reply["error"])
    choice = _choice(reply)
    message = choice.get("message") if choice else None
    if choice is None or not isinstance(message, dict):
        raise RetryableFailure(NO_ANSWER)
    text = _text(choice, message)
    if text is None and not ("content" in message and message["content"] is None):  # null: it says nothing
        raise RetryableFailure(NO_ANSWER)
    return ReplyMessage(text or "", _usage(reply), last=True, cut=choice.get("finish_reason") == CUT)


def _choice(reply: dict[str, Any]) -> dict[str, Any] | None:
    """Return the first choice; None if there is none, as beside the count of tokens."""
    choices = reply.get("choices")
    if not choices:
        return None
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise RetryableFailure(NO_ANSWER)
    return choices[0]


def _text(choice: dict[str, Any], message: dict[str, Any]) -> str | None:
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        raise SynthesisFailed(REFUSED)
    if choice.get("finish_reason") == "error":
        raise error_failure(choice.get("error") or "")
    return content_text(message.get("content"))


def _usage(reply: dict[str, Any]) -> Usage | None:
    counted = reply.get("usage")
    if not isinstance(counted, dict):
        return None
    return Usage(token_count(counted.get("prompt_tokens")), token_count(counted.get("completion_tokens")))
