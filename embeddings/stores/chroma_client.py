"""A client of Chroma's REST API, version 2 (servers 1.x); it reads servers of version 1 (0.x), too."""

import base64
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

import numpy as np

from embeddings.stores.server import (
    CONFLICT,
    MISSING,
    RETRY,
    TIMEOUT_S,
    NoSuchCollection,
    StoreCaller,
    StoreRefused,
    check_reply,
    raise_refusal,
    split_batches,
    unreadable_answer,
)
from embeddings.types import Vector
from knowlex.base.retry import Retry
from knowlex.net.json_client import JsonWire, Reply

API, OLDER = "/api/v2", "/api/v1"
PAGE = 300  # records; Chroma's own cloud gives no more at a time
RECORDS_ANY_SERVER_TAKES = 100
NO_ROUTE = frozenset({404, 405, 410, 501})
RECORD_COLUMNS = ("documents", "metadatas", "embeddings")
HIT_COLUMNS = ("ids", "distances", *RECORD_COLUMNS)
Where = Mapping[str, Any]
Metadata = Mapping[str, Any]

__all__ = ["ChromaClient", "ChromaCollection", "ChromaHit", "ChromaRecord", "NoSuchCollection"]


class ChromaHit(NamedTuple):
    """distance: as the collection's space has it (cosine: 0 to 2); infinite where the server cannot tell one.
    document, metadata, embedding: where they were asked for and are there.
    """

    id: str
    distance: float
    document: str | None = None
    metadata: Mapping[str, Any] | None = None
    embedding: list[float] | None = None


class ChromaRecord(NamedTuple):
    id: str
    document: str | None = None
    metadata: Mapping[str, Any] | None = None
    embedding: list[float] | None = None


@dataclass(frozen=True, slots=True)
class ChromaCollection:
    """dimensions: None before anything was stored, or not known. space: cosine, l2 or ip. path: of the
    server's routes for it."""

    id: str
    name: str
    dimensions: int | None
    space: str
    metadata: Mapping[str, Any]
    path: str


class _ServerLimits(NamedTuple):
    """What a server takes in one request. base64: it takes vectors as text, half as long."""

    records: int
    base64: bool


