"""The admin of the embeddings app: jobs, and what it adds to documents, chunks and collections."""

from embeddings.admin.collections import EmbeddedCollectionAdmin
from embeddings.admin.documents import EmbeddedChunkAdmin, EmbeddedDocumentAdmin
from embeddings.admin.jobs import IngestJobAdmin
from embeddings.admin.models import (
    EmbeddingModelAdmin,
    EmbeddingRequestAdmin,
    EmbeddingRunAdmin,
    IndexMeasurementAdmin,
    OutsideStoreAdmin,
    VectorIndexAdmin,
)
from embeddings.admin.sources import SourceAdmin

__all__ = [
    "EmbeddedChunkAdmin",
    "EmbeddedCollectionAdmin",
    "EmbeddedDocumentAdmin",
    "EmbeddingModelAdmin",
    "EmbeddingRequestAdmin",
    "EmbeddingRunAdmin",
    "IndexMeasurementAdmin",
    "IngestJobAdmin",
    "OutsideStoreAdmin",
    "SourceAdmin",
    "VectorIndexAdmin",
]
