"""The admin of the embeddings app: jobs, and what it adds to documents, chunks and collections."""

from embeddings.admin.chunks import EmbeddedChunkAdmin
from embeddings.admin.collections import EmbeddedCollectionAdmin
from embeddings.admin.documents import EmbeddedDocumentAdmin
from embeddings.admin.external import OutsideStoreAdmin
from embeddings.admin.indexes import IndexMeasurementAdmin, VectorIndexAdmin
from embeddings.admin.jobs import IngestJobAdmin
from embeddings.admin.models import EmbeddingModelAdmin, EmbeddingRequestAdmin, EmbeddingRunAdmin

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
    "VectorIndexAdmin",
]
