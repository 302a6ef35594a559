"""What embedders that ask a server share: tries, checked replies, and failures as our errors. No Django."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from embeddings.types import Vector
from embeddings.vectors.checks import UnusableVectors, check_vectors
from knowlex.base.errors import EmbedderUnavailable
from knowlex.base.retry import Retry, retry_after_seconds
from knowlex.net.json_client import JsonWire, Reply, Unreachable
from knowlex.runtime import background

MAX_ANSWER_BYTES = 16 * 1024 * 1024  # 50 vectors of 4,096 dimensions as JSON stay below, 20 of 16,000, too
QUERY_LIMIT_S = 10.0  # a question's embedding, retries included: someone waits for it
THREE_MORE = Retry(retries=3, base_s=1.0)  # after 1, 2 and 4 s
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


class ServedEmbedder(ABC):
    """An Embedder but for its requests. timeout_s: of one try."""

    def __init__(
        self, wire: JsonWire, *, model_name: str, dimensions: int | None, timeout_s: float, retry: Retry
    ) -> None:
        self.model_name, self.dimensions = model_name, dimensions
        self._wire, self._timeout_s, self._retry = wire, timeout_s, retry
        background.before_end(wire.aclose)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return background.run(self._embed(texts))

    async def aembed_query(self, text: str) -> Vector:
        return await self._embed_now(text)

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        await self._wire.aclose()

    @abstractmethod
    async def _attempt(self, texts: Sequence[str]) -> list[Vector]:
        """Ask once. Raises EmbedderError; only EmbedderUnavailable is followed by another try."""

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        return await self._retry.acall(lambda: self._attempt(texts), retry_on=(EmbedderUnavailable,))

    async def _embed_now(self, text: str) -> Vector:
        try:
            async with asyncio.timeout(QUERY_LIMIT_S):
                (vector,) = await self._embed([text])
                return vector
        except TimeoutError as exc:
            raise EmbedderUnavailable(TOO_SLOW) from exc

    async def _post(self, path: str, request: dict[str, Any], timeout_s: float) -> Reply:
        """Return a reply of any status."""
        try:
            return await self._wire.send("POST", path, request, timeout_s=timeout_s)
        except TimeoutError as exc:
            raise EmbedderUnavailable(TOO_SLOW) from exc
        except Unreachable as exc:
            raise EmbedderUnavailable(BROKEN_OFF) from exc

    def _check_vectors(self, items: Any, count: int) -> list[Vector]:
        try:
            return check_vectors(items, count, self.dimensions)
        except UnusableVectors as exc:
            raise EmbedderUnavailable(f"The embedding model's answer is unusable. {exc}") from exc


def is_transient(status: int) -> bool:
    return status in TRANSIENT or status >= 500


def transient_failure(status: int, retry_after: str, reason: str = ".") -> EmbedderUnavailable:
    """reason: of `reason_of`."""
    happened = "asks to slow down" if status == 429 else "fails"
    message = f"The embedding model {happened} (HTTP {status}){reason}"
    wait_s = retry_after_seconds(retry_after)
    return EmbedderUnavailable(message) if wait_s is None else EmbedderAsksToWait(message, wait_s)


def reason_of(message: object, *, secret: str = "") -> str:
    """Return a server's message as the end of a sentence: `: …`, printable and bounded; `.` for none."""
    if not isinstance(message, str) or not message.strip():
        return "."
    if secret:
        message = message.replace(secret, "***")
    printable = "".join(char if char.isprintable() else " " for char in message)
    return f": {' '.join(printable.split())[:MAX_REASON_CHARS]}"
