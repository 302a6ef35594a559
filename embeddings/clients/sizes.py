"""Cutting what is to be stored into requests that servers take: records and bytes of each."""

import base64
from collections.abc import Iterator, Sequence

import numpy as np

from embeddings.types import Vector

MOST_BYTES = 8 * 1024 * 1024  # Chroma refuses bodies of more than 40 MB, Qdrant of more than 32 MB
MOST_RECORDS = 500  # so that each request ends well within its time
BYTES_OF_A_NUMBER = 22  # as text; base64 has a quarter of that
BYTES_OF_METADATA = 4096


def batches(
    vectors: Sequence[Vector], documents: Sequence[str | None] | None = None, *, most: int = MOST_RECORDS
) -> Iterator[slice]:
    """Slices of at most `most` records and about MOST_BYTES; a record that is larger goes alone."""
    start = size = 0
    for place, vector in enumerate(vectors):
        text = (documents[place] or "") if documents else ""
        own = len(vector) * BYTES_OF_A_NUMBER + BYTES_OF_METADATA + 4 * len(text)
        if place > start and (size + own > MOST_BYTES or place - start >= min(most, MOST_RECORDS)):
            yield slice(start, place)
            start, size = place, 0
        size += own
    if len(vectors) > start:
        yield slice(start, len(vectors))


def encoded(vectors: Sequence[Vector]) -> list[str]:
    """Little-endian float32 in base64, which Chroma takes in place of numbers."""
    return [base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode() for vector in vectors]


def numbers_of(vector: Vector | Sequence[float]) -> list[float]:
    return vector.tolist() if isinstance(vector, np.ndarray) else list(vector)
