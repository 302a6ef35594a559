"""The vectors of sentences in an export: float16, a row for each sentence of one chunk after the other."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import accumulate, pairwise
from uuid import UUID

import numpy as np
from django.db import connection

from embeddings.transfer.shapes import unsound_archive
from embeddings.types import EmbeddedText, Vector
from embeddings.vectors import encoding
from embeddings.work.queue import execute

MAX_BYTES = 512 * 2**20  # of one document; some 60,000 chunks at 384 dimensions
Bounds = list[list[int]]  # for each chunk where its sentences start and end, one after the other
_FROM = """
    FROM embeddings_sentencevectors s JOIN documents_chunk c ON c.id = s.chunk_id
    WHERE c.document_id = %s AND s.model_id = %s AND c.chunk_index = ANY(%s) ORDER BY c.chunk_index
"""
_BOUNDS = f"SELECT c.chunk_index, s.bounds {_FROM}"
_VECTORS = f"SELECT array_send(s.vectors) {_FROM}"
_AT_ONCE = 200


def fetch_bounds(document_id: UUID, model_id: int, chunks: list[int], dimensions: int) -> Bounds:
    """For each of these chunks, by index; [] if none has any, or if they are too many for an archive."""
    found = dict(execute(_BOUNDS, [document_id, model_id, chunks]))
    bounds = [found.get(chunk, []) for chunk in chunks]
    return bounds if 0 < size_of(bounds, dimensions) <= MAX_BYTES else []


def size_of(bounds: Bounds, dimensions: int) -> int:
    """In bytes."""
    return sum(map(len, bounds)) * dimensions  # two numbers a sentence, two bytes a number


def read_pieces(document_id: UUID, model_id: int, chunks: list[int]) -> Iterator[bytes]:
    """Some chunks' rows at a time. In a transaction."""
    with closing(connection.chunked_cursor()) as cursor:
        cursor.execute(_VECTORS, [document_id, model_id, chunks])
        while rows := cursor.fetchmany(_AT_ONCE):
            yield b"".join(encoding.unpack_halfvecs(row[0]).astype("<f2").tobytes() for row in rows)


def join_sentences(
    vectors: Sequence[Vector], bounds: Bounds, content: bytes, name: str
) -> list[EmbeddedText]:
    """Each chunk's vector with those of its sentences. Raises InvalidInput: zero or not finite."""
    dimensions = len(vectors[0])
    found = np.frombuffer(content, "<f2").reshape(-1, dimensions)
    if not np.isfinite(found).all() or not found.any(axis=1).all():
        raise unsound_archive(name, "it holds a vector that is zero or not finite")
    places = pairwise(accumulate((len(own) // 2 for own in bounds), initial=0))
    return [
        EmbeddedText(
            vector, found[first:last].astype(np.float32), tuple(zip(own[::2], own[1::2], strict=True))
        )
        for vector, own, (first, last) in zip(vectors, bounds, places, strict=True)
    ]
