"""Requests to a vector store: how often they are tried, and what their faults are called."""

import base64
import logging
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from embeddings.types import Vector
from knowlex.base.errors import VectorStoreFailed, VectorStoreTimeout
from knowlex.base.retry import Retry, retry_after_seconds
from knowlex.net.json_client import JsonWire, Reply, Unreachable

MOST_BYTES = 8 * 1024 * 1024  # Chroma refuses bodies of more than 40 MB, Qdrant of more than 32 MB
MOST_RECORDS = 500  # so that each request ends well within its time
BYTES_OF_A_NUMBER = 22  # as text; base64 has a quarter of that
BYTES_OF_METADATA = 4096


def split_batches(
    vectors: Sequence[Vector], documents: Sequence[str | None] | None = None, *, most: int = MOST_RECORDS
) -> Iterator[slice]:
    """Yield slices of at most `most` records and about MOST_BYTES; a record that is larger goes alone."""
    start = size = 0
    for place, vector in enumerate(vectors):
        text = (documents[place] or "") if documents else ""
        own = len(vector) * BYTES_OF_A_NUMBER + BYTES_OF_METADATA + 4 * len(text)
        if place > start and (size + own > MOST_BYTES or place - start >= min(most, MOST_RECORDS)):
            yield slice(start, place)
            start, size = place, 0
        size += own
    if len(vectors) > start:
        yield slice(start, len(vectors))


def encode_vectors(vectors: Sequence[Vector]) -> list[str]:
    """Return little-endian float32 in base64, which Chroma takes in place of numbers."""
    return [base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode() for vector in vectors]


def list_numbers(vector: Vector | Sequence[float]) -> list[float]:
    return vector.tolist() if isinstance(vector, np.ndarray) else list(vector)


TIMEOUT_S = 5.0
# A server that is gone is known to be within 0.7 s; one that asks for a rest of more than 2 s is given up.
RETRY = Retry(retries=3, base_s=0.1, max_wait_s=2.0)
TOO_MANY_REQUESTS, NOT_IMPLEMENTED = 429, 501
KEY_REFUSED = {401, 403}
log = logging.getLogger(__name__)


class NoSuchCollection(Exception):
    """There is no such collection, or no tenant or database for it: nothing can be found, nothing failed."""


class StoreFault(Exception):
    """Another try may help. failure: what to raise when there is none; reason: for the log."""

    def __init__(self, failure: VectorStoreFailed, reason: str, *, retry_after: str = "") -> None:
        super().__init__(failure.message)
        self.failure, self.reason, self.retry_after_s = failure, reason, retry_after_seconds(retry_after)


class StoreCaller:
    """Calls `wire`; each try is bounded by timeout_s, and those after the first are as `retry` says: for
    connections that are refused or break off, for no answer in time, for 429 and 5xx.
    """

    def __init__(self, wire: JsonWire, *, timeout_s: float = TIMEOUT_S, retry: Retry = RETRY) -> None:
        self._wire, self._timeout_s, self._retry = wire, timeout_s, retry

    async def call(self, method: str, path: str, body: Any = None, *, once: bool = False) -> Reply:
        """Return a reply of status 2xx, 501, or 4xx but 401, 403 and 429. once: a single try.

        Raises VectorStoreFailed, VectorStoreTimeout.
        """

        async def attempt() -> Reply:
            return await self._attempt(method, path, body)

        try:
            reply = await (attempt() if once else self._retry.acall(attempt, retry_on=(StoreFault,)))
        except StoreFault as exc:
            log.warning("vector store failed", extra={"reason": exc.reason})
            raise exc.failure from exc.__cause__
        if reply.status in KEY_REFUSED:
            log.error("vector store refuses the key", extra={"status": reply.status})
            raise VectorStoreFailed("The vector store refuses the key, or asks for one.")
        return reply

    async def aclose(self) -> None:
        """Close this event loop's connections; the next request opens new ones."""
        await self._wire.aclose()

    async def _attempt(self, method: str, path: str, body: Any) -> Reply:
        try:
            reply = await self._wire.send(method, path, body, timeout_s=self._timeout_s)
        except Unreachable as exc:
            message = "The vector store could not be reached, or broke off its answer."
            raise StoreFault(VectorStoreFailed(message), str(exc)) from exc
        except TimeoutError as exc:
            message = f"Connection to vector store timed out after {self._timeout_s:g}s"
            raise StoreFault(VectorStoreTimeout(message), message) from exc
        if reply.status == TOO_MANY_REQUESTS or (reply.status >= 500 and reply.status != NOT_IMPLEMENTED):
            message = f"The vector store answers with HTTP {reply.status}."
            reason = f"HTTP {reply.status}: {_excerpt(reply)}"
            raise StoreFault(VectorStoreFailed(message), reason, retry_after=reply.retry_after)
        return reply


class StoreRefused(VectorStoreFailed):
    """The store answers, and does not do what it is asked to."""


def raise_refusal(reply: Reply, what: str = "a request") -> NoReturn:
    """Raise StoreRefused for a reply that another try would not better."""
    log.error("vector store refuses a request", extra={"status": reply.status, "reply": _excerpt(reply)})
    raise StoreRefused(f"The vector store refuses {what} (HTTP {reply.status}).")


def unreadable_answer(exc: Exception | None = None) -> VectorStoreFailed:
    """Return what to raise for an answer of another shape than the store's documentation says."""
    log.error("vector store's answer cannot be read", extra={"error": type(exc).__name__})
    return VectorStoreFailed("The vector store's answer cannot be read.")


def _excerpt(reply: Reply) -> str:
    return str(reply.body)[:500]
