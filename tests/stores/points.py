"""Points that are like those of a real library: clustered vectors, collections of several sizes."""

from collections.abc import Sequence
from hashlib import sha256
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from embeddings.types import NearestChunk, Point, Space, Vector

NAMES = UUID("3f6f6f0e-6a53-4a52-9a2b-0d5c0f1d2e3a")
DIMENSIONS = 16


def collection(name: str) -> UUID:
    return uuid5(NAMES, name)


def point(number: int, vector: Vector, in_collection: str = "a", **fields: object) -> Point:
    """The number makes the chunk's id."""
    told = {"chunk_hash": sha256(str(number).encode()).hexdigest(), "chunk_index": number, **fields}
    return Point(
        chunk_id=uuid5(NAMES, f"chunk {number}"),
        vector=np.asarray(vector, dtype=np.float32),
        collection_id=collection(in_collection),
        document_id=uuid5(NAMES, f"document {number // 10}"),
        **told,  # type: ignore[arg-type]
    )


def vectors(count: int, *, dimensions: int = DIMENSIONS, seed: int = 1) -> NDArray[np.float32]:
    """Not of length 1, in clusters."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(max(1, count // 20), dimensions))
    near = centres[chance.integers(len(centres), size=count)] + 0.5 * chance.normal(size=(count, dimensions))
    return (near * chance.uniform(0.1, 9, size=(count, 1))).astype(np.float32)


def exactly(
    points: Sequence[Point], vector: Vector, collections: Sequence[UUID], limit: int
) -> list[NearestChunk]:
    """What a store should find, computed in float64."""
    among = [one for one in points if one.collection_id in collections]
    found = [NearestChunk(one.chunk_id, _distance(one.vector, vector)) for one in among]
    return sorted(found, key=lambda near: near.distance)[:limit]


def _distance(one: Vector, other: Vector) -> float:
    first, second = one.astype(np.float64), other.astype(np.float64)
    return float(1 - first @ second / np.linalg.norm(first) / np.linalg.norm(second))


def space(name: str, dimensions: int = DIMENSIONS) -> Space:
    return Space(f"knowlex.test-{name}_7", 7, dimensions)
