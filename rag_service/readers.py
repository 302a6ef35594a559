"""Collections that somebody else filled: records in Chroma, or texts in memory, nearest to a vector."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Protocol, TypeAlias

import numpy as np

from embeddings.stores.chroma_client import ChromaClient, ChromaHit, NoSuchCollection
from embeddings.stores.server import StoreRefused
from embeddings.types import Vector
from knowlex.base.errors import RetrievalFailed

# A condition on metadata in Chroma's notation, one key in one mapping: {"page_number": 5},
# {"source_type": {"$in": ["pdf", "docx"]}}, {"$and": [..., ...]}, {"$or": [..., ...]}.
Where: TypeAlias = Mapping[str, Any]

COSINE, EUCLIDEAN = "cosine", "l2"
UNRELATED = 1.0  # cosine distance of what has no direction
SAMPLE, SAMPLED_S = 100, 60.0  # records by whose vectors all are judged, and for how long
NEARLY_ONE = 1e-3
USUAL_SIZE = 384  # dimensions of the vectors of all-MiniLM-L6-v2


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as its keeper has it; nothing of it is to be trusted.

    id: the keeper's own. text: "" where there is none. distance: cosine distance to the vector searched with,
    0 to 2, whatever the keeper measures in.
    """

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    distance: float = 0.0


class CollectionReader(Protocol):
    """Read access to one collection, from any event loop. Methods raise VectorStoreFailed when tries are
    used up.
    """

    async def nearest(self, vector: Vector, limit: int, where: Where | None = None) -> list[StoredRecord]:
        """Return at most `limit` records that pass, closest first; [] while there is no such collection.

        Raises RetrievalFailed if the records' vectors have another number of dimensions than this one.
        """
        ...

    async def count(self) -> int:
        """Count all records; 0 while there is no such collection, or where nobody says how many there are."""
        ...

    async def ping(self) -> None:
        """Try once whether it can be reached. A collection that is not there is no fault."""
        ...

    async def aclose(self) -> None:
        """Close this event loop's connections; the next call opens new ones."""
        ...


class ChromaReader:
    """A CollectionReader of the collection `name`, whatever space it measures in.

    Squared Euclidean distances and inner products give the cosine where vectors have length 1; where a sample
    says that they do not, the vectors of what is found are fetched, too, which takes four times as long.
    """

    def __init__(self, client: ChromaClient, name: str) -> None:
        self._client, self.name = client, name
        self._normalized, self._sampled_until = False, 0.0

    async def nearest(self, vector: Vector, limit: int, where: Where | None = None) -> list[StoredRecord]:
        try:
            space = await self._space(vector)
            hits = await self._query(space, vector, limit, where)
        except NoSuchCollection:
            return []
        records = [_to_record(hit, _cosine_distance(hit, space, vector)) for hit in hits]
        return sorted(records, key=attrgetter("distance"))

    async def count(self) -> int:
        try:
            return await self._client.count(self.name)
        except (NoSuchCollection, StoreRefused):
            return 0

    async def ping(self) -> None:
        """A server that knows the route of questions alone is one if it finds something."""
        try:
            await self._client.heartbeat()
        except StoreRefused:
            if not await self.nearest(np.zeros(USUAL_SIZE, np.float32), 1):
                raise

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _space(self, vector: Vector) -> str:
        """Look a collection up again that may have got another size since."""
        collection = await self._client.collection(self.name)
        if collection.dimensions != len(vector):
            collection = await self._client.collection(self.name, anew=True)
            self._check_size(collection.dimensions, vector)
        return collection.space

    def _check_size(self, dimensions: int | None, vector: Vector) -> None:
        if dimensions is not None and dimensions != len(vector):
            raise _wrong_size(f"The collection {self.name}", dimensions, len(vector))

    async def _query(self, space: str, vector: Vector, limit: int, where: Where | None) -> list[ChromaHit]:
        include = ["documents", "metadatas", "distances"]
        if space != COSINE and not await self._is_normalized():
            include.append("embeddings")
        try:
            return await self._client.query(self.name, vector, n_results=limit, where=where, include=include)
        except StoreRefused:  # it may have been replaced by one of another size
            collection = await self._client.collection(self.name, anew=True)
            self._check_size(collection.dimensions, vector)
            raise

    async def _is_normalized(self) -> bool:
        if time.monotonic() >= self._sampled_until:
            sample = await self._client.get(self.name, limit=SAMPLE, include=["embeddings"])
            self._normalized = all(_has_length_one(record.embedding) for record in sample)
            self._sampled_until = time.monotonic() + SAMPLED_S
        return self._normalized


