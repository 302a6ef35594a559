"""What Qdrant says, as plain types; every function raises VectorStoreFailed for another shape."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from embeddings.clients.calling import unreadable


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
            raise unreadable(exc) from exc


def result_of(body: Any, name: str) -> Any:
    try:
        return body["result"][name]
    except (KeyError, TypeError) as exc:
        raise unreadable(exc) from exc


def scored_in(body: Any) -> list[Scored]:
    points = result_of(body, "points")
    try:
        return [Scored(str(one["id"]), float(one["score"]), one.get("payload") or {}) for one in points]
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise unreadable(exc) from exc


def page_in(body: Any) -> tuple[list[Stored], Any]:
    """The points, and where the next page begins; None after the last one."""
    points = result_of(body, "points")
    try:
        page = [Stored(str(one["id"]), one.get("payload") or {}) for one in points]
    except (AttributeError, KeyError, TypeError) as exc:
        raise unreadable(exc) from exc
    return page, body["result"].get("next_page_offset")
