"""What chat models send back, made safe: bounded, storable text, or one of our errors. Plain Python."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from knowlex.common.errors import SynthesisFailed, SynthesisTimeout
from knowlex.common.retry import Retry, retry_after_seconds
from rag.types import Synthesis

MAX_REPLY_BYTES = 4 * 1024 * 1024
MAX_ANSWER_CHARS = 32_000  # 4096 tokens, the most that can be asked for, are about half of that
TEMPERATURE = 0.0
TWO_MORE = Retry(retries=2, base_s=1.0)  # after 1 and 2 s
TRANSIENT_STATUS = frozenset({408, 425, 429})
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_WORDS = {
    401: "refuses the API key",
    403: "does not allow this API key to use it",
    404: "is not known to its server",
    429: "asks to slow down",
}


class Again(SynthesisFailed):
    """This try failed, another may not. retry_after_s: what the server asked for, None if nothing."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


async def within(timeout_s: float, retry: Retry, attempt: Callable[[], Awaitable[Synthesis]]) -> Synthesis:
    """All tries and the waits between them inside the timeout. Raises SynthesisFailed, SynthesisTimeout."""
    try:
        async with asyncio.timeout(timeout_s):
            return await replace(retry, deadline_s=timeout_s).acall(attempt, retry_on=(Again,))
    except TimeoutError as exc:
        raise SynthesisTimeout("The chat model did not answer in time.") from exc
    except Again as exc:
        raise SynthesisFailed(exc.message) from exc


def status_failure(status: int, retry_after: str = "") -> SynthesisFailed:
    """What an HTTP status other than 200 means. The server's own words are left out: they may hold keys."""
    message = f"The chat model {_WORDS.get(status, 'answers with an error')} (HTTP {status})."
    if status in TRANSIENT_STATUS or status >= 500:
        return Again(message, retry_after_seconds(retry_after))
    return SynthesisFailed(message)


def json_reply(raw: bytes) -> dict[str, Any]:
    """The body as a JSON object. Raises Again: a cut or garbled reply may be whole the next time."""
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError) as exc:
        raise Again("The chat model's reply is not JSON.") from exc
    if not isinstance(reply, dict):
        raise Again("The chat model's reply is not an object.")
    return reply


def answer_text(content: object) -> str:
    """A reply's content without reasoning, storable, of bounded length. Raises Again if nothing is left."""
    if not isinstance(content, str):
        raise Again("The chat model's reply holds no text.")
    text = _UNSTORABLE.sub("", _without_reasoning(content)).strip()
    if not text:
        raise Again("The chat model's reply is empty.")
    return text if len(text) <= MAX_ANSWER_CHARS else text[:MAX_ANSWER_CHARS].rsplit(None, 1)[0]


def token_count(value: object) -> int:
    """A provider's count of tokens; 0 where it is missing or nonsense."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else 0


def _without_reasoning(content: str) -> str:
    """Without `<think>…</think>`, what stands before a lone closing tag, or after an opening one."""
    return content.rpartition("</think>")[2].partition("<think>")[0]
