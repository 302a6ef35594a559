"""The vectors of the collections that this process searches, kept in its memory as PostgreSQL has them.

A question brings its collections up to date before it is compared: where the state of one is another than
when it was read, what has come and gone since is told by its chunks' ids and times, and only that is read.
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np

from documents.library import collection_states
from embeddings.protocols import VectorStore
from embeddings.types import NearestChunk, Point, Space, Vector
from knowlex.db.pool import fetch_all
from knowlex.db.threads import execute, release_connection, with_retries
from knowlex.runtime.threads import RestingThreads

STAMPS = 50_000  # ids and times in one statement: 1.2 MB
PAGE_BYTES = 4 << 20
_STATE = f"""
    SELECT {collection_states.STATE} FROM documents_collection c WHERE c.id = %s
"""  # noqa: S608 - constants only
_STAMPS = """
    SELECT string_agg(uuid_send(chunk_id) || int8send((extract(epoch FROM created_at) * 1000000)::bigint), '')
    FROM (
        SELECT chunk_id, created_at FROM embeddings_embedding
        WHERE model_id = %s AND collection_id = %s AND chunk_id > %s ORDER BY chunk_id LIMIT %s
    ) page
"""
_VECTORS = """
    SELECT string_agg(uuid_send(chunk_id) || vector_send(vector), '') FROM embeddings_embedding
    WHERE model_id = %s AND collection_id = %s AND chunk_id = ANY(%s) AND vector_dims(vector) = %s
"""
_STAMPED = np.dtype([("id", "V16"), ("stamp", ">i8")])
_FIRST = UUID(int=0)


def read_state(collection_id: UUID) -> object:
    """Of the collection; None before its first change, and of one that is gone."""
    rows = with_retries(lambda: execute(_STATE, [collection_id]))
    return rows[0][0] if rows else None


def read_stamps(model_id: int, collection_id: UUID) -> dict[bytes, int]:
    """When each chunk's vector was made (microseconds), by the id's 16 bytes. Raises DatabaseUnavailable."""
    found: dict[bytes, int] = {}
    last = _FIRST
    while True:
        page = _array(_STAMPS, [model_id, collection_id, last, STAMPS], _STAMPED)
        ids = [one.tobytes() for one in page["id"]]
        found |= zip(ids, page["stamp"].tolist(), strict=True)
        if len(ids) < STAMPS:
            return found
        last = UUID(bytes=max(ids))


def read_vectors(
    model_id: int, collection_id: UUID, ids: Sequence[bytes], dimensions: int
) -> Iterator[tuple[bytes, Vector]]:
    """Of those that are still there, in any order. Raises DatabaseUnavailable."""
    row = np.dtype(
        [("id", "V16"), ("dimensions", ">i2"), ("unused", ">i2"), ("values", ">f4", (dimensions,))]
    )
    chunk_ids = [UUID(bytes=one) for one in ids]
    found = _array(_VECTORS, [model_id, collection_id, chunk_ids, dimensions], row)
    for one in found:
        yield one["id"].tobytes(), one["values"].astype(np.float32)


def page_size(dimensions: int) -> int:
    return max(1, PAGE_BYTES // (4 * max(1, dimensions)))


def _array(sql: str, params: Sequence[Any], row: np.dtype[Any]) -> Any:
    ((content,),) = with_retries(lambda: execute(sql, params))
    return np.frombuffer(bytes(content or b""), dtype=row)


log = logging.getLogger(__name__)

MOST_BYTES = 2 << 30  # of vectors, in one process; a collection that has no room is compared in PostgreSQL
UNUSED_S = 3600.0  # then a collection makes room
LOADERS = 4  # collections at once
_STATES = f"""
    SELECT c.id, {collection_states.STATE} AS state FROM documents_collection c WHERE c.id = ANY(%s)
