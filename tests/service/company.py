"""A company's documents, as another department put them into Chroma, with the document's metadata."""

from typing import Any, NamedTuple

import numpy as np

from embeddings.embedders.local import LocalEmbedder
from embeddings.stores.chroma_client import ChromaClient

COLLECTION = "corporate_documents"


class Chunk(NamedTuple):
    id: str
    text: str
    metadata: dict[str, Any]


def _chunk(id_: str, text: str, source: str, section: str, page: int | None, index: int) -> Chunk:
    metadata: dict[str, Any] = {
        "source_doc": source,
        "source_type": source.rpartition(".")[2],
        "section_title": section,
        "chunk_index": index,
        "validation_status": '{"contradiction_check": true, "duplicate_check": true}',
    }
    return Chunk(id_, text, metadata | ({"page_number": page} if page else {}))


CHUNKS = [
    _chunk(
        "safety-5",
        "The safety protocols for handling chemicals are strict. All personnel must wear protective eyewear"
        " and gloves when handling Class A chemicals. Spills are reported to the safety officer.",
        *("safety_manual.pdf", "Chemical Handling", 5, 0),
    ),
    _chunk(
        "safety-7",
        "Emergency procedures require immediate notification of the fire brigade. Exits stay free.",
        *("safety_manual.pdf", "Emergencies", 7, 1),
    ),
    _chunk(
        "hr-2",
        "The company vacation policy grants every employee 25 days of paid vacation each year.",
        *("hr_policy.pdf", "Vacation", 2, 0),
    ),
    _chunk(
        "expenses-0",
        "Expenses above 500 euros need the approval of the head of department.",
        *("expenses.md", "Approval", None, 0),
    ),
]


async def fill(url: str, embedder: LocalEmbedder, name: str = COLLECTION, space: str = "cosine") -> None:
    client = ChromaClient(url)
    await client.create_collection(name, configuration={"hnsw": {"space": space}})
    await client.upsert(
        name,
        ids=[chunk.id for chunk in CHUNKS],
        vectors=[np.asarray(vector) for vector in embedder.embed([chunk.text for chunk in CHUNKS])],
        documents=[chunk.text for chunk in CHUNKS],
        metadatas=[chunk.metadata for chunk in CHUNKS],
    )
    await client.aclose()
