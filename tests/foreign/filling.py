"""Collections as somebody else fills them, the same in Chroma and in memory."""

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from embeddings.embedders.local import LocalEmbedder
from embeddings.stores.chroma_client import ChromaClient
from rag_service.readers import ChromaReader, CollectionReader, MemoryReader, StoredRecord

KINDS = ("memory", "cosine", "l2", "ip")  # the last three are spaces of Chroma's
_names = (f"documents_{number}" for number in itertools.count())


class Given(NamedTuple):
    id: str
    text: str | None
    metadata: Mapping[str, Any] | None = None
    vector: Sequence[float] = (1.0, 0.0, 0.0)


Fill = Callable[[Sequence[Given]], Awaitable[CollectionReader]]


def in_memory(given: Sequence[Given]) -> MemoryReader:
    records = [StoredRecord(one.id, one.text or "", one.metadata or {}) for one in given]
    return MemoryReader(records, [np.array(one.vector, dtype=np.float32) for one in given])


async def in_chroma(client: ChromaClient, space: str, given: Sequence[Given]) -> ChromaReader:
    name = next(_names)
    await client.create_collection(name, configuration={"hnsw": {"space": space}})
    if given:
        await client.upsert(
            name,
            ids=[one.id for one in given],
            vectors=[np.array(one.vector, dtype=np.float32) for one in given],
            documents=[one.text for one in given],
            metadatas=[one.metadata for one in given],
        )
    return ChromaReader(client, name)


def embedded(embedder: LocalEmbedder, given: Sequence[Given]) -> list[Given]:
    """With the vectors of their texts."""
    vectors = embedder.embed([(one.text or "").encode(errors="ignore").decode() for one in given])
    return [one._replace(vector=vector.tolist()) for one, vector in zip(given, vectors, strict=True)]
