"""Vectors in this process: exact, and gone with it."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from threading import Lock
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from embeddings.types import NearestChunk, Point, Space, StoredChunk, Vector
from knowlex.base.errors import VectorStoreFailed

FIRST, GROWTH = 64, 1.5  # rows


class Part(NamedTuple):
    """A collection as it is at one moment; units: (chunks, dimensions), rows in the order of the ids."""

    ids: NDArray[np.object_]
    units: NDArray[np.float32]


class Room:
    """Rows are dense: the last one takes the place of one that goes. A `part` handed out never changes: what
    is overwritten is copied first.
    """

    def __init__(self, dimensions: int) -> None:
        self._rows: dict[UUID, int] = {}
        self._hashes: dict[UUID, str] = {}
        self._ids = np.empty(FIRST, dtype=object)
        self._units = np.empty((FIRST, dimensions), dtype=np.float32)
        self._shared = False

    def __len__(self) -> int:
        return len(self._rows)

    def part(self) -> Part:
        self._shared = True
        return Part(self._ids[: len(self)], self._units[: len(self)])

    def put(self, chunk_id: UUID, unit: NDArray[np.float32], chunk_hash: str) -> None:
        row = self._rows.get(chunk_id)
        if row is None:
            row = self._rows[chunk_id] = len(self._rows)  # beyond what any part shows
            self._make_room(row)
        else:
            self._own()
        self._ids[row], self._units[row], self._hashes[chunk_id] = chunk_id, unit, chunk_hash

    def remove(self, chunk_id: UUID) -> None:
        row = self._rows.pop(chunk_id)
        del self._hashes[chunk_id]
        last = len(self._rows)
        self._own()
        if row != last:
            self._ids[row], self._units[row] = self._ids[last], self._units[last]
            self._rows[self._ids[row]] = row
        self._ids[last] = None

    def held(self, collection: str) -> Iterable[StoredChunk]:
        return (StoredChunk(chunk_id, collection, known) for chunk_id, known in self._hashes.items())

    def _make_room(self, row: int) -> None:
        if row >= len(self._ids):
            self._resize(int(len(self._ids) * GROWTH) + 1)

    def _own(self) -> None:
        if self._shared:
            self._resize(len(self._ids))

    def _resize(self, rows: int) -> None:
        ids, units = np.empty(rows, dtype=object), np.empty((rows, self._units.shape[1]), dtype=np.float32)
        kept = min(rows, len(self._ids))
        ids[:kept], units[:kept] = self._ids[:kept], self._units[:kept]
        self._ids, self._units, self._shared = ids, units, False


class Rooms:
    """The rooms of a space; a chunk is in one of them."""

    def __init__(self) -> None:
        self._rooms: dict[UUID, Room] = {}
        self._room_of: dict[UUID, UUID] = {}

    def parts(self, collections: Iterable[UUID]) -> list[Part]:
        return [self._rooms[one].part() for one in dict.fromkeys(collections) if one in self._rooms]

    def put(self, point: Point, unit: NDArray[np.float32]) -> None:
        if self._room_of.get(point.chunk_id, point.collection_id) != point.collection_id:
            self.remove(point.chunk_id)
        room = self._rooms.setdefault(point.collection_id, Room(len(unit)))
        room.put(point.chunk_id, unit, point.chunk_hash)
        self._room_of[point.chunk_id] = point.collection_id

    def remove(self, chunk_id: UUID) -> None:
        collection = self._room_of.pop(chunk_id, None)
        if collection is None:
            return
        self._rooms[collection].remove(chunk_id)
        if not len(self._rooms[collection]):
            del self._rooms[collection]

    def held(self) -> list[StoredChunk]:
        return [one for collection, room in self._rooms.items() for one in room.held(str(collection))]


PAGE = 500
MANY = 4_000_000  # numbers; to compare with more takes longer than a thread's start and end


class MemoryStore:
    """A search reads the rows of its own collections only. Safe to use from several loops and threads."""

    def __init__(self) -> None:
        self._spaces: dict[str, Rooms] = {}
        self._lock = Lock()

    async def nearest(
        self, space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
    ) -> list[NearestChunk]:
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

    async def held(self, space: Space) -> AsyncIterator[Sequence[StoredChunk]]:
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


def _closest(parts: Sequence[Part], unit: NDArray[np.float32], limit: int) -> list[NearestChunk]:
    """Ties by id."""
    # Not by BLAS: its threads wait for more work at full speed, ten times as long as this takes.
    distances = np.concatenate([1 - np.einsum("ij,j->i", part.units, unit) for part in parts])
    ids = np.concatenate([part.ids for part in parts])
    first = np.argpartition(distances, limit - 1)[:limit] if limit < len(ids) else np.arange(len(ids))
    order = sorted(first.tolist(), key=lambda row: (distances[row], ids[row]))
    return [NearestChunk(ids[row], float(distances[row])) for row in order]
