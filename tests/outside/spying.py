"""A vector store that holds what a test puts there, counts what it is asked, and fails when told to."""

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

import numpy as np

from embeddings.types import NearestChunk, Point, Space, StoredChunk, Vector
from knowlex.base.errors import VectorStoreFailed


class SpyingStore:
    """asked: (collections, limit) of each search. failing: what every call raises, if anything."""

    def __init__(self) -> None:
        self.points: dict[UUID, Point] = {}
        self.asked: list[tuple[tuple[UUID, ...], int]] = []
        self.failing: VectorStoreFailed | None = None

    async def nearest(
        self, space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
    ) -> list[NearestChunk]:
        self.asked.append((tuple(collections), limit))
        await self.ping()
        near = [
            NearestChunk(point.chunk_id, 1 - float(vector @ point.vector / np.linalg.norm(point.vector)))
            for point in self.points.values()
            if point.collection_id in collections
        ]
        return sorted(near, key=lambda one: one.distance)[:limit]

    async def put(self, space: Space, points: Sequence[Point]) -> None:
        self.points |= {point.chunk_id: point for point in points}

    async def remove(self, space: Space, chunk_ids: Sequence[UUID]) -> None:
        for chunk_id in chunk_ids:
            self.points.pop(chunk_id, None)

    async def list_chunks(self, space: Space) -> AsyncIterator[Sequence[StoredChunk]]:
        yield [
            StoredChunk(one.chunk_id, str(one.collection_id), one.chunk_hash) for one in self.points.values()
        ]

    async def drop(self, space: Space) -> None:
        self.points.clear()

    async def ping(self) -> None:
        if self.failing is not None:
            raise self.failing

    async def aclose(self) -> None:
        pass
