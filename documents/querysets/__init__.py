"""Every query of the documents app has a name. Jobs and keys have modules of their own."""

from documents.querysets.jobs import IdempotencyQuerySet, IngestItemQuerySet, IngestJobQuerySet
from documents.querysets.keys import ApiKeyQuerySet
from documents.querysets.library import (
    ChunkQuerySet,
    CollectionQuerySet,
    DocumentEntryQuerySet,
    DocumentQuerySet,
    PageQuerySet,
)

__all__ = [
    "ApiKeyQuerySet",
    "ChunkQuerySet",
    "CollectionQuerySet",
    "DocumentEntryQuerySet",
    "DocumentQuerySet",
    "IdempotencyQuerySet",
    "IngestItemQuerySet",
    "IngestJobQuerySet",
    "PageQuerySet",
]
