"""Tables of the embeddings app. Foreign keys cascade in the database; see documents.models."""

from embeddings.models.indexes import ChunkAnalysis, IndexMeasurement, LexemeCount, LexicalEntry, VectorIndex
from embeddings.models.vectors import Embedding, EmbeddingModel, SentenceVectors
from embeddings.models.work import DroppedSpace, EmbeddingRequest, EmbeddingRun, OutboxEntry, OutsideStore

__all__ = [
    "ChunkAnalysis",
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
