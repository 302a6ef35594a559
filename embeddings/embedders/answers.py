"""OpenAI's call without a usable answer -> our error, which says whether another try can help."""

import httpx2
import openai

from embeddings.embedders.failing import (
    BROKEN_OFF,
    TEXT_REFUSED,
    TOO_SLOW,
    is_transient,
    reason_of,
    transient,
)
from knowlex.common.errors import EmbedderError, EmbedderRejected, EmbedderUnavailable, TextRejected

REFUSED = {
    401: "refuses the API key (OPENAI_API_KEY)",
    403: "does not allow this API key to use it",
    404: "is not known to the server (KNOWLEX_EMBEDDING_MODEL, OPENAI_BASE_URL)",
}


def failure(exc: Exception, *, secret: str) -> EmbedderError:
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
        return transient(status, exc.response.headers.get("retry-after", ""))
    return EmbedderRejected(f"The embedding model {REFUSED.get(status, f'answers with HTTP {status}')}.")


def refusal(response: httpx2.Response) -> openai.APIStatusError:
    """An answer with an error status as the exception that the SDK would raise."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        body = None
    error = body.get("error", body) if isinstance(body, dict) else body
    return openai.APIStatusError("", response=response, body=error)
