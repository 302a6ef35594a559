"""What stores with a server of their own share: requests with retries, and collections that may be gone."""

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn
from uuid import UUID

from embeddings.types import NearestChunk, Point, Space, StoredChunk, Vector
from knowlex.base.errors import VectorStoreFailed, VectorStoreTimeout
from knowlex.base.retry import Retry, retry_after_seconds
from knowlex.net.json_client import JsonWire, Reply, Unreachable

MAX_BODY_BYTES = 8 * 1024 * 1024  # Chroma refuses bodies of more than 40 MB, Qdrant of more than 32 MB
MAX_RECORDS = 500  # so that each request ends well within its time
BYTES_PER_NUMBER = 22  # as text; base64 has a quarter of that
BYTES_OF_METADATA = 4096
TIMEOUT_S = 5.0
# A server that is gone is known to be within 0.7 s; one that asks for a rest of more than 2 s is given up.
RETRY = Retry(retries=3, base_s=0.1, max_wait_s=2.0)
MISSING, CONFLICT, TOO_MANY_REQUESTS, NOT_IMPLEMENTED = 404, 409, 429, 501
KEY_REFUSED = {401, 403}
log = logging.getLogger(__name__)


class NoSuchCollection(Exception):
    """There is no such collection, or no tenant or database for it: nothing can be found, nothing failed."""


class StoreRefused(VectorStoreFailed):
    """The store answers, and does not do what it is asked to."""


class _TransientFailure(Exception):
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
            reply = await (attempt() if once else self._retry.acall(attempt, retry_on=(_TransientFailure,)))
        except _TransientFailure as exc:
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
            raise _TransientFailure(VectorStoreFailed(message), str(exc)) from exc
        except TimeoutError as exc:
            message = f"Connection to vector store timed out after {self._timeout_s:g}s"
            raise _TransientFailure(VectorStoreTimeout(message), message) from exc
        if reply.status == TOO_MANY_REQUESTS or (reply.status >= 500 and reply.status != NOT_IMPLEMENTED):
            message = f"The vector store answers with HTTP {reply.status}."
            reason = f"HTTP {reply.status}: {_excerpt(reply)}"
            raise _TransientFailure(VectorStoreFailed(message), reason, retry_after=reply.retry_after)
        return reply


def check_reply(reply: Reply, what: str = "a request") -> Reply:
    """Return a reply of status 2xx. Raises NoSuchCollection, StoreRefused: another try would not help."""
    if reply.status == MISSING:
        raise NoSuchCollection
    if not reply.ok:
        raise_refusal(reply, what)
    return reply


def raise_refusal(reply: Reply, what: str = "a request") -> NoReturn:
    log.error("vector store refuses a request", extra={"status": reply.status, "reply": _excerpt(reply)})
    raise StoreRefused(f"The vector store refuses {what} (HTTP {reply.status}).")


def unreadable_answer(exc: Exception | None = None) -> VectorStoreFailed:
    """Return what to raise for an answer of another shape than the store's documentation says."""
    log.error("vector store's answer cannot be read", extra={"error": type(exc).__name__})
    return VectorStoreFailed("The vector store's answer cannot be read.")


def foreign_collection(space: Space, distance: object) -> VectorStoreFailed:
    """Return what to raise for a collection that somebody else has made for other vectors."""
    log.error("not our collection", extra={"collection": space.name, "distance": distance})
    return VectorStoreFailed("The vector store has another collection under this name.")


def split_batches(
    vectors: Sequence[Vector], documents: Sequence[str | None] | None = None, *, limit: int = MAX_RECORDS
) -> Iterator[slice]:
    """Yield slices of at most `limit` records and about MAX_BODY_BYTES; a larger record goes alone."""
    start = size = 0
    for index, vector in enumerate(vectors):
        text = (documents[index] or "") if documents else ""
        own = len(vector) * BYTES_PER_NUMBER + BYTES_OF_METADATA + 4 * len(text)
        if index > start and (size + own > MAX_BODY_BYTES or index - start >= min(limit, MAX_RECORDS)):
            yield slice(start, index)
            start, size = index, 0
        size += own
    if len(vectors) > start:
        yield slice(start, len(vectors))


def own_chunks(distances: Iterable[tuple[str, float]]) -> list[NearestChunk]:
    """Return the chunks, without ids that somebody else has put there."""
    pairs = ((_chunk_id(id_), distance) for id_, distance in distances)
    return [NearestChunk(chunk_id, distance) for chunk_id, distance in pairs if chunk_id]


class ServerStore(ABC):
    """A VectorStore without its search. A collection that is not there holds nothing; `put` makes it."""

    async def put(self, space: Space, points: Sequence[Point]) -> None:
        if not points:
            return
        try:
            await self._upsert(space, points)
        except NoSuchCollection:  # dropped since it was last seen
            self._forget(space)
            try:
                await self._upsert(space, points)
            except NoSuchCollection as exc:
                raise VectorStoreFailed("The vector store loses its collection again and again.") from exc

    async def remove(self, space: Space, chunk_ids: Sequence[UUID]) -> None:
        with suppress(NoSuchCollection):
            await self._delete(space.name, [str(chunk_id) for chunk_id in chunk_ids])

    async def list_chunks(self, space: Space) -> AsyncIterator[Sequence[StoredChunk]]:
        with suppress(NoSuchCollection):
            async for page in self._pages(space.name):
                yield [
                    StoredChunk(
                        chunk_id, str(payload.get("collection_id", "")), str(payload.get("chunk_hash", ""))
                    )
                    for id_, payload in page
                    if (chunk_id := _chunk_id(id_))
                ]

    async def drop(self, space: Space) -> None:
        self._forget(space)
        with suppress(NoSuchCollection):
            await self._delete_collection(space.name)

    @abstractmethod
    async def _upsert(self, space: Space, points: Sequence[Point]) -> None:
        """Raises NoSuchCollection only where it was there a moment ago, as do all of these."""

    @abstractmethod
    async def _delete(self, name: str, ids: Sequence[str]) -> None: ...

    @abstractmethod
    def _pages(self, name: str) -> AsyncIterator[Iterable[tuple[str, Mapping[str, Any]]]]:
        """Yield ids and payloads."""

    @abstractmethod
    async def _delete_collection(self, name: str) -> None: ...

    def _forget(self, space: Space) -> None:  # noqa: B027 (nothing to forget for most)
        """Forget that it is known to be there."""


def _excerpt(reply: Reply) -> str:
    return str(reply.body)[:500]


def _chunk_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
