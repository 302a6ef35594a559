"""Vectors in this process: exact, and gone with it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from threading import Lock
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from embeddings.stores.rooms import Part, Rooms
from embeddings.types import Held, Near, Point, Space, Vector
from knowlex.common.errors import VectorStoreFailed

PAGE = 500
MANY = 4_000_000  # numbers; to compare with more takes longer than a thread's start and end


class MemoryStore:
    """A search reads the rows of its own collections only. Safe to use from several loops and threads."""

    def __init__(self) -> None:
        self._spaces: dict[str, Rooms] = {}
        self._lock = Lock()

    async def nearest(
        self, space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
    ) -> list[Near]:
        with self._lock:
            rooms = self._spaces.get(space.name)
            parts = rooms.parts(collections) if rooms is not None else []
        if not parts or limit < 1:
            return []
        unit = _unit(vector, space)
        if sum(part.units.size for part in parts) > MANY:
            return await asyncio.to_thread(_closest, parts, unit, limit)
        return _closest(parts, unit, limit)

    async def put(self, space: Space, points: Sequence[Point]) -> None:
        units = [_unit(point.vector, space) for point in points]
        with self._lock:
            rooms = self._spaces.setdefault(space.name, Rooms())
            for point, unit in zip(points, units, strict=True):
                rooms.put(point, unit)

    async def remove(self, space: Space, chunk_ids: Sequence[UUID]) -> None:
        with self._lock:
            rooms = self._spaces.get(space.name)
            if rooms is not None:
                for chunk_id in chunk_ids:
                    rooms.remove(chunk_id)

    async def held(self, space: Space) -> AsyncIterator[Sequence[Held]]:
        with self._lock:
            rooms = self._spaces.get(space.name)
            known = rooms.held() if rooms is not None else []
        for start in range(0, len(known), PAGE):
            yield known[start : start + PAGE]

    async def drop(self, space: Space) -> None:
        with self._lock:
            self._spaces.pop(space.name, None)

    async def ping(self) -> None:
        """Always there."""

    async def aclose(self) -> None:
        """There are no connections."""


def _unit(vector: Vector, space: Space) -> NDArray[np.float32]:
    """The vector at length 1. Raises VectorStoreFailed if it has none, or not the space's size."""
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if len(vector) != space.dimensions or not np.isfinite(length) or length == 0:
        raise VectorStoreFailed("A vector cannot be compared with the stored ones.")
    return np.asarray(vector / length, dtype=np.float32)


def _closest(parts: Sequence[Part], unit: NDArray[np.float32], limit: int) -> list[Near]:
    """Ties by id."""
    # Not by BLAS: its threads wait for more work at full speed, ten times as long as this takes.
    distances = np.concatenate([1 - np.einsum("ij,j->i", part.units, unit) for part in parts])
    ids = np.concatenate([part.ids for part in parts])
    first = np.argpartition(distances, limit - 1)[:limit] if limit < len(ids) else np.arange(len(ids))
    order = sorted(first.tolist(), key=lambda row: (distances[row], ids[row]))
    return [Near(ids[row], float(distances[row])) for row in order]
