"""Checks of what a provider calls vectors, before one of them is used. Plain Python."""

from typing import Any

import numpy as np

from embeddings.types import Vector


class UnusableVectors(ValueError):
    """The reply cannot be stored; the text says why and holds nothing of the reply itself."""


def check_vectors(items: Any, expected_count: int, dimensions: int | None) -> list[Vector]:
    """Return the vectors of `items` ({"index", "embedding"} each) in the order of `index`.

    All or none: raises UnusableVectors on a wrong count, an index that is missing, doubled or out of range, a
    length other than `dimensions` (None: of the first vector), a value that is not finite, a vector of zeros.
    """
    if not isinstance(items, list) or len(items) != expected_count:
        count = len(items) if isinstance(items, list) else "no list"
        raise UnusableVectors(f"{expected_count} vectors were asked for, the answer holds {count}.")
    placed: dict[int, Vector] = {}
    for item in items:
        index = item.get("index") if isinstance(item, dict) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < expected_count:
            raise UnusableVectors("A vector has no usable index.")
        if index in placed:
            raise UnusableVectors("Two vectors have the same index.")
        placed[index] = _check_vector(item.get("embedding"), dimensions)
        dimensions = dimensions or len(placed[index])
    return [placed[index] for index in range(expected_count)]


def _check_vector(values: Any, dimensions: int | None) -> Vector:
    if not isinstance(values, list) or not values:
        raise UnusableVectors("A vector is missing.")
    if dimensions is not None and len(values) != dimensions:
        raise UnusableVectors(f"A vector has {len(values)} dimensions instead of {dimensions}.")
    if not all(type(value) in (float, int) for value in values):
        raise UnusableVectors("A vector holds something that is not a number.")
    try:
        with np.errstate(over="ignore"):
            vector = np.array(values, dtype=np.float64).astype(np.float32)
    except OverflowError as exc:
        raise UnusableVectors("A vector holds a number that is too large.") from exc
    if not np.isfinite(vector).all():
        raise UnusableVectors("A vector holds a value that is not finite.")
    if not vector.any() or not np.isfinite(norm := np.linalg.norm(vector)) or norm == 0:
        raise UnusableVectors("A vector has no direction.")
    return vector
