"""The embedding model behind settings.KNOWLEX["EMBEDDER"]."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from embeddings.types import Embedded, Vector

Span = tuple[int, int]  # character offsets


class Embedder(Protocol):
    """Role EMBEDDER: texts -> vectors.

    model_name: what vectors are stored under; vectors of two names never meet in one search.
    dimensions: length of every vector, or None until the first answer tells.
    """

    model_name: str
    dimensions: int | None

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One checked vector for each text, in the order of the texts; blocking, for workers.

        Raises EmbedderUnavailable (tries used up), EmbedderRejected (no text can succeed),
        TextRejected (at least one of these texts is refused).
        """
        ...

    async def aembed_query(self, text: str) -> Vector:
        """The vector of a question; never blocks the event loop. Raises as `embed`."""
        ...


@runtime_checkable
class PassageAware(Protocol):
    """An Embedder that sets questions and passages apart, as the e5 models do by their prefixes."""

    async def aembed_passage(self, text: str) -> Vector:
        """The vector that `embed` gives; never blocks the event loop. Raises as `embed`."""
        ...


@runtime_checkable
class SentenceAware(Protocol):
    """An Embedder whose chunks' sentence vectors cost nothing more; those of an API cannot."""

    def embed_with_sentences(self, texts: Sequence[str], spans: Sequence[Sequence[Span]]) -> list[Embedded]:
        """For each text its vector, the same as `embed` gives, and one vector for each of its spans.

        A span beyond what the model reads has a vector of zeros. Raises as `embed`.
        """
        ...
