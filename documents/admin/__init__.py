"""The admin of the documents app. The embeddings app adds what it knows: vectors, jobs, receipts."""

from documents.admin.chunks import ChunkAdmin
from documents.admin.collections import CollectionAdmin
from documents.admin.documents import DocumentAdmin

__all__ = ["ChunkAdmin", "CollectionAdmin", "DocumentAdmin"]
