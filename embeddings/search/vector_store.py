"""The nearest chunks by a vector store outside PostgreSQL, and the SQL that holds them to the truth."""

import asyncio
import logging
from collections.abc import Sequence
from threading import Lock
from typing import Final
from uuid import UUID

import numpy as np
from django.conf import settings
from prometheus_client import Counter
from psycopg.sql import SQL, Composable, Composed, Literal

from documents.library import collection_states
from embeddings.external.configuration import is_external, store_name
from embeddings.indexing.kinds import exact_search
from embeddings.protocols import VectorStore
from embeddings.types import Point, Space, Vector
from knowlex.base.errors import VectorStoreFailed, VectorStoreTimeout
from knowlex.db.pool import fetch_all
from knowlex.db.threads import execute, release_connection, with_retries
from knowlex.runtime.components import component, kept
from knowlex.runtime.metrics import REGISTRY

log = logging.getLogger(__name__)

MORE = 16  # asked for beyond what is needed: the store may still hold what is gone
SCANNED = 1_000_000  # vectors; where the store knows too few, so many are compared in PostgreSQL at most
MOST_BYTES = 2 << 30  # of vectors in one process; a collection without room is compared in PostgreSQL
_failures: Final = Counter(
    "knowlex_vector_store_failures", "Searches that a vector store failed.", ["error"], registry=REGISTRY
)

# What the store says of distance and collection counts for nothing: both are looked up here. Where too few of
# its chunks are there, because they are gone or it has not got the others yet, all are looked at instead.
_CANDIDATES = SQL("""
    WITH given AS MATERIALIZED (
        SELECT e.chunk_id, e.vector <=> %(vector)s::vector AS distance
        FROM unnest(%(near)s::uuid[]) AS near (chunk_id)
        JOIN embeddings_embedding e ON e.chunk_id = near.chunk_id AND e.model_id = {model}
        WHERE true{where} ORDER BY distance, e.chunk_id LIMIT %(limit)s
    ), found AS (
        SELECT CASE WHEN count(*) >= %(limit)s THEN true ELSE EXISTS (
            SELECT FROM embeddings_embedding e WHERE e.model_id = {model}{collections}
            OFFSET {scanned} LIMIT 1
        ) END AS enough FROM given
    )
    (SELECT chunk_id, distance FROM given WHERE (SELECT enough FROM found) ORDER BY distance, chunk_id)
    UNION ALL SELECT chunk_id, distance FROM ({exact}) everything WHERE NOT (SELECT enough FROM found)
""")
_STATES = f"""
    SELECT c.id, {collection_states.STATE} AS state FROM documents_collection c WHERE c.id = ANY(%s)
"""  # noqa: S608 - constants only
_VECTORS = """
    SELECT string_agg(uuid_send(chunk_id) || vector_send(vector), '') FROM embeddings_embedding
    WHERE model_id = %s AND collection_id = %s AND vector_dims(vector) = %s
"""
_COUNT = "SELECT count(*) FROM embeddings_embedding WHERE model_id = %s AND collection_id = %s"
_NEVER_READ = object()


async def ping_store() -> bool:
    """Return true if the vector store, where there is one, can be searched. Raises VectorStoreFailed."""
    if is_external():
        await component("VECTOR_STORE", VectorStore).ping()
    return True


def candidate_search(model_id: int, where: Composable, collections: Composable) -> Composed:
    """Return a SELECT of (chunk_id, distance), closest first; its parameters are near (ids), vector, limit.

    where: the whole condition on e. collections: the part of it that says which collections are read.
    """
    return _CANDIDATES.format(
        model=Literal(model_id),
        where=where,
        collections=collections,
        scanned=Literal(SCANNED),
        exact=exact_search(model_id, where),
    )


async def fetch_nearest(
    space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
) -> list[UUID] | None:
    """Return at most `limit` chunks, each once, closest first, as the store says; None where it has no room.

    No database connection is held meanwhile. Raises VectorStoreFailed, VectorStoreTimeout, and where vectors
    are kept in this process DatabaseUnavailable.
    """
    store = component("VECTOR_STORE", VectorStore)
    try:
        async with asyncio.timeout(settings.ANSWER_TIMEOUT_S):
            if store_name() == "memory":
                loader = kept(("VECTOR_STORE", "loader"), lambda: _MemoryLoader(store))
                if not await loader.load(space, collections):
                    return None
            found = await store.nearest(space, vector, collections=collections, limit=limit)
    except TimeoutError as exc:
        raise _count_failure(VectorStoreTimeout("The vector store did not answer in time.")) from exc
    except VectorStoreFailed as exc:
        raise _count_failure(exc) from exc.__cause__
    return list(dict.fromkeys(one.chunk_id for one in found))