class ChromaClient:
    """One server, tenant and database. Every method raises VectorStoreFailed or VectorStoreTimeout when tries
    are used up, and those that name a collection NoSuchCollection unless they say otherwise.

    url: with or without a path before /api/v2. older: a server that speaks version 1 alone is read, too, be a
    collection known there by its id or by its name. Safe to use from several event loops and threads.
    """

    def __init__(
        self,
        url: str,
        *,
        tenant: str = "default_tenant",
        database: str = "default_database",
        api_key: str = "",
        timeout_s: float = TIMEOUT_S,
        retry: Retry = RETRY,
        older: bool = False,
    ) -> None:
        wire = JsonWire(_base_url(url), headers=_key_headers(url, api_key))
        self._caller = StoreCaller(wire, timeout_s=timeout_s, retry=retry)
        self._home = (
            f"{API}/tenants/{quote(tenant, safe='')}/databases/{quote(database, safe='')}/collections"
        )
        self._older = older
        self._of_tenant = "?" + urlencode({"tenant": tenant, "database": database})
        self._collections: dict[str, ChromaCollection] = {}
        self._limits: _ServerLimits | None = None

    async def heartbeat(self) -> None:
        """Return if the server answers, without another try."""
        reply = await self._caller.call("GET", f"{API}/heartbeat", once=True)
        if self._older and _is_unknown_route(reply):
            reply = await self._caller.call("GET", f"{OLDER}/heartbeat", once=True)
        if not reply.ok:
            raise_refusal(reply)

    async def collection(self, name: str, *, anew: bool = False) -> ChromaCollection:
        """Return it as it was when it was first looked up, or as it is now. anew: look it up again."""
        cached = self._collections.get(name)
        return cached if cached and not anew else await self._look_up(name)

    async def create_collection(
        self, name: str, *, configuration: Mapping[str, Any] | None = None
    ) -> ChromaCollection:
        """Return the new one, or the one of this name that is there. Never raises NoSuchCollection."""
        body = {"name": name, "get_or_create": True, "configuration": configuration}
        reply = await self._caller.call("POST", self._home, body)
        if not reply.ok and reply.status != CONFLICT:  # two at once
            raise_refusal(reply, "to make a collection: its name, or the tenant or database")
        return self._remember(name, reply.body, self._home) if reply.ok else await self._look_up(name)

    async def delete_collection(self, name: str) -> None:
        self._collections.pop(name, None)
        check_reply(await self._caller.call("DELETE", f"{self._home}/{quote(name, safe='')}"))

    async def count(self, name: str) -> int:
        count = (await self._call(name, "count", method="GET")).body
        if not isinstance(count, int):
            raise StoreRefused("The vector store does not say how many records there are.")
        return count

    async def query(
        self,
        name: str,
        vector: Vector | Sequence[float],
        *,
        n_results: int,
        where: Where | None = None,
        include: Sequence[str] = ("distances",),
    ) -> list[ChromaHit]:
        """Nearest first. where: Chroma's conditions on metadata. include: distances, documents, metadatas,
        embeddings."""
        body = {
            "query_embeddings": [np.asarray(vector).tolist()],
            "n_results": n_results,
            "include": list(include),
        }
        if where:
            body["where"] = where
        return _parse_hits((await self._call(name, "query", body)).body)

    async def get(
        self,
        name: str,
        *,
        limit: int,
        offset: int = 0,
        include: Sequence[str] = ("metadatas",),
    ) -> list[ChromaRecord]:
        """Return at most `limit` records in the server's order. include: documents, metadatas, embeddings."""
        body = {"limit": limit, "offset": offset, "include": list(include)}
        return _parse_records((await self._call(name, "get", body)).body)

    async def pages(self, name: str) -> AsyncIterator[list[ChromaRecord]]:
        """Yield all records with their metadata, PAGE at a time. What is written meanwhile may be missed."""
        offset = 0
        while page := await self.get(name, limit=PAGE, offset=offset):
            yield page
            offset += len(page)

    async def upsert(
        self,
        name: str,
        *,
        ids: Sequence[str],
        vectors: Sequence[Vector],
        metadatas: Sequence[Metadata | None] | None = None,
        documents: Sequence[str | None] | None = None,
    ) -> None:
        """Send as many requests as the server's limits ask for. metadatas: a None value removes the key."""
        limits = await self._fetch_limits()
        for part in split_batches(vectors, documents, limit=limits.records):
            encode: Callable[[Vector], Any] = _to_base64 if limits.base64 else _to_list
            embeddings = [encode(vector) for vector in vectors[part]]
            body: dict[str, Any] = {"ids": list(ids[part]), "embeddings": embeddings}
            if metadatas is not None:
                body["metadatas"] = list(metadatas[part])
            if documents is not None:
                body["documents"] = list(documents[part])
            await self._call(name, "upsert", body)

    async def delete(self, name: str, ids: Sequence[str]) -> None:
        """Delete these; ids that are not there are ignored."""
        limit = (await self._fetch_limits()).records
        for start in range(0, len(ids), limit):
            await self._call(name, "delete", {"ids": list(ids[start : start + limit])})

    async def aclose(self) -> None:
        """Close this event loop's connections; the next request opens new ones."""
        await self._caller.aclose()

    async def _call(self, name: str, verb: str, body: Any = None, *, method: str = "POST") -> Reply:
        """Call once more with another id where the collection was made anew since it was looked up."""
        is_cached = name in self._collections
        collection = await self.collection(name)
        reply = await self._caller.call(method, f"{collection.path}/{verb}", body)
        if reply.status == MISSING and is_cached:
            collection = await self._look_up(name)
            reply = await self._caller.call(method, f"{collection.path}/{verb}", body)
        return check_reply(reply)

    async def _look_up(self, name: str) -> ChromaCollection:
        self._collections.pop(name, None)
        home, path = self._home, quote(name, safe="")
        reply = await self._caller.call("GET", f"{home}/{path}")
        if not self._older or not (_is_unknown_route(reply) or (reply.ok and not _tells_collection(reply))):
            return self._remember(name, check_reply(reply).body, home)
        home = f"{OLDER}/collections"
        reply = await self._caller.call("GET", f"{home}/{path}{self._of_tenant}")
        if _tells_collection(reply):
            return self._remember(name, reply.body, home)
        # Such a server tells nothing of its collections, and takes their names for their ids.
        return self._remember(name, {"id": path, "name": name, "metadata": {"hnsw:space": "cosine"}}, home)

    def _remember(self, name: str, body: Any, home: str) -> ChromaCollection:
        collection = self._collections[name] = _parse_collection(body, home)
        return collection

    async def _fetch_limits(self) -> _ServerLimits:
        if self._limits is None:
            self._limits = _parse_limits(await self._caller.call("GET", f"{API}/pre-flight-checks"))
        return self._limits