"""  # noqa: S608 - constants only

Key: TypeAlias = tuple[Space, UUID]  # of a model, and a collection


@dataclass(slots=True)
class _Held:
    """Of one collection. stamps: the held chunks' times by their ids, as `mirrored_rows` tells them.

    state: as it was before they were read; "" before the first time. fits: whether there is room for it.
    """

    state: object = ""
    stamps: dict[bytes, int] = field(default_factory=dict)
    fits: bool = True
    used_at: float = 0.0
    loading: Lock = field(default_factory=Lock)


class Mirror:
    """store: in this process. Safe to use from several loops and threads."""

    def __init__(self, store: VectorStore) -> None:
        self._store, self._lock = store, Lock()
        self._held: dict[Key, _Held] = {}
        self._waiting: dict[Key, Future[None]] = {}  # for a loader; they read what is committed by then
        self._loaders = RestingThreads(LOADERS, "vector mirror")

    async def nearest(
        self, space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
    ) -> list[NearestChunk] | None:
        """As a store finds them; None where there is no room for all of them. Raises DatabaseUnavailable."""
        rows = await fetch_all(_STATES, [list(collections)])
        states = {(space, row["id"]): row["state"] for row in rows}
        await self._bring_up_to_date(states)
        if not all(self._of(key).fits for key in states):
            return None
        return await self._store.nearest(space, vector, collections=collections, limit=limit)

    async def _bring_up_to_date(self, states: dict[Key, object]) -> None:
        due = [key for key, state in states.items() if self._used(key).state != state]
        loads = (asyncio.shield(asyncio.wrap_future(self._load_soon(key))) for key in due)
        await asyncio.gather(*loads)

    def _used(self, key: Key) -> _Held:
        held = self._of(key)
        held.used_at = time.monotonic()
        return held

    def _of(self, key: Key) -> _Held:
        with self._lock:
            return self._held.setdefault(key, _Held())

    def _load_soon(self, key: Key) -> "Future[None]":
        """Those who come before it begins share a load, and one who comes later finds it done already."""
        with self._lock:
            if key not in self._waiting:
                self._waiting[key] = self._loaders.submit(self._load, key)
            return self._waiting[key]

    def _load(self, key: Key) -> None:
        held = self._of(key)
        try:
            with held.loading:
                with self._lock:
                    self._waiting.pop(key, None)
                state = read_state(key[1])
                if state != held.state:
                    self._take_in(key, held)
                    held.state = state  # as it was before: what came meanwhile is read the next time
        finally:
            release_connection()

    def _take_in(self, key: Key, held: _Held) -> None:
        (space, collection_id), started = key, time.monotonic()
        stamps = read_stamps(space.model_id, collection_id)
        self._let_go(space, [chunk_id for chunk_id in held.stamps if chunk_id not in stamps], held)
        changed = [chunk_id for chunk_id, stamp in stamps.items() if held.stamps.get(chunk_id) != stamp]
        held.fits = self._make_room(key, len(stamps))
        if not held.fits:
            self._let_go(space, list(held.stamps), held)
            report = {"collection": str(collection_id), "vectors": len(stamps), "limit_mb": MOST_BYTES >> 20}
            log.warning("no room in memory for a collection's vectors; its searches are exact", extra=report)
            return
        for page in _pages(changed, page_size(space.dimensions)):
            self._put(key, page)
            held.stamps |= {chunk_id: stamps[chunk_id] for chunk_id in page}
        self._report(key, len(changed), started)

    def _put(self, key: Key, page: Sequence[bytes]) -> None:
        space, collection_id = key
        found = read_vectors(space.model_id, collection_id, page, space.dimensions)
        points = [_point(chunk_id, vector, collection_id) for chunk_id, vector in found]
        asyncio.run(self._store.put(space, points))

    def _let_go(self, space: Space, chunk_ids: Sequence[bytes], held: _Held) -> None:
        if chunk_ids:
            asyncio.run(self._store.remove(space, [UUID(bytes=one) for one in chunk_ids]))
        for one in chunk_ids:
            del held.stamps[one]

    def _make_room(self, key: Key, vectors: int) -> bool:
        """By those that nobody has searched for long; whether the collection finds room then."""
        with self._lock:
            others = [(space, held) for (space, one), held in self._held.items() if (space, one) != key]
        for space, held in others:
            self._forget_unused(space, held)
        taken = sum(_row_bytes(space) * len(held.stamps) for space, held in others)
        return taken + vectors * _row_bytes(key[0]) <= MOST_BYTES

    def _forget_unused(self, space: Space, held: _Held) -> None:
        """Not one that is being read just now: its loader may be waiting for this one."""
        if time.monotonic() - held.used_at > UNUSED_S and held.loading.acquire(blocking=False):
            try:
                held.state = ""
                self._let_go(space, list(held.stamps), held)
            finally:
                held.loading.release()

    def _report(self, key: Key, changed: int, started: float) -> None:
        with self._lock:
            taken = sum(_row_bytes(space) * len(held.stamps) for (space, _), held in self._held.items())
        report = {
            "collection": str(key[1]),
            "read": changed,
            "held": len(self._of(key).stamps),
            "memory_mb": taken >> 20,
            "limit_mb": MOST_BYTES >> 20,
            "seconds": round(time.monotonic() - started, 3),
        }
        log.info("vectors in memory brought up to date", extra=report)


def _row_bytes(space: Space) -> int:
    return 4 * space.dimensions


def _pages(ids: Iterable[bytes], size: int) -> Iterable[list[bytes]]:
    rest = iter(ids)
    while page := list(islice(rest, size)):
        yield page


def _point(chunk_id: bytes, vector: Vector, collection_id: UUID) -> Point:
    """With what a search needs; nothing else is ever read out of this store."""
    own = UUID(bytes=chunk_id)
    return Point(own, vector, collection_id, document_id=own, chunk_hash="", chunk_index=0)