def _count_failure(error: VectorStoreFailed) -> VectorStoreFailed:
    _failures.labels(type(error).__name__).inc()
    log.error("vector store failed", extra={"error": type(error).__name__, "reason": error.message})
    return error


class _MemoryLoader:
    """Fills a store in this process with the collections that are searched, as PostgreSQL has them.

    A collection whose state is another than when it was read is read again as a whole. One that would take
    the vectors of all beyond MOST_BYTES is left out.
    """

    def __init__(self, store: VectorStore) -> None:
        self._store, self._lock = store, Lock()
        self._states: dict[tuple[Space, UUID], object] = {}  # of the collections that were read
        self._bytes: dict[tuple[Space, UUID], int] = {}  # of their vectors
        self._without_room: set[tuple[Space, UUID]] = set()

    async def load(self, space: Space, collections: Sequence[UUID]) -> bool:
        """Return whether all of them are held now. Raises DatabaseUnavailable."""
        states = {row["id"]: row["state"] for row in await fetch_all(_STATES, [list(collections)])}
        for collection_id, state in states.items():
            if self._states.get((space, collection_id), _NEVER_READ) != state:
                await asyncio.to_thread(self._load, space, collection_id)
        return not any((space, collection_id) in self._without_room for collection_id in states)

    def _load(self, space: Space, collection_id: UUID) -> None:
        """Several questions may wait for the same collection: those that come later find it read."""
        try:
            with self._lock:
                rows = with_retries(lambda: execute(_STATES, [[collection_id]]))
                state = rows[0][1] if rows else None
                if self._states.get((space, collection_id), _NEVER_READ) != state:
                    points = (
                        _read_points(space, collection_id) if self._has_room(space, collection_id) else []
                    )
                    asyncio.run(self._replace(space, collection_id, points))
                    self._states[space, collection_id] = state
        finally:
            release_connection()

    def _has_room(self, space: Space, collection_id: UUID) -> bool:
        key = (space, collection_id)
        vectors = with_retries(lambda: execute(_COUNT, [space.model_id, collection_id]))[0][0]
        self._bytes[key] = 4 * space.dimensions * vectors
        if sum(self._bytes.values()) <= MOST_BYTES:
            self._without_room.discard(key)
            return True
        report = {"collection": str(collection_id), "vectors": vectors, "limit_mb": MOST_BYTES >> 20}
        log.warning("no room in memory for a collection's vectors; its searches are exact", extra=report)
        self._bytes[key] = 0
        self._without_room.add(key)
        return False

    async def _replace(self, space: Space, collection_id: UUID, points: Sequence[Point]) -> None:
        known = {point.chunk_id for point in points}
        async for page in self._store.list_chunks(space):
            gone = [one.chunk_id for one in page if one.collection_id == str(collection_id)]
            await self._store.remove(space, [chunk_id for chunk_id in gone if chunk_id not in known])
        await self._store.put(space, points)


def _read_points(space: Space, collection_id: UUID) -> list[Point]:
    """Return the collection's vectors with what a search needs; nothing else is read out of this store."""
    parameters = [space.model_id, collection_id, space.dimensions]
    ((content,),) = with_retries(lambda: execute(_VECTORS, parameters))
    row = np.dtype(
        [("id", "V16"), ("dimensions", ">i2"), ("unused", ">i2"), ("values", ">f4", (space.dimensions,))]
    )
    found = np.frombuffer(bytes(content or b""), dtype=row)
    vectors = found["values"].astype(np.float32)
    ids = [UUID(bytes=one.tobytes()) for one in found["id"]]
    return [
        Point(chunk_id, vector, collection_id, document_id=chunk_id, chunk_hash="", chunk_index=0)
        for chunk_id, vector in zip(ids, vectors, strict=True)
    ]
