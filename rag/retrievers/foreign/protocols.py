"""What a ForeignRetriever asks of whoever keeps the records. Plain Python."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from embeddings.types import Vector
from knowlex.base.errors import RetrievalFailed
from rag.retrievers.foreign.where import Where


@dataclass(frozen=True, slots=True)
class Record:
    """As its keeper has it; nothing of it is to be trusted.

    id: the keeper's own. text: "" where there is none. distance: cosine distance to the vector asked for, 0
    to 2, whatever the keeper measures in.
    """

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    distance: float = 0.0


class CollectionReader(Protocol):
    """Read access to one collection, from any event loop. Methods raise VectorStoreFailed when tries are
    used up.
    """

    name: str

    async def nearest(self, vector: Vector, limit: int, where: Where | None = None) -> list[Record]:
        """At most `limit` records that pass, closest first; [] while there is no such collection.

        where: as `where.checked` gives it. Raises RetrievalFailed if the records' vectors have another number
        of dimensions than this one.
        """
        ...

    async def count(self) -> int:
        """Of all records; 0 while there is no such collection."""
        ...

    async def ping(self) -> None:
        """Once, without another try: can it be reached? A collection that is not there is no fault."""
        ...

    async def aclose(self) -> None:
        """Close this event loop's connections; the next call opens new ones."""
        ...


def other_size(name: str, held: int, asked: int) -> RetrievalFailed:
    """What to raise where vectors cannot be compared."""
    return RetrievalFailed(
        f"{name} holds vectors of {held} dimensions, but the embedding model makes vectors of {asked}: it"
        " must be the model that it was filled with."
    )
