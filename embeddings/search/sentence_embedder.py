"""Vectors for comparing the sentences of a document, by the model that its chunks are embedded with."""

from collections.abc import Sequence

import numpy as np
from django.conf import settings

from embeddings.active_model import active_model
from embeddings.protocols import Embedder
from embeddings.registry import embedder_for
from embeddings.types import Vector
from knowlex.base.errors import TextRejected


class ActiveModelEmbedder:
    """Asks the active model's embedder, in batches of the usual size, with its own tries and limits.

    Batches hold sentences of about one length, so that nothing is padded; what stands twice is asked once.
    """

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of length 1 for each text; zeros for one that the model refuses (similar to
        nothing).

        Raises EmbedderUnavailable, EmbedderRejected, TextRejected (none is taken).
        """
        embedder = embedder_for(active_model().spec)
        distinct = sorted(dict.fromkeys(texts), key=len)
        size = settings.EMBEDDING_BATCH
        found: dict[str, Vector] = {}
        for start in range(0, len(distinct), size):
            _add(found, embedder, distinct[start : start + size])
        if texts and not found:
            raise TextRejected("The embedding model refuses the sentences of the document.")
        refused = np.zeros(max(map(len, found.values()), default=0), dtype=np.float32)
        return [found.get(text, refused) for text in texts]


def _add(found: dict[str, Vector], embedder: Embedder, texts: list[str]) -> None:
    """Add the vectors, halving what is refused until the refused texts are known."""
    try:
        vectors = embedder.embed(texts)
    except TextRejected:
        if len(texts) > 1:
            half = len(texts) // 2
            _add(found, embedder, texts[:half])
            _add(found, embedder, texts[half:])
        return
    for text, vector in zip(texts, vectors, strict=True):
        found[text] = vector / (np.linalg.norm(vector) or 1.0)
