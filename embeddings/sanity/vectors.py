"""Vectors against the texts that they are made from, for a sample: the model is asked anew."""

from dataclasses import dataclass
from uuid import UUID

import numpy as np

from embeddings.lexical.terms import lexemes
from embeddings.model_lifecycle.active import active_model
from embeddings.model_lifecycle.registry import embedder_for
from embeddings.models import EmbeddingModel
from embeddings.sanity.types import FindingTally, SanityCheck, SanityFinding
from embeddings.types import Vector
from embeddings.work.queue import execute

CHUNKS = 200
BATCH = 20
TOLERANCE = 0.05  # of cosine distance; the same text in another batch can differ a little
OWN_TEXT = SanityCheck(
    "own_text",
    f"Vectors and words are those of their chunk's text (a sample of up to {CHUNKS} chunks).",
    "",
    "DELETE FROM embeddings_embedding and embeddings_lexicalentry of these chunks; then generate.",
    "I3",
)
_SAMPLE = """
    SELECT e.chunk_id, c.content, e.vector::float4[], coalesce(tsvector_to_array(l.lexemes), '{}'),
        d.language
    FROM (SELECT chunk_id, vector FROM embeddings_embedding WHERE model_id = %s ORDER BY random() LIMIT %s) e
    JOIN documents_chunk c ON c.id = e.chunk_id JOIN documents_document d ON d.id = c.document_id
    LEFT JOIN embeddings_lexicalentry l ON l.chunk_id = e.chunk_id
"""


@dataclass(frozen=True, slots=True)
class Sampled:
    chunk_id: UUID
    content: str
    vector: Vector
    words: tuple[str, ...]
    language: str


def sample_chunks() -> list[Sampled]:
    """Random chunks with their vectors by the active model."""
    model = EmbeddingModel.objects.active().first()
    if model is None:
        return []
    rows = execute(_SAMPLE, [model.pk, CHUNKS])
    return [
        Sampled(id_, text, np.array(vector, np.float32), tuple(words), language)
        for id_, text, vector, words, language in rows
    ]


def check_own_text(chunks: list[Sampled]) -> SanityFinding:
    """Asks the active model, outside any transaction. Raises EmbedderError."""
    tally, embedder = FindingTally(OWN_TEXT), embedder_for(active_model().spec)
    for start in range(0, len(chunks), BATCH):
        some = chunks[start : start + BATCH]
        for chunk, vector in zip(some, embedder.embed([one.content for one in some]), strict=True):
            words = set(lexemes(chunk.content, chunk.language))
            if _distance(chunk.vector, vector) > TOLERANCE or set(chunk.words) != words:
                tally.add(chunk.chunk_id)
    return tally.finding()


def _distance(stored: Vector, fresh: Vector) -> float:
    norms = float(np.linalg.norm(stored) * np.linalg.norm(fresh))
    if stored.shape != fresh.shape or not norms:
        return 2.0
    return 1.0 - float(stored @ fresh) / norms
