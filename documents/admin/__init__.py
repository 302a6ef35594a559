"""The admin of the documents app. The embeddings app adds what it knows: vectors, jobs, receipts."""

from documents.admin.collections import CollectionAdmin
from documents.admin.documents import ChunkAdmin, DocumentAdmin
from documents.admin.keys import ApiKeyAdmin

__all__ = ["ApiKeyAdmin", "ChunkAdmin", "CollectionAdmin", "DocumentAdmin"]