class MemoryReader:
    """A CollectionReader of some thousands of records at hand; exact, and nothing is ever added.

    vectors: one for each record, all of one length.
    """

    def __init__(self, records: Sequence[StoredRecord], vectors: Sequence[Vector]) -> None:
        self._records = tuple(records)
        matrix = np.array([*vectors], dtype=np.float32).reshape(len(self._records), -1 if vectors else 0)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        self._vectors = matrix / np.where(lengths > 0, lengths, 1)

    async def nearest(self, vector: Vector, limit: int, where: Where | None = None) -> list[StoredRecord]:
        if not self._records:
            return []
        if len(vector) != self._vectors.shape[1]:
            raise _wrong_size("The collection of texts", self._vectors.shape[1], len(vector))
        distances = np.clip(1 - self._vectors @ (vector / np.linalg.norm(vector)), 0.0, 2.0)
        records: list[StoredRecord] = []
        for index in np.argsort(distances, kind="stable").tolist():
            if len(records) == limit:
                break
            if passes(self._records[index].metadata, where):
                records.append(replace(self._records[index], distance=float(distances[index])))
        return records

    async def count(self) -> int:
        return len(self._records)

    async def ping(self) -> None:
        """Memory is always there."""

    async def aclose(self) -> None:
        """Nothing is open."""


def require_equal(key: str, value: Any) -> Where:
    """Return the condition that a key has this value, or one of a list of values.

    Stores take lists of one type only: those of several are split.
    """
    if not isinstance(value, list | tuple):
        return {key: value}
    of_type: dict[type, list[Any]] = {}
    for scalar in value:
        of_type.setdefault(type(scalar), []).append(scalar)
    return join_conditions([{key: {"$in": values}} for values in of_type.values()], "$or")


def join_conditions(conditions: Sequence[Where], operator: str = "$and") -> Where:
    """Stores refuse to join fewer than two. conditions: one at least."""
    return {operator: [*conditions]} if len(conditions) > 1 else conditions[0]


def passes(metadata: Mapping[str, Any], where: Where | None) -> bool:
    """Decide as Chroma does: numbers equal numbers (5 is 5.0), never strings or booleans."""
    for key, condition in (where or {}).items():
        if key == "$and":
            passed = all(passes(metadata, part) for part in condition)
        elif key == "$or":
            passed = any(passes(metadata, part) for part in condition)
        else:
            values = condition["$in"] if isinstance(condition, Mapping) else [condition]
            passed = any(_is_equal(metadata.get(key), value) for value in values)
        if not passed:
            return False
    return True


def _is_equal(stored: Any, value: Any) -> bool:
    if _is_number(stored) and _is_number(value):
        return bool(stored == value)
    return type(stored) is type(value) and bool(stored == value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _to_record(hit: ChromaHit, distance: float) -> StoredRecord:
    metadata = hit.metadata if isinstance(hit.metadata, Mapping) else {}
    return StoredRecord(hit.id, hit.document if isinstance(hit.document, str) else "", metadata, distance)


def _cosine_distance(hit: ChromaHit, space: str, vector: Vector) -> float:
    if hit.embedding is not None:
        own = np.asarray(hit.embedding, dtype=np.float64)
        lengths = float(np.linalg.norm(own) * np.linalg.norm(vector))
        distance = 1 - float(own @ vector) / lengths if lengths else math.nan
    else:
        distance = hit.distance / 2 if space == EUCLIDEAN else hit.distance
    return min(max(distance, 0.0), 2.0) if math.isfinite(distance) else UNRELATED


def _has_length_one(embedding: Sequence[float] | None) -> bool:
    if embedding is None:
        return False
    return abs(float(np.linalg.norm(np.asarray(embedding, dtype=np.float64))) - 1) < NEARLY_ONE


def _wrong_size(name: str, stored: int, searched: int) -> RetrievalFailed:
    return RetrievalFailed(
        f"{name} holds vectors of {stored} dimensions, but the embedding model makes vectors of {searched}:"
        " it must be the model that it was filled with."
    )
