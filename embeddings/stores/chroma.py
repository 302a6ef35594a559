"""Vectors in a Chroma server: one of its collections for each embedding model."""

import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from embeddings.stores.chroma_client import ChromaClient, ChromaHit
from embeddings.stores.server import NoSuchCollection, ServerStore, foreign_collection, own_chunks
from embeddings.types import NearestChunk, Point, Space, Vector

# These find what an exact search does in all of 1,060 searches of 4,930 chunks (docs/evaluation.md); half as
# much (200, 1000, 32) missed one. Chroma's defaults (100, 100, 16) find 93 % of the 40 nearest of 9,000.
INDEX = {"hnsw": {"space": "cosine", "ef_construction": 400, "ef_search": 2000, "max_neighbors": 64}}
# Chroma's own filter is slow: a search first asks for more than is needed, and filters here.
UNFILTERED_FACTOR = 2  # times as many are asked for as are needed
MAX_UNFILTERED = 200  # of more, the records' metadata costs as much as the filter
NARROW_FOR_S, MAX_NARROW = 60.0, 1000


class ChromaStore(ServerStore):
    """The options are ChromaClient's. The ids are those of the chunks, the metadata is `Point.payload`."""

    def __init__(self, **options: Any) -> None:
        self._client = ChromaClient(**options)
        # Till when searches of these collections need Chroma's filter: they are a small part of the space.
        self._narrow_until: dict[tuple[str, frozenset[str]], float] = {}

    async def nearest(
        self, space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
    ) -> list[NearestChunk]:
        if not collections or limit < 1:
            return []
        ids = frozenset(str(collection_id) for collection_id in collections)
        try:
            hits = await self._search_unfiltered(space.name, vector, ids, limit)
            if hits is None:
                where = {"collection_id": {"$in": sorted(ids)}}
                hits = await self._client.query(space.name, vector, n_results=limit, where=where)
        except NoSuchCollection:
            return []
        return own_chunks((hit.id, hit.distance) for hit in hits)

    async def ping(self) -> None:
        await self._client.heartbeat()

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _search_unfiltered(
        self, name: str, vector: Vector, collections: frozenset[str], limit: int
    ) -> list[ChromaHit] | None:
        """Return what a search with a filter would find; None where that has to be asked."""
        key = (name, collections)
        if limit > MAX_UNFILTERED or self._narrow_until.get(key, 0.0) > time.monotonic():
            return None
        count = UNFILTERED_FACTOR * limit
        hits = await self._client.query(name, vector, n_results=count, include=("distances", "metadatas"))
        passing = [hit for hit in hits if (hit.metadata or {}).get("collection_id") in collections]
        if len(passing) >= limit or len(hits) < count:
            return passing[:limit]
        if len(self._narrow_until) >= MAX_NARROW:
            self._narrow_until.clear()
        self._narrow_until[key] = time.monotonic() + NARROW_FOR_S
        return None

    async def _upsert(self, space: Space, points: Sequence[Point]) -> None:
        try:
            collection = await self._client.collection(space.name)
        except NoSuchCollection:
            collection = await self._client.create_collection(space.name, configuration=INDEX)
        if collection.space != "cosine":
            raise foreign_collection(space, collection.space)
        await self._client.upsert(
            space.name,
            ids=[str(point.chunk_id) for point in points],
            vectors=[point.vector for point in points],
            metadatas=[point.payload for point in points],
        )

    async def _delete(self, name: str, ids: Sequence[str]) -> None:
        await self._client.delete(name, ids)

    async def _pages(self, name: str) -> AsyncIterator[Iterable[tuple[str, Mapping[str, Any]]]]:
        async for page in self._client.pages(name):
            yield [(record.id, record.metadata or {}) for record in page]

    async def _delete_collection(self, name: str) -> None:
        await self._client.delete_collection(name)
