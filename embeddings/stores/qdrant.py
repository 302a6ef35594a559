"""Vectors in a Qdrant server or cluster: one of its collections for each embedding model."""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from embeddings.clients.calling import NoSuchCollection
from embeddings.clients.qdrant import QdrantClient, QdrantCollection, Stored
from embeddings.stores.ids import chunk_id_of
from embeddings.types import Held, Near, Point, Space, Vector
from knowlex.common.errors import VectorStoreFailed

# As in Chroma, whose graph is of the same kind: measured there, 99.9 % of the 40 nearest are found.
GRAPH = {"m": 32, "ef_construct": 200}
EFFORT = 1000  # and never less than twice as many as are asked for
# A search is within collections: Qdrant keeps a tenant's points together, with links among themselves.
INDEXES: dict[str, Mapping[str, Any]] = {
    "collection_id": {"type": "keyword", "is_tenant": True},
    "document_id": {"type": "keyword"},
}
TOLD = ("collection_id", "chunk_hash")
log = logging.getLogger(__name__)


class QdrantStore:
    """The options are QdrantClient's. Points have the ids of the chunks and `Point.payload`."""

    def __init__(self, **options: Any) -> None:
        self._client = QdrantClient(**options)
        self._ready: set[Space] = set()

    async def nearest(
        self, space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
    ) -> list[Near]:
        if not collections or limit < 1:
            return []
        params = {"hnsw_ef": max(EFFORT, 2 * limit)}
        try:
            found = await self._client.query(
                space.name, vector, limit=limit, conditions=_within(collections), params=params
            )
        except NoSuchCollection:
            return []
        return [Near(known, 1 - one.score) for one in found if (known := chunk_id_of(one.id))]

    async def put(self, space: Space, points: Sequence[Point]) -> None:
        if not points:
            return
        try:
            await self._upsert(space, points)
        except NoSuchCollection:  # dropped since it was last seen
            self._ready.discard(space)
            try:
                await self._upsert(space, points)
            except NoSuchCollection as exc:
                raise VectorStoreFailed("The vector store loses its collection again and again.") from exc

    async def remove(self, space: Space, chunk_ids: Sequence[UUID]) -> None:
        try:
            await self._client.delete(space.name, [str(chunk_id) for chunk_id in chunk_ids])
        except NoSuchCollection:
            return

    async def held(self, space: Space) -> AsyncIterator[Sequence[Held]]:
        try:
            async for page in self._client.pages(space.name, payload=TOLD):
                yield [held for one in page if (held := _held(one))]
        except NoSuchCollection:
            return

    async def drop(self, space: Space) -> None:
        self._ready.discard(space)
        await self._client.delete_collection(space.name)

    async def ping(self) -> None:
        await self._client.ping()

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _upsert(self, space: Space, points: Sequence[Point]) -> None:
        if space not in self._ready:
            await self._make_ready(space)
        await self._client.upsert(
            space.name,
            ids=[str(point.chunk_id) for point in points],
            vectors=[point.vector for point in points],
            payloads=[point.payload for point in points],
        )

    async def _make_ready(self, space: Space) -> None:
        """Once in a process: a collection may be there without its indexes, if whoever made it ended then."""
        try:
            collection = await self._client.collection(space.name)
        except NoSuchCollection:
            await self._client.create_collection(space.name, dimensions=space.dimensions, hnsw=GRAPH)
            collection = await self._client.collection(space.name)
        _check(collection, space)
        for field in INDEXES.keys() - collection.indexed:
            await self._client.create_index(space.name, field, INDEXES[field])
        self._ready.add(space)


def _check(collection: QdrantCollection, space: Space) -> None:
    if (collection.dimensions, collection.distance) != (space.dimensions, "Cosine"):
        log.error("not our collection", extra={"collection": space.name, "distance": collection.distance})
        raise VectorStoreFailed("The vector store has another collection under this name.")


def _within(collections: Sequence[UUID]) -> Mapping[str, Any]:
    ids = [str(collection_id) for collection_id in collections]
    return {"must": [{"key": "collection_id", "match": {"value": ids[0]} if len(ids) == 1 else {"any": ids}}]}


def _held(one: Stored) -> Held | None:
    chunk_id = chunk_id_of(one.id)
    if chunk_id is None:
        return None
    return Held(chunk_id, str(one.payload.get("collection_id", "")), str(one.payload.get("chunk_hash", "")))
