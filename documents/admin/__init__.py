"""The admin of the documents app. The embeddings app adds what it knows: vectors, jobs, receipts."""

from django.contrib import admin

from documents.accounts.login import AdminLoginForm
from documents.admin.collections import CollectionAdmin, CollectionMemberAdmin
from documents.admin.documents import ChunkAdmin, DocumentAdmin
from documents.admin.keys import ApiKeyAdmin
from documents.admin.webhooks import WebhookAdmin, WebhookDeliveryAdmin

__all__ = [
    "ApiKeyAdmin",
    "ChunkAdmin",
    "CollectionAdmin",
    "CollectionMemberAdmin",
    "DocumentAdmin",
    "WebhookAdmin",
    "WebhookDeliveryAdmin",
]

admin.site.login_form = AdminLoginForm