def _is_unknown_route(reply: Reply) -> bool:
    """Return whether a server knows no such route; one that does says of a collection in its own words
    that it is not there.
    """
    error = reply.body.get("error") if isinstance(reply.body, dict) else None
    return reply.status in NO_ROUTE and not str(error or "").endswith("NotFoundError")


def _tells_collection(reply: Reply) -> bool:
    """Return whether it does; a server may answer any GET with the same."""
    return reply.ok and isinstance(reply.body, dict) and {"id", "name"} <= reply.body.keys()


def _parse_collection(body: Any, home: str) -> ChromaCollection:
    try:
        configuration, metadata = body.get("configuration_json") or {}, body.get("metadata") or {}
        index = configuration.get("hnsw") or configuration.get("spann") or {}
        space = index.get("space") or metadata.get("hnsw:space") or "l2"
        id_, name = str(body["id"]), str(body["name"])
        return ChromaCollection(id_, name, body.get("dimension"), str(space), metadata, f"{home}/{id_}")
    except (AttributeError, KeyError, TypeError) as exc:
        raise unreadable_answer(exc) from exc


def _parse_limits(reply: Reply) -> _ServerLimits:
    """Read the server's limits; a server that does not tell them takes little."""
    try:
        body = reply.body if reply.ok else {}
        records = max(1, int(body.get("max_batch_size", RECORDS_ANY_SERVER_TAKES)))
        return _ServerLimits(records, bool(body.get("supports_base64_encoding")))
    except (AttributeError, TypeError, ValueError) as exc:
        raise unreadable_answer(exc) from exc


def _parse_hits(body: Any) -> list[ChromaHit]:
    """Return the answer to one query vector: each column holds one list for each query."""
    try:
        columns = {name: column[0] for name, column in body.items() if name in HIT_COLUMNS and column}
        ids = columns["ids"]
        distances = [
            math.inf if distance is None else float(distance)
            for distance in columns.get("distances", [0.0] * len(ids))
        ]
        pairs = zip(_parse_records(columns), distances, strict=True)
        return [ChromaHit(record.id, distance, *record[1:]) for record, distance in pairs]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as exc:
        raise unreadable_answer(exc) from exc


def _parse_records(body: Any) -> list[ChromaRecord]:
    """Return one record for each id; a column that was not requested is missing or null."""
    try:
        ids = body["ids"]
        columns = (body.get(name) or [None] * len(ids) for name in RECORD_COLUMNS)
        return [ChromaRecord(str(id_), *values) for id_, *values in zip(ids, *columns, strict=True)]
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise unreadable_answer(exc) from exc


def _to_list(vector: Vector) -> list[float]:
    numbers: list[float] = vector.tolist()
    return numbers


def _to_base64(vector: Vector) -> str:
    """Return little-endian float32 in base64, which Chroma takes in place of numbers."""
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()


def _base_url(url: str) -> str:
    return url.rstrip("/").removesuffix(OLDER).removesuffix(API)


def _key_headers(url: str, api_key: str) -> dict[str, str]:
    """Return the headers that Chroma, or a proxy before it, asks for; the second never beside a user in
    the URL.
    """
    if not api_key:
        return {}
    bearer = {} if urlsplit(url).username else {"Authorization": f"Bearer {api_key}"}
    return {"X-Chroma-Token": api_key, **bearer}
