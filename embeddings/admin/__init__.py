"""The admin of the embeddings app, and what it adds to documents, chunks and collections."""

from embeddings.admin.chunks import EmbeddedChunkAdmin
from embeddings.admin.documents import EmbeddedDocumentAdmin
from embeddings.admin.models import EmbeddingModelAdmin, EmbeddingRequestAdmin, EmbeddingRunAdmin

__all__ = [
    "EmbeddedChunkAdmin",
    "EmbeddedDocumentAdmin",
    "EmbeddingModelAdmin",
    "EmbeddingRequestAdmin",
    "EmbeddingRunAdmin",
]
