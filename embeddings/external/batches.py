"""What a store outside PostgreSQL is to hear of some vectors: read from the tables, in one moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from embeddings.external.configured import space_of
from embeddings.external.outbox import Entry
from embeddings.protocols import VectorStore
from embeddings.types import Point, Space
from knowlex.db.threads import execute

# A version in the making goes under what it will be when it takes over: its document's collection and id.
_TRUTH = """
    SELECT m.id, m.dimensions, g.chunk_id, e.vector::text, d.collection_id, coalesce(d.replaces_id, d.id),
        encode(sha256(convert_to(c.content, 'UTF8')), 'hex'), c.chunk_index, c.chapter, c.section,
        d.original_filename, c.page_number
    FROM unnest(%(models)s::smallint[], %(chunks)s::uuid[]) g (model_id, chunk_id)
    JOIN embeddings_embeddingmodel m ON m.id = g.model_id
    LEFT JOIN (embeddings_embedding e JOIN documents_chunk c ON c.id = e.chunk_id
        JOIN documents_document d ON d.id = c.document_id
    ) ON e.model_id = g.model_id AND e.chunk_id = g.chunk_id
"""


@dataclass(frozen=True, slots=True)
class DeliveryBatch:
    """Of one space. A chunk has a point, or it is gone."""

    space: Space
    entries: tuple[Entry, ...]
    points: dict[UUID, Point]

    async def send(self, store: VectorStore) -> None:
        """Raises VectorStoreFailed."""
        if gone := [entry.chunk_id for entry in self.entries if entry.chunk_id not in self.points]:
            await store.remove(self.space, gone)
        if there := [self.points[entry.chunk_id] for entry in self.entries if entry.chunk_id in self.points]:
            await store.put(self.space, there)

    def halves(self) -> list["DeliveryBatch"]:
        half = len(self.entries) // 2
        return [
            DeliveryBatch(self.space, some, self.points)
            for some in (self.entries[:half], self.entries[half:])
        ]


def read_batches(entries: Sequence[Entry]) -> list[DeliveryBatch]:
    """One for each model; none for a model that is gone, whose space goes as a whole."""
    scope = {"models": [e.model_id for e in entries], "chunks": [e.chunk_id for e in entries]}
    spaces: dict[int, Space] = {}
    points: dict[int, dict[UUID, Point]] = {}
    for model_id, dimensions, chunk_id, vector, *payload in execute(_TRUTH, scope):
        spaces[model_id] = space_of(model_id, dimensions)
        found = points.setdefault(model_id, {})
        if vector is not None:
            found[chunk_id] = _point(chunk_id, vector, *payload)
    return [
        DeliveryBatch(
            space, tuple(entry for entry in entries if entry.model_id == model_id), points[model_id]
        )
        for model_id, space in spaces.items()
    ]


def _point(
    chunk_id: UUID,
    vector: str,
    collection_id: UUID,
    document_id: UUID,
    chunk_hash: str,
    chunk_index: int,
    chapter: str,
    section: str,
    filename: str,
    page_number: int | None,
) -> Point:
    return Point(
        chunk_id=chunk_id,
        vector=np.fromstring(vector.strip("[]"), dtype=np.float32, sep=","),
        collection_id=collection_id,
        document_id=document_id,
        chunk_hash=chunk_hash,
        chunk_index=chunk_index,
        book_id=str(collection_id),
        chapter=chapter,
        section=section,
        source_file=filename,
        page_number=page_number,
    )
