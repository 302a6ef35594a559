"""Vectors in a Qdrant server or cluster: one of its collections for each embedding model."""

import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from embeddings.clients.qdrant import QdrantClient, QdrantCollection
from embeddings.clients.requests import NoSuchCollection
from embeddings.stores.server import ServerStore, own_chunks
from embeddings.types import NearestChunk, Point, Space, Vector
from knowlex.base.errors import VectorStoreFailed

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


class QdrantStore(ServerStore):
    """The options are QdrantClient's. Points have the ids of the chunks and `Point.payload`."""

    def __init__(self, **options: Any) -> None:
        self._client = QdrantClient(**options)
        self._ready: set[Space] = set()

    async def nearest(
        self, space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
    ) -> list[NearestChunk]:
        if not collections or limit < 1:
            return []
        params = {"hnsw_ef": max(EFFORT, 2 * limit)}
        try:
            found = await self._client.query(
                space.name, vector, limit=limit, conditions=_within_collections(collections), params=params
            )
        except NoSuchCollection:
            return []
        return own_chunks((one.id, 1 - one.score) for one in found)

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

    def _forget(self, space: Space) -> None:
        self._ready.discard(space)

    async def _delete(self, name: str, ids: Sequence[str]) -> None:
        await self._client.delete(name, ids)

    async def _pages(self, name: str) -> AsyncIterator[Iterable[tuple[str, Mapping[str, Any]]]]:
        async for page in self._client.pages(name, payload=TOLD):
            yield [(one.id, one.payload) for one in page]

    async def _delete_collection(self, name: str) -> None:
        await self._client.delete_collection(name)


def _check(collection: QdrantCollection, space: Space) -> None:
    if (collection.dimensions, collection.distance) != (space.dimensions, "Cosine"):
        log.error("not our collection", extra={"collection": space.name, "distance": collection.distance})
        raise VectorStoreFailed("The vector store has another collection under this name.")


def _within_collections(collections: Sequence[UUID]) -> Mapping[str, Any]:
    ids = [str(collection_id) for collection_id in collections]
    return {"must": [{"key": "collection_id", "match": {"value": ids[0]} if len(ids) == 1 else {"any": ids}}]}
