"""Records in memory: the vectors of some thousands of texts, compared with a question one by one."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from embeddings.types import Vector
from rag.retrievers.foreign.protocols import Record, other_size
from rag.retrievers.foreign.where import Where, passes


class MemoryReader:
    """A CollectionReader of records that are at hand; exact, and nothing is ever added.

    vectors: one for each record, all of one length.
    """

    def __init__(self, records: Sequence[Record], vectors: Sequence[Vector], *, name: str = "texts") -> None:
        self.name, self._records = name, tuple(records)
        if len(vectors) != len(self._records):
            raise ValueError(f"{len(self._records)} records have {len(vectors)} vectors.")
        matrix = np.array([*vectors], dtype=np.float32).reshape(len(vectors), -1 if len(vectors) else 0)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        self._vectors = matrix / np.where(lengths > 0, lengths, 1)

    async def nearest(self, vector: Vector, limit: int, where: Where | None = None) -> list[Record]:
        if not self._records:
            return []
        if len(vector) != self._vectors.shape[1]:
            raise other_size("The collection of texts", self._vectors.shape[1], len(vector))
        distances = 1 - self._vectors @ (vector / np.linalg.norm(vector))
        order = np.argsort(distances, kind="stable").tolist()
        found = []
        for place in order:
            record = self._records[place]
            if passes(record.metadata, where):
                found.append(replace(record, distance=min(max(float(distances[place]), 0.0), 2.0)))
            if len(found) == limit:
                break
        return found

    async def count(self) -> int:
        return len(self._records)

    async def ping(self) -> None:
        """Memory is there."""

    async def aclose(self) -> None:
        """Nothing is open."""
