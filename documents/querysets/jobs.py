"""Queries about ingest jobs and their documents."""

from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.db import models

from documents.access.scopes import Access

if TYPE_CHECKING:
    from documents.models import IngestItem, IngestJob  # noqa: F401

OPEN = ("pending", "processing")


class IngestJobQuerySet(models.QuerySet["IngestJob"]):
    def allowed_to(self, access: Access) -> Self:
        return self if access.collection_ids is None else self.filter(collection__in=access.collection_ids)

    def ended(self) -> Self:
        """Nothing of them waits or is worked on."""
        return self.exclude(items__status__in=OPEN)

    def without_failures(self) -> Self:
        return self.exclude(items__status="failed")


class IngestItemQuerySet(models.QuerySet["IngestItem"]):
    def allowed_to(self, access: Access) -> Self:
        return self if access.collection_ids is None else self.filter(collection__in=access.collection_ids)

    def open(self) -> Self:
        return self.filter(status__in=OPEN)

    def unstored(self) -> Self:
        """What waits, is being read, or has failed, of documents that are new."""
        return self.filter(replaces__isnull=True, deleted_at__isnull=True).exclude(status="completed")

    def of_document(self, document_id: UUID) -> Self:
        """The item that brought the document, and those that replace it."""
        return self.filter(models.Q(id=document_id) | models.Q(replaces=document_id))

    def retryable(self) -> Self:
        """Failed, neither deleted nor superseded by a newer version."""
        again = self.filter(status="failed", deleted_at__isnull=True).exclude(
            error_code__in=("SUPERSEDED", "DELETED")
        )
        rivals = self.model._default_manager.filter(replaces=models.OuterRef("replaces"), status__in=OPEN)
        return again.exclude(models.Exists(rivals))

    def orphaned_duplicates(self) -> Self:
        """Duplicates without a file, of documents that are gone."""
        documents = self.model._meta.apps.get_model("documents", "Document").objects
        known = documents.filter(id=models.OuterRef("duplicate_of"))
        rows = self.filter(status="failed", error_code="DUPLICATE", file="", source_url="")
        return rows.exclude(models.Exists(known))
