"""Reads a Chroma collection that somebody else filled."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from embeddings.clients.chroma import ChromaClient, ChromaCollection, ChromaHit, NoSuchCollection
from embeddings.clients.requests import StoreRefused
from embeddings.types import Vector
from rag.retrievers.foreign.protocols import Record, other_size
from rag.retrievers.foreign.where import Where

COSINE, EUCLIDEAN, PRODUCT = "cosine", "l2", "ip"
UNRELATED = 1.0  # cosine distance of what has no direction
SAMPLE = 100  # records by whose vectors all are judged: fetching every vector takes four times as long
SAMPLED_S = 60.0
NEARLY_ONE = 1e-3
FARTHEST = {EUCLIDEAN: 4.0 + NEARLY_ONE, PRODUCT: 2.0 + NEARLY_ONE}  # of vectors of length 1


class ChromaReader:
    """A CollectionReader of the collection `name`, whatever space it measures in.

    Squared Euclidean distances and inner products tell the cosine where vectors have length 1; where a sample
    says that they do not, the vectors of what is found are fetched, too.
    """

    def __init__(self, client: ChromaClient, name: str) -> None:
        self._client, self.name = client, name
        self._even = (False, 0.0)  # whether vectors have length 1, and until when that is taken for true

    async def nearest(self, vector: Vector, limit: int, where: Where | None = None) -> list[Record]:
        try:
            collection = await self._collection(vector)
            return await self._found(collection.space, vector, limit, where)
        except NoSuchCollection:
            return []

    async def count(self) -> int:
        try:
            return await self._client.count(self.name)
        except NoSuchCollection:
            return 0

    async def ping(self) -> None:
        await self._client.heartbeat()

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _collection(self, vector: Vector) -> ChromaCollection:
        """As it is known to be; one that may have got another size since is looked at again."""
        collection = await self._client.collection(self.name)
        if collection.dimensions != len(vector):
            collection = await self._client.collection(self.name, anew=True)
            self._check(collection, vector)
        return collection

    def _check(self, collection: ChromaCollection, vector: Vector) -> None:
        if collection.dimensions is not None and collection.dimensions != len(vector):
            raise other_size(f"The collection {self.name}", collection.dimensions, len(vector))

    async def _found(self, space: str, vector: Vector, limit: int, where: Where | None) -> list[Record]:
        even = space == COSINE or await self._is_even()
        found = await self._queried(vector, limit, where, with_vectors=not even)
        if even and any(one.distance > FARTHEST.get(space, math.inf) for one in found):
            self._even = False, time.monotonic() + SAMPLED_S
            found = await self._queried(vector, limit, where, with_vectors=True)
        records = [_record(one, _distance(one, space, vector)) for one in found]
        return sorted(records, key=lambda record: record.distance)

    async def _queried(
        self, vector: Vector, limit: int, where: Where | None, *, with_vectors: bool
    ) -> list[ChromaHit]:
        include = ["documents", "metadatas", "distances", *(["embeddings"] if with_vectors else [])]
        try:
            return await self._client.query(self.name, vector, n_results=limit, where=where, include=include)
        except StoreRefused:
            self._check(await self._client.collection(self.name, anew=True), vector)  # made anew meanwhile
            raise

    async def _is_even(self) -> bool:
        even, until = self._even
        if time.monotonic() < until:
            return even
        sample = await self._client.get(self.name, limit=SAMPLE, include=["embeddings"])
        even = all(one.embedding is not None and _is_one(one.embedding) for one in sample)
        self._even = even, time.monotonic() + SAMPLED_S
        return even


def _record(found: ChromaHit, distance: float) -> Record:
    metadata = found.metadata if isinstance(found.metadata, Mapping) else {}
    return Record(found.id, found.document if isinstance(found.document, str) else "", metadata, distance)


def _distance(found: ChromaHit, space: str, vector: Vector) -> float:
    """Cosine distance."""
    if found.embedding is not None:
        return _between(found.embedding, vector)
    told = found.distance / 2 if space == EUCLIDEAN else found.distance
    return min(max(told, 0.0), 2.0) if math.isfinite(told) else UNRELATED


def _between(embedding: Sequence[float | None], vector: Vector) -> float:
    own = np.asarray(embedding, dtype=np.float64)
    lengths = float(np.linalg.norm(own) * np.linalg.norm(vector))
    cosine = float(own @ vector) / lengths if lengths else math.nan
    return min(max(1 - cosine, 0.0), 2.0) if math.isfinite(cosine) else UNRELATED


def _is_one(embedding: Sequence[Any]) -> bool:
    return abs(float(np.linalg.norm(np.asarray(embedding, dtype=np.float64))) - 1) < NEARLY_ONE
