"""Lines of the list of documents, stored or on their way: database views over documents and job items."""

from typing import Any, Self

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Coalesce

from documents.access import Access
from documents.models.permissions import readable_by


class DocumentEntryQuerySet(models.QuerySet[Any]):
    def allowed_to(self, access: Access) -> Self:
        """Select the entries in collections that the caller may use, as far as it may read them."""
        rows = self.filter(readable_by(access))
        return rows if access.allowed is None else rows.filter(collection_id__in=access.allowed)

    def with_origin(self) -> Self:
        """Add `source_type`, `replacing` and `size`, in the same statement."""
        items: Any = apps.get_model("documents", "IngestItem").objects
        own = items.filter(id=models.OuterRef("id")).order_by().values("source_type")
        newer = items.filter(replaces=models.OuterRef("id"), status__in=("pending", "processing"))
        return self.annotate(
            source_type=models.Subquery(own),
            replacing=models.Exists(newer),
            size=Coalesce("size_bytes", 0),
        )

    def without_duplicates(self) -> Self:
        """Leave out duplicates: the document is there already, and only its job lists them."""
        return self.exclude(error_code="DUPLICATE")

    def containing(self, text: str) -> Self:
        """Select the entries whose title or file name contains the text, whatever the case."""
        return self.filter(models.Q(title__icontains=text) | models.Q(original_filename__icontains=text))


class Entry(models.Model):
    """A line of the list of documents: a stored one, or one of a job that is not stored (yet). A view.

    error, error_code: why a job's document failed, "" otherwise. stage: as in IngestItem, "" without a job.
    """

    id = models.UUIDField(primary_key=True)
    collection_id = models.UUIDField()
    job_id = models.UUIDField(null=True)
    source = models.CharField(max_length=16)  # "" where the type is not known yet
    source_url = models.TextField()
    original_filename = models.CharField(max_length=255)
    title = models.CharField(max_length=512)
    checksum = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField(null=True)
    page_count = models.IntegerField()
    chunk_count = models.IntegerField()
    status = models.CharField(max_length=16)
    stage = models.CharField(max_length=16)
    error_code = models.CharField(max_length=64)
    error = models.TextField()
    metadata: Any = models.JSONField()
    permissions: Any = models.JSONField()
    warnings: Any = models.JSONField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    language = models.CharField(max_length=8)
    readers = ArrayField(models.TextField(), null=True)

    objects = DocumentEntryQuerySet.as_manager()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.original_filename


class DocumentEntry(Entry):
    """A stored document, or one that is not stored."""

    class Meta:
        managed = False
        db_table = "documents_entry"
        ordering = ["-created_at", "-id"]


class StoredEntry(Entry):
    """A stored document: a list reads these alone in the order of an index, which it cannot across both."""

    class Meta:
        managed = False
        db_table = "documents_entry_stored"


class UnstoredEntry(Entry):
    """A document that waits, is being read, or has failed."""

    class Meta:
        managed = False
        db_table = "documents_entry_unstored"
