"""Tables of the embeddings app. Foreign keys cascade in the database; see documents.models."""

from embeddings.models.indexes import IndexMeasurement, VectorIndex
from embeddings.models.outbox import DroppedSpace, OutboxEntry, OutsideStore
from embeddings.models.requests import EmbeddingRequest, EmbeddingRun
from embeddings.models.vectors import Embedding, EmbeddingModel, SentenceVectors
from embeddings.models.words import LexemeCount, LexicalEntry

__all__ = [
    "DroppedSpace",
    "Embedding",
    "EmbeddingModel",
    "EmbeddingRequest",
    "EmbeddingRun",
    "IndexMeasurement",
    "LexemeCount",
    "LexicalEntry",
    "OutboxEntry",
    "OutsideStore",
    "SentenceVectors",
    "VectorIndex",
]
