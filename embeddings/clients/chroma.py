"""A client of Chroma's REST API, version 2 (servers 1.x); it reads servers of version 1 (0.x), too."""

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from embeddings.clients.requests import (
    RETRY,
    TIMEOUT_S,
    NoSuchCollection,
    StoreCaller,
    encode_vectors,
    list_numbers,
    raise_refusal,
    split_batches,
    unreadable_answer,
)
from embeddings.types import Vector
from knowlex.base.retry import Retry
from knowlex.net.json_client import JsonWire, Reply

FEW = 100  # records; what any server takes
NO_ROUTE = frozenset({404, 405, 410, 501})


class ChromaHit(NamedTuple):
    """distance: as the collection's space has it (cosine: 0 to 2); infinite where the server cannot tell one.
    document, metadata, embedding: where they were asked for and are there.
    """

    id: str
    distance: float
    document: str | None = None
    metadata: Mapping[str, Any] | None = None
    embedding: list[float | None] | None = None


class ChromaRecord(NamedTuple):
    id: str
    document: str | None = None
    metadata: Mapping[str, Any] | None = None
    embedding: list[float] | None = None


@dataclass(frozen=True, slots=True)
class ChromaCollection:
    """dimensions: None before anything was stored, or not known. space: cosine, l2 or ip."""

    id: str
    name: str
    dimensions: int | None
    space: str
    metadata: Mapping[str, Any]

    @classmethod
    def of(cls, body: Any) -> "ChromaCollection":
        try:
            configuration, metadata = body.get("configuration_json") or {}, body.get("metadata") or {}
            index = configuration.get("hnsw") or configuration.get("spann") or {}
            space = index.get("space") or metadata.get("hnsw:space") or "l2"
            return cls(str(body["id"]), str(body["name"]), body.get("dimension"), str(space), metadata)
        except (AttributeError, KeyError, TypeError) as exc:
            raise unreadable_answer(exc) from exc

    @classmethod
    def named(cls, name: str) -> "ChromaCollection":
        """Return a collection of a server that tells nothing of it and takes its name for its id."""
        return cls(quote(name, safe=""), name, None, "cosine", {})


def names_collection(reply: Reply) -> bool:
    return reply.ok and isinstance(reply.body, dict) and {"id", "name"} <= reply.body.keys()


def is_unknown_route(reply: Reply) -> bool:
    """Return whether a server knows no such route; one that does says of a collection in its own words
    that it is not there.
    """
    error = reply.body.get("error") if isinstance(reply.body, dict) else None
    return reply.status in NO_ROUTE and not str(error or "").endswith("NotFoundError")


class ChromaLimits(NamedTuple):
    """What a server takes in one request. base64: it takes vectors as text, half as long."""

    records: int
    base64: bool

    @classmethod
    def of(cls, reply: Reply) -> "ChromaLimits":
        """Read the server's limits; a server that does not tell them takes little."""
        try:
            found = reply.body if reply.ok else {}
            return cls(
                max(1, int(found.get("max_batch_size", FEW))), bool(found.get("supports_base64_encoding"))
            )
        except (AttributeError, TypeError, ValueError) as exc:
            raise unreadable_answer(exc) from exc


def parse_hits(body: Any) -> list[ChromaHit]:
    """Return the answer to one query vector."""
    try:
        ids = body["ids"][0]
        names = ("documents", "metadatas", "embeddings")
        columns = (_column(body, name, len(ids), nested=True) for name in names)
        listed = _column(body, "distances", len(ids), nested=True, default=0.0)
        distances = [math.inf if one is None else float(one) for one in listed]
        return [ChromaHit(str(one), *rest) for one, *rest in zip(ids, distances, *columns, strict=True)]
    except (IndexError, KeyError, TypeError, ValueError) as exc:
        raise unreadable_answer(exc) from exc


def parse_records(body: Any) -> list[ChromaRecord]:
    try:
        ids = body["ids"]
        columns = (_column(body, name, len(ids)) for name in ("documents", "metadatas", "embeddings"))
        return [ChromaRecord(str(one), *rest) for one, *rest in zip(ids, *columns, strict=True)]
    except (KeyError, TypeError, ValueError) as exc:
        raise unreadable_answer(exc) from exc


def _column(body: Any, name: str, count: int, *, nested: bool = False, default: Any = None) -> list[Any]:
    """Return one entry for each id; the default for all where the column was not requested."""
    found = body.get(name)
    if nested and found:
        found = found[0]
    return [default] * count if found is None else found


API, OLDER = "/api/v2", "/api/v1"
PAGE = 300  # records; Chroma's own cloud gives no more at a time
MISSING, CONFLICT = 404, 409
Where = Mapping[str, Any]
Metadata = Mapping[str, Any]

