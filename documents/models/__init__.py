"""Tables of the documents app. Rows below a document go with it by the database's own ON DELETE CASCADE.

Foreign keys are declared without Django's constraint (`db_constraint=False`, DO_NOTHING) and added by
migrations/sql/foreign_keys.sql as immediate, cascading ones: one DELETE takes everything along, whatever a
worker inserts meanwhile.
"""

from documents.models.collections import DEFAULT_COLLECTION, Collection, CollectionChange
from documents.models.documents import Chunk, Document, Page, stored_name
from documents.models.entries import DocumentEntry, Entry, StoredEntry, UnstoredEntry
from documents.models.jobs import IdempotencyRecord, IngestItem, IngestJob
from documents.models.keys import ApiKey, ApiKeyCollection
from documents.models.members import CollectionMember
from documents.models.sources import Source, SourceItem
from documents.models.webhooks import Webhook, WebhookDelivery

__all__ = [
    "DEFAULT_COLLECTION",
    "ApiKey",
    "ApiKeyCollection",
    "Chunk",
    "Collection",
    "CollectionChange",
    "CollectionMember",
    "Document",
    "DocumentEntry",
    "Entry",
    "IdempotencyRecord",
    "IngestItem",
    "IngestJob",
    "Page",
    "Source",
    "SourceItem",
    "StoredEntry",
    "UnstoredEntry",
    "Webhook",
    "WebhookDelivery",
    "stored_name",
]
