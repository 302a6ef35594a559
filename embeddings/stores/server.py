"""What stores share that keep vectors in a server of its own, by chunk ids and payloads."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from embeddings.clients.requests import NoSuchCollection
from embeddings.types import NearestChunk, Point, Space, StoredChunk
from knowlex.base.errors import VectorStoreFailed


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
                yield [held for id_, payload in page if (held := _stored_chunk(id_, payload))]

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


def own_chunks(distances: Iterable[tuple[str, float]]) -> list[NearestChunk]:
    """Return chunks without foreign ids, which somebody else has put there."""
    return [NearestChunk(known, distance) for id_, distance in distances if (known := _chunk_id(id_))]


def _stored_chunk(id_: str, payload: Mapping[str, Any]) -> StoredChunk | None:
    chunk_id = _chunk_id(id_)
    if chunk_id is None:
        return None
    return StoredChunk(chunk_id, str(payload.get("collection_id", "")), str(payload.get("chunk_hash", "")))


def _chunk_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
