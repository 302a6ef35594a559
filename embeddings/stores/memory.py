"""A vector store in this process: exact, and gone with it. It is meant for tests and small libraries."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from threading import Lock
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from embeddings.types import NearestChunk, Point, Space, StoredChunk, Vector
from knowlex.base.errors import VectorStoreFailed

PAGE = 500
THREAD_FROM = 4_000_000  # numbers; comparing with more takes longer than starting a thread


class _Row(NamedTuple):
    """unit: the vector at length 1."""

    unit: NDArray[np.float32]
    chunk_hash: str


class _Matrix(NamedTuple):
    """The vectors of one collection. units: (chunks, dimensions), in the order of the ids."""

    ids: list[UUID]
    units: NDArray[np.float32]


class MemoryStore:
    """Reads the rows of the searched collections only. Safe to use from several loops and threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._spaces: dict[str, dict[UUID, dict[UUID, _Row]]] = {}  # by space, collection and chunk
        self._matrices: dict[tuple[str, UUID], _Matrix] = {}  # built by searches, forgotten with each change

    async def nearest(
        self, space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
    ) -> list[NearestChunk]:
        with self._lock:
            rows = self._spaces.get(space.name, {})
            matrices = [self._matrix(space, id_) for id_ in dict.fromkeys(collections) if rows.get(id_)]
        if not matrices or limit < 1:
            return []
        unit = _unit(vector, space)
        if sum(matrix.units.size for matrix in matrices) > THREAD_FROM:
            return await asyncio.to_thread(_closest, matrices, unit, limit)
        return _closest(matrices, unit, limit)

    async def put(self, space: Space, points: Sequence[Point]) -> None:
        rows = [_Row(_unit(point.vector, space), point.chunk_hash) for point in points]
        with self._lock:
            self._take_out(space, [point.chunk_id for point in points])
            collections = self._spaces.setdefault(space.name, {})
            for point, row in zip(points, rows, strict=True):
                collections.setdefault(point.collection_id, {})[point.chunk_id] = row

    async def remove(self, space: Space, chunk_ids: Sequence[UUID]) -> None:
        with self._lock:
            self._take_out(space, chunk_ids)

    async def list_chunks(self, space: Space) -> AsyncIterator[Sequence[StoredChunk]]:
        with self._lock:
            stored = [
                StoredChunk(chunk_id, str(collection_id), row.chunk_hash)
                for collection_id, rows in self._spaces.get(space.name, {}).items()
                for chunk_id, row in rows.items()
            ]
        for start in range(0, len(stored), PAGE):
            yield stored[start : start + PAGE]

    async def drop(self, space: Space) -> None:
        with self._lock:
            self._spaces.pop(space.name, None)
            self._matrices.clear()

    async def ping(self) -> None:
        """Return: the store is always there."""

    async def aclose(self) -> None:
        """There are no connections."""

    def _matrix(self, space: Space, collection_id: UUID) -> _Matrix:
        key = (space.name, collection_id)
        if key not in self._matrices:
            rows = self._spaces[space.name][collection_id]
            self._matrices[key] = _Matrix(list(rows), np.stack([row.unit for row in rows.values()]))
        return self._matrices[key]

    def _take_out(self, space: Space, chunk_ids: Sequence[UUID]) -> None:
        for rows in self._spaces.get(space.name, {}).values():
            for chunk_id in chunk_ids:
                rows.pop(chunk_id, None)
        self._matrices.clear()


def _unit(vector: Vector, space: Space) -> NDArray[np.float32]:
    """Return the vector at length 1. Raises VectorStoreFailed if it has none, or not the space's size."""
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if len(vector) != space.dimensions or not np.isfinite(length) or length == 0:
        raise VectorStoreFailed("A vector cannot be compared with the stored ones.")
    return np.asarray(vector / length, dtype=np.float32)


def _closest(matrices: Sequence[_Matrix], unit: NDArray[np.float32], limit: int) -> list[NearestChunk]:
    """Return the closest chunks first; of equal distances, the lower id comes first."""
    # Not by BLAS: its threads wait for more work at full speed, ten times as long as this takes.
    distances = np.concatenate([1 - np.einsum("ij,j->i", matrix.units, unit) for matrix in matrices])
    ids = [chunk_id for matrix in matrices for chunk_id in matrix.ids]
    first = np.argpartition(distances, limit - 1)[:limit] if limit < len(ids) else np.arange(len(ids))
    order = sorted(first.tolist(), key=lambda row: (distances[row], ids[row]))
    return [NearestChunk(ids[row], float(distances[row])) for row in order]