__all__ = ["ChromaClient", "ChromaCollection", "ChromaHit", "ChromaRecord", "NoSuchCollection"]


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
        self._home = self._own_home = (
            f"{API}/tenants/{quote(tenant, safe='')}/databases/{quote(database, safe='')}/collections"
        )
        self._older = older
        self._of_tenant = "?" + urlencode({"tenant": tenant, "database": database})
        self._known: dict[str, ChromaCollection] = {}
        self._limits: ChromaLimits | None = None

    async def heartbeat(self) -> None:
        """Return if the server answers, without another try."""
        reply = await self._caller.call("GET", f"{API}/heartbeat", once=True)
        if self._older and is_unknown_route(reply):
            reply = await self._caller.call("GET", f"{OLDER}/heartbeat", once=True)
        if not reply.ok:
            raise_refusal(reply)

    async def collection(self, name: str, *, anew: bool = False) -> ChromaCollection:
        """Return it as it was when it was first looked up; anew after it was found to be gone, or if that
        is wanted.
        """
        known = None if anew else self._known.get(name)
        return known or await self._looked_up(name)

    async def create_collection(
        self, name: str, *, configuration: Where | None = None, metadata: Metadata | None = None
    ) -> ChromaCollection:
        """Return the new one, or the one of this name that is there, as it is. Never raises
        NoSuchCollection.
        """
        body = {"name": name, "get_or_create": True, "configuration": configuration, "metadata": metadata}
        reply = await self._caller.call("POST", self._home, body)
        if not reply.ok and reply.status != CONFLICT:  # two at once
            raise_refusal(reply, "to make a collection: its name, or the tenant or database")
        return self._remembered(name, reply) if reply.ok else await self._looked_up(name)

    async def delete_collection(self, name: str) -> None:
        self._known.pop(name, None)
        _check_reply(await self._caller.call("DELETE", f"{self._home}/{quote(name, safe='')}"))

    async def count(self, name: str) -> int:
        found = (await self._call(name, "count", method="GET")).body
        if not isinstance(found, int):
            raise unreadable_answer()
        return found

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
        body = {"query_embeddings": [list_numbers(vector)], "n_results": n_results, "include": list(include)}
        reply = await self._call(name, "query", body | ({"where": where} if where else {}))
        return parse_hits(reply.body)

    async def get(
        self,
        name: str,
        *,
        ids: Sequence[str] | None = None,
        where: Where | None = None,
        limit: int | None = None,
        offset: int = 0,
        include: Sequence[str] = ("metadatas",),
    ) -> list[ChromaRecord]:
        """ids: those that are not there are left out. limit: how many at most."""
        asked = {"ids": None if ids is None else list(ids), "where": where, "limit": limit, "offset": offset}
        body = {key: value for key, value in asked.items() if value is not None} | {"include": list(include)}
        return parse_records((await self._call(name, "get", body)).body)

    async def pages(
        self,
        name: str,
        *,
        where: Where | None = None,
        include: Sequence[str] = ("metadatas",),
        size: int = PAGE,
    ) -> AsyncIterator[list[ChromaRecord]]:
        """Yield all records, `size` at a time. What is written meanwhile may be missed."""
        offset = 0
        while page := await self.get(name, where=where, limit=size, offset=offset, include=include):
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
        """Send as many requests as the server's limits ask for. metadatas: a value None takes the key
        away.
        """
        limits = await self._limits_of_server()
        for part in split_batches(vectors, documents, most=limits.records):
            numbers = (
                encode_vectors(vectors[part]) if limits.base64 else [one.tolist() for one in vectors[part]]
            )
            body: dict[str, Any] = {"ids": list(ids[part]), "embeddings": numbers}
            if metadatas is not None:
                body["metadatas"] = list(metadatas[part])
            if documents is not None:
                body["documents"] = list(documents[part])
            await self._call(name, "upsert", body)

    async def delete(self, name: str, ids: Sequence[str]) -> None:
        """Delete these; ids that are not there are ignored."""
        most = (await self._limits_of_server()).records
        for start in range(0, len(ids), most):
            await self._call(name, "delete", {"ids": list(ids[start : start + most])})

    async def aclose(self) -> None:
        """Close this event loop's connections; the next request opens new ones."""
        await self._caller.aclose()

    async def _call(self, name: str, verb: str, body: Any = None, *, method: str = "POST") -> Reply:
        """Call once more with another id where the collection was made anew since it was looked up."""
        known = self._known.get(name)
        collection = known or await self._looked_up(name)
        reply = await self._caller.call(method, f"{self._home}/{collection.id}/{verb}", body)
        if reply.status == MISSING and known is not None:
            collection = await self._looked_up(name)
            reply = await self._caller.call(method, f"{self._home}/{collection.id}/{verb}", body)
        return _check_reply(reply)

    async def _looked_up(self, name: str) -> ChromaCollection:
        self._known.pop(name, None)
        self._home, path = self._own_home, quote(name, safe="")
        reply = await self._caller.call("GET", f"{self._home}/{path}")
        if not (self._older and is_unknown_route(reply)):
            return self._remembered(name, _check_reply(reply))
        self._home = f"{OLDER}/collections"
        reply = await self._caller.call("GET", f"{self._home}/{path}{self._of_tenant}")
        found = ChromaCollection.of(reply.body) if names_collection(reply) else ChromaCollection.named(name)
        return self._known.setdefault(name, found)

    def _remembered(self, name: str, reply: Reply) -> ChromaCollection:
        found = self._known[name] = ChromaCollection.of(reply.body)
        return found

    async def _limits_of_server(self) -> ChromaLimits:
        if self._limits is None:
            self._limits = ChromaLimits.of(await self._caller.call("GET", f"{API}/pre-flight-checks"))
        return self._limits


def _check_reply(reply: Reply) -> Reply:
    """Raises NoSuchCollection, VectorStoreFailed."""
    if reply.status == MISSING:
        raise NoSuchCollection
    if not reply.ok:
        raise_refusal(reply)
    return reply


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
