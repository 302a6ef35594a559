"""Qdrant's REST API (servers 1.11 and later): collections of one vector for each point, with a payload."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from embeddings.clients.requests import (
    RETRY,
    TIMEOUT_S,
    NoSuchCollection,
    StoreCaller,
    list_numbers,
    raise_refusal,
    split_batches,
    unreadable_answer,
)
from embeddings.types import Vector
from knowlex.base.retry import Retry
from knowlex.net.json_client import JsonWire, Reply


class Scored(NamedTuple):
    """score: cosine similarity, 1 (same direction) to -1."""

    id: str
    score: float
    payload: Mapping[str, Any]


class Stored(NamedTuple):
    id: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class QdrantCollection:
    """dimensions, distance: 0 and "" for one whose points have several vectors, or none. indexed: the fields
    of payloads that have an index.
    """

    dimensions: int
    distance: str
    indexed: frozenset[str]

    @classmethod
    def of(cls, body: Any) -> "QdrantCollection":
        try:
            found = body["result"]
            vectors = found["config"]["params"].get("vectors") or {}
            indexed = frozenset(found.get("payload_schema") or {})
            return cls(int(vectors.get("size", 0)), str(vectors.get("distance", "")), indexed)
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise unreadable_answer(exc) from exc


def result_of(body: Any, name: str) -> Any:
    try:
        return body["result"][name]
    except (KeyError, TypeError) as exc:
        raise unreadable_answer(exc) from exc


def scored_in(body: Any) -> list[Scored]:
    points = result_of(body, "points")
    try:
        return [Scored(str(one["id"]), float(one["score"]), one.get("payload") or {}) for one in points]
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise unreadable_answer(exc) from exc


def page_in(body: Any) -> tuple[list[Stored], Any]:
    """The points, and where the next page begins; None after the last one."""
    points = result_of(body, "points")
    try:
        page = [Stored(str(one["id"]), one.get("payload") or {}) for one in points]
    except (AttributeError, KeyError, TypeError) as exc:
        raise unreadable_answer(exc) from exc
    return page, body["result"].get("next_page_offset")


PAGE = 500
MISSING, CONFLICT = 404, 409
Conditions = Mapping[str, Any]

__all__ = ["NoSuchCollection", "QdrantClient", "QdrantCollection", "Scored", "Stored"]


class QdrantClient:
    """One server. Every method raises VectorStoreFailed or VectorStoreTimeout when tries are used up, and
    those that name a collection NoSuchCollection unless they say otherwise.

    What is written is there to be found when the call returns. Safe to use from several loops and threads.
    """

    def __init__(
        self, url: str, *, api_key: str = "", timeout_s: float = TIMEOUT_S, retry: Retry = RETRY
    ) -> None:
        wire = JsonWire(url, headers={"api-key": api_key} if api_key else {})
        self._caller = StoreCaller(wire, timeout_s=timeout_s, retry=retry)

    async def ping(self) -> None:
        """Returns if the server answers and takes the key, without another try."""
        reply = await self._caller.call("GET", "/collections", once=True)
        if not reply.ok:
            raise_refusal(reply)

    async def collection(self, name: str) -> QdrantCollection:
        return QdrantCollection.of((await self._call("GET", name)).body)

    async def create_collection(self, name: str, *, dimensions: int, hnsw: Conditions | None = None) -> None:
        """With cosine distance. One of this name that is there stays as it is; never NoSuchCollection."""
        body: dict[str, Any] = {"vectors": {"size": dimensions, "distance": "Cosine"}}
        if hnsw:
            body["hnsw_config"] = dict(hnsw)
        reply = await self._caller.call("PUT", _path(name), body)
        if not reply.ok and reply.status != CONFLICT:
            raise_refusal(reply, "to make a collection")

    async def create_index(self, name: str, field: str, schema: Conditions | str) -> None:
        """Of the payload's field; nothing happens if it is there."""
        await self._call("PUT", name, "/index?wait=true", {"field_name": field, "field_schema": schema})

    async def delete_collection(self, name: str) -> None:
        """Whether it is there or not."""
        reply = await self._caller.call("DELETE", _path(name))
        if not reply.ok and reply.status != MISSING:
            raise_refusal(reply)

    async def count(self, name: str) -> int:
        reply = await self._call("POST", name, "/points/count", {"exact": True})
        return int(result_of(reply.body, "count"))

    async def query(
        self,
        name: str,
        vector: Vector | Sequence[float],
        *,
        limit: int,
        conditions: Conditions | None = None,
        params: Conditions | None = None,
        payload: Sequence[str] = (),
    ) -> list[Scored]:
        """Nearest first. limit: at least 1. payload: the fields to be told."""
        body: dict[str, Any] = {
            "query": list_numbers(vector),
            "limit": limit,
            "with_payload": list(payload) or False,
        }
        body |= {"filter": conditions} if conditions else {}
        body |= {"params": params} if params else {}
        return scored_in((await self._call("POST", name, "/points/query", body)).body)

    async def pages(
        self, name: str, *, payload: Sequence[str], size: int = PAGE
    ) -> AsyncIterator[list[Stored]]:
        """All points, in the order of their ids. payload: the fields to be told."""
        body: dict[str, Any] = {"limit": size, "with_payload": list(payload) or False, "with_vector": False}
        while True:
            reply = await self._call("POST", name, "/points/scroll", body)
            page, following = page_in(reply.body)
            if page:
                yield page
            if following is None:
                return
            body["offset"] = following

    async def upsert(
        self, name: str, *, ids: Sequence[str], vectors: Sequence[Vector], payloads: Sequence[Conditions]
    ) -> None:
        """Whole points in place of what is there; as many requests as the server's limits ask for."""
        for part in split_batches(vectors):
            points = _points(ids[part], vectors[part], payloads[part])
            await self._call("PUT", name, "/points?wait=true", {"points": points})

    async def delete(self, name: str, ids: Sequence[str]) -> None:
        """Those that are not there are none to complain of."""
        for start in range(0, len(ids), PAGE):
            some = list(ids[start : start + PAGE])
            await self._call("POST", name, "/points/delete?wait=true", {"points": some})

    async def aclose(self) -> None:
        """Close this event loop's connections; the next request opens new ones."""
        await self._caller.aclose()

    async def _call(self, method: str, name: str, rest: str = "", body: Any = None) -> Reply:
        reply = await self._caller.call(method, _path(name) + rest, body)
        if reply.status == MISSING:
            raise NoSuchCollection
        if not reply.ok:
            raise_refusal(reply)
        return reply


def _path(name: str) -> str:
    return f"/collections/{quote(name, safe='')}"


def _points(
    ids: Iterable[str], vectors: Iterable[Vector], payloads: Iterable[Conditions]
) -> list[dict[str, Any]]:
    together = zip(ids, vectors, payloads, strict=True)
    return [{"id": one, "vector": vector.tolist(), "payload": dict(told)} for one, vector, told in together]
