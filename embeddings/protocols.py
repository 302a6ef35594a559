"""The embedding model behind settings.KNOWLEX["EMBEDDER"], and the vector store behind "VECTOR_STORE"."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol, runtime_checkable
from uuid import UUID

from embeddings.types import EmbeddedText, NearestChunk, Point, Space, StoredChunk, Vector

Span = tuple[int, int]  # character offsets


class Embedder(Protocol):
    """Role EMBEDDER: texts -> vectors.

    model_name: what vectors are stored under; vectors of two names never meet in one search.
    dimensions: length of every vector, or None until the first answer tells.
    """

    model_name: str
    dimensions: int | None

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one checked vector for each text, in their order; blocking, for workers.

        Raises EmbedderUnavailable (tries used up), EmbedderRejected (no text can succeed),
        TextRejected (at least one of these texts is refused).
        """
        ...

    async def aembed_query(self, text: str) -> Vector:
        """Return the vector of a question; never blocks the event loop. Raises as `embed`."""
        ...


@runtime_checkable
class PassageAware(Protocol):
    """An Embedder that sets questions and passages apart, as the e5 models do by their prefixes."""

    async def aembed_passage(self, text: str) -> Vector:
        """Return the vector that `embed` gives; never blocks the event loop. Raises as `embed`."""
        ...


@runtime_checkable
class SentenceAware(Protocol):
    """An Embedder whose chunks' sentence vectors cost nothing more; those of an API cannot."""

    def embed_with_sentences(
        self, texts: Sequence[str], spans: Sequence[Sequence[Span]]
    ) -> list[EmbeddedText]:
        """Return for each text the vector that `embed` gives, and one vector for each of its spans.

        A span beyond what the model reads has a vector of zeros. Raises as `embed`.
        """
        ...


class VectorStore(Protocol):
    """Role VECTOR_STORE: an index of vectors outside PostgreSQL, which stays the truth; no part where there
    is none. What it holds may lag behind: whoever searches looks every chunk up in PostgreSQL.

    Every method tries again as the store's settings say and raises VectorStoreFailed when the store
    cannot be reached, is too slow or says something that cannot be read. All are safe to run twice.
    """

    async def nearest(
        self, space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
    ) -> list[NearestChunk]:
        """Return at most `limit` chunks of these collections, closest first; [] while there is no such
        space.
        """
        ...

    async def put(self, space: Space, points: Sequence[Point]) -> None:
        """Store these, in place of what is there under their ids. The space is made if need be. Once this
        returns, `nearest` finds them.
        """
        ...

    async def remove(self, space: Space, chunk_ids: Sequence[UUID]) -> None:
        """Remove these; chunks, or a whole space, that are not there are ignored."""
        ...

    def list_chunks(self, space: Space) -> AsyncIterator[Sequence[StoredChunk]]:
        """Yield all that is there, some hundreds at a time, in any order; nothing while there is no such
        space.
        """
        ...

    async def drop(self, space: Space) -> None:
        """Drop the whole space, if it is there."""
        ...

    async def ping(self) -> None:
        """Look once, without another try. Raises VectorStoreFailed if it cannot be used."""
        ...

    async def aclose(self) -> None:
        """Close this event loop's connections; the next call opens new ones."""
        ...
