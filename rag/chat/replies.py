"""What chat models send back, made safe: bounded, storable text, or one of our errors. Plain Python."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from knowlex.base.errors import SynthesisFailed, SynthesisTimeout, SynthesisUnavailable
from knowlex.base.retry import Retry, retry_after_seconds

T = TypeVar("T")
EMPTY = "The chat model's reply is empty."
NO_ANSWER = "The chat model's reply holds no answer."
TWO_MORE = Retry(retries=2, base_s=1.0)  # after 1 and 2 s
TRANSIENT_STATUS = frozenset({408, 425, 429})
_TOO_LONG = (
    *("maximum context length", "context_length_exceeded", "available context size", "exceed_context_size"),
    *("context window", "exceeds the context", "context length", "prompt is too long", "n_ctx"),
)
_WORDS = {
    401: "refuses the API key",
    403: "does not allow this API key to use it",
    404: "is not known to its server",
    429: "asks to slow down",
}


class RetryableFailure(SynthesisUnavailable):
    """This try failed, another may not. retry_after_s: what the server asked for, None if nothing."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class SchemaRefused(SynthesisFailed):
    """The server cannot hold a reply to a JSON schema."""


class PromptTooLong(SynthesisFailed):
    """The server says that the prompt and the reply do not fit the model's window."""

    def __init__(self) -> None:
        super().__init__(
            "The prompt does not fit the chat model's context window;"
            " set KNOWLEX_CHAT_CONTEXT_TOKENS to the window's size in tokens."
        )


async def within(timeout_s: float, retry: Retry, attempt: Callable[[], Awaitable[T]]) -> T:
    """Run all tries and the waits between them inside the timeout. Raises SynthesisFailed,
    SynthesisTimeout.
    """
    if timeout_s <= 0:
        raise too_slow()
    try:
        async with asyncio.timeout(timeout_s):
            return await replace(retry, deadline_s=timeout_s).acall(attempt, retry_on=(RetryableFailure,))
    except TimeoutError as exc:
        raise too_slow() from exc
    except RetryableFailure as exc:
        raise SynthesisFailed(exc.message) from exc


def too_slow() -> SynthesisTimeout:
    return SynthesisTimeout("The chat model did not answer in time.")


def status_failure(status: int, retry_after: str = "", said: str = "") -> SynthesisFailed:
    """Return the error that an HTTP status means, without the server's words: they may hold keys."""
    if status in (400, 413, 422, 500) and says_prompt_too_long(said):
        return PromptTooLong()
    message = f"The chat model {_WORDS.get(status, 'answers with an error')} (HTTP {status})."
    if status in TRANSIENT_STATUS or status >= 500:
        return RetryableFailure(message, retry_after_seconds(retry_after))
    return SynthesisFailed(message)


def error_failure(error: object) -> SynthesisFailed:
    """Return the error that an error inside a reply means, in whatever form the server puts it."""
    said = error if isinstance(error, str) else json.dumps(error)
    return (
        PromptTooLong()
        if says_prompt_too_long(said)
        else RetryableFailure("The chat model failed while it answered.")
    )


def says_prompt_too_long(said: str) -> bool:
    said = said.lower()
    return any(words in said for words in _TOO_LONG)


def json_reply(raw: bytes) -> dict[str, Any]:
    """Parse a JSON object. Raises RetryableFailure: a cut or garbled reply may be whole next time."""
    try:
        reply = json.loads(raw.decode("utf-8-sig"))  # half the work of letting it guess
    except (ValueError, RecursionError) as exc:
        raise RetryableFailure("The chat model's reply is not JSON.") from exc
    if not isinstance(reply, dict):
        raise RetryableFailure("The chat model's reply is not an object.")
    return reply


def content_text(content: object) -> str | None:
    """Return a message's content: a text, or its parts of type text. None if it is neither."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = (part for part in content if isinstance(part, dict) and part.get("type") == "text")
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def token_count(value: object) -> int:
    """Return a provider's count of tokens; 0 where it is missing or nonsense."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else 0
