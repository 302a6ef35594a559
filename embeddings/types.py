"""Plain data of embedding and search."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]  # one dimension, finite, not zero


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """A text's vector and those of its sentences.

    sentences: (spans, dimensions), each of length 1: the mean of the sentence's token vectors out of the
    text's own forward pass; zeros for what the model has not read. None where it gives no token vectors.
    spans: start and end of each, offsets into the text.
    """

    vector: Vector
    sentences: NDArray[np.float32] | None = None
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What an embedding model's embedder is built from; never a secret, so that it can stand in the database.

    dimensions: 0 until the first vector tells. options: name and value, sorted by name, such as the path of a
    folder or the size that is asked for.
    """

    provider: str
    name: str
    dimensions: int = 0
    options: tuple[tuple[str, str | int | bool], ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "ModelSpec":
        """row: has the columns provider, name, dimensions and options (a dict) of an EmbeddingModel."""
        options = tuple(sorted((row["options"] or {}).items()))
        return cls(row["provider"], row["name"], row["dimensions"], options)

    def __str__(self) -> str:
        size = f", {self.dimensions} dimensions" if self.dimensions else ""
        return f"{self.name} ({self.provider}{size})"


@dataclass(frozen=True, slots=True)
class RequestScope:
    """One call of `generate`: what it asked for, and what it has to wait for.

    requested: chunks that this call asked for; those that another call asked for already are not in it.
    batches: one hint for the queue each. last_request: the scope ends here; later ones are not waited for.
    collection_ids: those that the caller may use; None for all.
    """

    run_id: UUID
    model_id: int
    document_id: UUID | None
    requested: int
    batches: tuple[UUID, ...]
    last_request: int
    collection_ids: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True)
class RequestProgress:
    """How far the work in one call's scope is.

    embedded: by this call's own requests. waiting: queued or being worked on, whoever asked. failed: could
    not be embedded; reason: of one of them. leased: all that workers have in hand now, of other calls too.
    """

    embedded: int
    waiting: int
    leased: int
    failed: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ClaimedChunk:
    """A chunk whose embedding a worker has taken up."""

    chunk_id: UUID
    content: str


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A chunk found by search. distance: cosine distance, 0 (same direction) to 2 (opposite)."""

    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    chunk_index: int
    content: str
    page_number: int | None
    distance: float


class NearestChunk(NamedTuple):
    """A chunk that a vector store found. distance: cosine distance, as the store computes it."""

    chunk_id: UUID
    distance: float


@dataclass(frozen=True, slots=True)
class Space:
    """Where a store outside PostgreSQL keeps one model's vectors; those of another model never meet them.

    name: of the store's own collection.
    """

    name: str
    model_id: int
    dimensions: int


@dataclass(frozen=True, slots=True)
class Point:
    """A chunk's vector as a store outside PostgreSQL holds it, with what it may be filtered by.

    collection_id: the one that its document belongs to, or will when a replacement takes over. chunk_hash:
    SHA-256 of the content in hex. book_id: the id of its collection, as text. source_file: its file name.
    page_number: from 1, None without pages; chapter, section: "" where there is none.
    """

    chunk_id: UUID
    vector: Vector
    collection_id: UUID
    document_id: UUID
    chunk_hash: str
    chunk_index: int
    book_id: str = ""
    chapter: str = ""
    section: str = ""
    source_file: str = ""
    page_number: int | None = None

    @property
    def payload(self) -> dict[str, str | int | None]:
        """Return all but the vector, as JSON has it."""
        return {
            "chunk_id": str(self.chunk_id),
            "chunk_hash": self.chunk_hash,
            "collection_id": str(self.collection_id),
            "document_id": str(self.document_id),
            "chunk_index": self.chunk_index,
            "book_id": self.book_id,
            "chapter": self.chapter,
            "section": self.section,
            "source_file": self.source_file,
            "page_number": self.page_number,
        }


class StoredChunk(NamedTuple):
    """What a store says it holds of a chunk, to be compared with PostgreSQL; "" for what it does not know."""

    chunk_id: UUID
    collection_id: str
    chunk_hash: str
