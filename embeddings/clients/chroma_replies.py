"""What Chroma says, as plain types; every function raises VectorStoreFailed for another shape."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from embeddings.clients.calling import unreadable
from knowlex.common.json_wire import Reply

FEW = 100  # records; what any server takes
NO_ROUTE = frozenset({404, 405, 410, 501})


class Found(NamedTuple):
    """distance: as the collection's space has it (cosine: 0 to 2); infinite where the server cannot tell one.
    document, metadata, embedding: where they were asked for and are there.
    """

    id: str
    distance: float
    document: str | None = None
    metadata: Mapping[str, Any] | None = None
    embedding: list[float | None] | None = None


class Record(NamedTuple):
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
            raise unreadable(exc) from exc

    @classmethod
    def named(cls, name: str) -> "ChromaCollection":
        """Of a server that tells nothing of it and takes its name for its id."""
        return cls(quote(name, safe=""), name, None, "cosine", {})


def names_collection(reply: Reply) -> bool:
    return reply.ok and isinstance(reply.body, dict) and {"id", "name"} <= reply.body.keys()


def is_unknown(reply: Reply) -> bool:
    """Whether a server knows no such route; one that does says of a collection in words of its own that it is
    not there.
    """
    told = reply.body.get("error") if isinstance(reply.body, dict) else None
    return reply.status in NO_ROUTE and not str(told or "").endswith("NotFoundError")


class Limits(NamedTuple):
    """What a server takes in one request. base64: vectors as text, half as long."""

    records: int
    base64: bool

    @classmethod
    def of(cls, reply: Reply) -> "Limits":
        """One that does not tell takes little."""
        try:
            found = reply.body if reply.ok else {}
            return cls(
                max(1, int(found.get("max_batch_size", FEW))), bool(found.get("supports_base64_encoding"))
            )
        except (AttributeError, TypeError, ValueError) as exc:
            raise unreadable(exc) from exc


def found_in(body: Any) -> list[Found]:
    """The answer to one query vector."""
    try:
        ids = body["ids"][0]
        names = ("documents", "metadatas", "embeddings")
        columns = (_column(body, name, len(ids), nested=True) for name in names)
        told = _column(body, "distances", len(ids), nested=True, default=0.0)
        distances = [math.inf if one is None else float(one) for one in told]
        return [Found(str(one), *rest) for one, *rest in zip(ids, distances, *columns, strict=True)]
    except (IndexError, KeyError, TypeError, ValueError) as exc:
        raise unreadable(exc) from exc


def records_in(body: Any) -> list[Record]:
    try:
        ids = body["ids"]
        columns = (_column(body, name, len(ids)) for name in ("documents", "metadatas", "embeddings"))
        return [Record(str(one), *rest) for one, *rest in zip(ids, *columns, strict=True)]
    except (KeyError, TypeError, ValueError) as exc:
        raise unreadable(exc) from exc


def _column(body: Any, name: str, count: int, *, nested: bool = False, default: Any = None) -> list[Any]:
    """One entry for each id; the default for all where the column was not asked for."""
    found = body.get(name)
    if nested and found:
        found = found[0]
    return [default] * count if found is None else found
