"""A call without a usable answer -> our error, which says whether another try can help."""

import httpx2
import openai

from knowlex.common.errors import EmbedderError, EmbedderRejected, EmbedderUnavailable, TextRejected
from knowlex.common.retry import retry_after_seconds

MAX_REASON_CHARS = 300
TEXT_REFUSED = frozenset({400, 413, 422})
TRANSIENT = frozenset({408, 409, 425, 429})
REFUSED = {
    401: "refuses the API key (OPENAI_API_KEY)",
    403: "does not allow this API key to use it",
    404: "is not known to the server (KNOWLEX_EMBEDDING_MODEL, OPENAI_BASE_URL)",
}


class _AskedToWait(EmbedderUnavailable):
    """Transient, and the server said for how long."""

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


def failure(exc: Exception, *, secret: str) -> EmbedderError:
    """`secret` stands in no message, even if the server sends it back."""
    if not isinstance(exc, openai.APIStatusError):
        timed_out = isinstance(exc, openai.APITimeoutError | httpx2.TimeoutException)
        happened = "did not answer in time" if timed_out else "could not be reached, or broke off its answer"
        return EmbedderUnavailable(f"The embedding model {happened}.")
    status = exc.status_code
    if status in TEXT_REFUSED:
        reason = _server_says(exc, secret)
        return TextRejected(f"The embedding model refuses the text (HTTP {status}){reason}")
    if status in TRANSIENT or status >= 500:
        return _transient(status, exc.response.headers.get("retry-after", ""))
    return EmbedderRejected(f"The embedding model {REFUSED.get(status, f'answers with HTTP {status}')}.")


def refusal(response: httpx2.Response) -> openai.APIStatusError:
    """An answer with an error status as the exception that the SDK would raise."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        body = None
    error = body.get("error", body) if isinstance(body, dict) else body
    return openai.APIStatusError("", response=response, body=error)


def _transient(status: int, retry_after: str) -> EmbedderUnavailable:
    happened = "asks to slow down" if status == 429 else "fails"
    message = f"The embedding model {happened} (HTTP {status})."
    wait_s = retry_after_seconds(retry_after)
    return EmbedderUnavailable(message) if wait_s is None else _AskedToWait(message, wait_s)


def _server_says(exc: openai.APIStatusError, secret: str) -> str:
    error = exc.body if isinstance(exc.body, dict) else {}
    message = error.get("message")
    if not isinstance(message, str) or not message.strip():
        return "."
    if secret:
        message = message.replace(secret, "***")
    printable = "".join(char if char.isprintable() else " " for char in message)
    return f": {' '.join(printable.split())[:MAX_REASON_CHARS]}"
