"""A server's failure as one of our errors, whichever API it speaks. Plain Python."""

from knowlex.base.errors import EmbedderUnavailable
from knowlex.base.retry import retry_after_seconds

MAX_REASON_CHARS = 300
TEXT_REFUSED = frozenset({400, 413, 422})
TRANSIENT = frozenset({408, 409, 425, 429})
TOO_SLOW = "The embedding model did not answer in time."
BROKEN_OFF = "The embedding model could not be reached, or broke off its answer."


class EmbedderAsksToWait(EmbedderUnavailable):
    """A transient failure for which the server said how long to wait."""

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


def is_transient(status: int) -> bool:
    return status in TRANSIENT or status >= 500


def transient_failure(status: int, retry_after: str, reason: str = ".") -> EmbedderUnavailable:
    """reason: of `reason_of`."""
    happened = "asks to slow down" if status == 429 else "fails"
    message = f"The embedding model {happened} (HTTP {status}){reason}"
    wait_s = retry_after_seconds(retry_after)
    return EmbedderUnavailable(message) if wait_s is None else EmbedderAsksToWait(message, wait_s)


def reason_of(said: object, *, secret: str = "") -> str:
    """Return what a server says as the end of a sentence: `: …`, printable and bounded, or `.` for
    nothing.
    """
    if not isinstance(said, str) or not said.strip():
        return "."
    if secret:
        said = said.replace(secret, "***")
    printable = "".join(char if char.isprintable() else " " for char in said)
    return f": {' '.join(printable.split())[:MAX_REASON_CHARS]}"
