"""Ingest jobs and their documents, idempotency records, and the queries about them."""

from typing import Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models

from documents.access import Access
from documents.models.permissions import readable_by
from knowlex.base.ids import new_id

OPEN = ("pending", "processing")


class IngestJobQuerySet(models.QuerySet["IngestJob"]):
    def allowed_to(self, access: Access) -> Self:
        """Select the jobs in collections that the caller may use, with a document that it may read."""
        rows = self if access.collection_ids is None else self.filter(collection__in=access.collection_ids)
        if access.reads_as is None:
            return rows
        items = self.model._meta.apps.get_model("documents", "IngestItem").objects
        return rows.filter(models.Exists(items.filter(readable_by(access), job=models.OuterRef("id"))))

    def ended(self) -> Self:
        """Select jobs of which nothing waits or is being processed."""
        return self.exclude(items__status__in=OPEN)

    def without_failures(self) -> Self:
        return self.exclude(items__status="failed")


class IngestItemQuerySet(models.QuerySet["IngestItem"]):
    def allowed_to(self, access: Access) -> Self:
        rows = self.filter(readable_by(access))
        return rows if access.collection_ids is None else rows.filter(collection__in=access.collection_ids)

    def open(self) -> Self:
        return self.filter(status__in=OPEN)

    def unstored(self) -> Self:
        """Select new documents that wait, are being read, or have failed."""
        return self.filter(replaces__isnull=True, deleted_at__isnull=True).exclude(status="completed")

    def of_document(self, document_id: UUID) -> Self:
        """Select the item that brought the document, and those that replace it."""
        return self.filter(models.Q(id=document_id) | models.Q(replaces=document_id))

    def retryable(self) -> Self:
        """Select failed items that were neither deleted nor superseded by a newer version."""
        again = self.filter(status="failed", deleted_at__isnull=True).exclude(
            error_code__in=("SUPERSEDED", "DELETED")
        )
        rivals = self.model._default_manager.filter(replaces=models.OuterRef("replaces"), status__in=OPEN)
        return again.exclude(models.Exists(rivals))

    def orphaned_duplicates(self) -> Self:
        """Select duplicates without a file, of documents that are gone."""
        documents = self.model._meta.apps.get_model("documents", "Document").objects
        original = documents.filter(id=models.OuterRef("duplicate_of"))
        rows = self.filter(status="failed", error_code="DUPLICATE", file="", source_url="")
        return rows.exclude(models.Exists(original))


class IngestJob(models.Model):
    """One call of ingest. Its items have the progress. settings: the chunking that was requested.

    told_at: when webhooks were told that it had ended; null again once something of it is retried.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    collection = models.ForeignKey(
        "Collection", models.DO_NOTHING, related_name="ingest_jobs", db_constraint=False
    )
    settings = models.JSONField(default=dict)
    origin = models.CharField(max_length=16, default="api")  # api, command, admin
    key_id = models.UUIDField(null=True)  # of the API key that was used, for the record
    brought_by = models.CharField(max_length=64, blank=True, default="", db_default="")  # as in Document
    created_at = models.DateTimeField(auto_now_add=True)
    told_at = models.DateTimeField(null=True, editable=False)

    objects = IngestJobQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["collection", "created_at"], name="ingest_jobs_by_age"),
            models.Index(
                fields=["created_at"], condition=models.Q(told_at__isnull=True), name="ingest_jobs_untold"
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class ItemStatus(models.TextChoices):
    """The progress of the work on a job's document."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


class IngestItem(models.Model):
    """One document of a job.

    id: what the document's id will be; of a replacement, the id of the version in the making.
    lease: token of the worker that processes it. leased_until: by the database's clock; past it, anyone may
    take the item over. In stage `embedding` there is no lease: the embedding queue has the work.
    readers: as in Document, before it is stored.
    file: stored name under the media root, from acceptance on (a URL's from when it was fetched).
    """

    class SourceType(models.TextChoices):
        FILE = "file"
        URL = "url"
        TEXT = "text"

    class Stage(models.TextChoices):
        QUEUED = "queued"
        FETCHING = "fetching"
        EXTRACTING = "extracting"
        CHUNKING = "chunking"
        EMBEDDING = "embedding"
        ENDED = "ended"

    Status = ItemStatus

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    job = models.ForeignKey(IngestJob, models.DO_NOTHING, related_name="items", db_constraint=False)
    collection = models.ForeignKey(
        "Collection", models.DO_NOTHING, related_name="ingest_items", db_constraint=False
    )
    replaces = models.ForeignKey(
        "Document", models.DO_NOTHING, related_name="replacements", db_constraint=False, null=True, blank=True
    )
    position = models.IntegerField()
    source_type = models.CharField(max_length=8, choices=SourceType.choices)
    source_url = models.TextField(blank=True, default="")
    filename = models.CharField(max_length=255)
    title = models.CharField(max_length=512, blank=True, default="")
    metadata = models.JSONField(default=dict)
    file = models.CharField(max_length=255, blank=True, default="")
    checksum = models.CharField(max_length=64, blank=True, default="")
    size_bytes = models.BigIntegerField(null=True)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.PENDING)
    stage = models.CharField(max_length=16, choices=Stage.choices, default=Stage.QUEUED)
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    pages_total = models.IntegerField(default=0)
    pages_done = models.IntegerField(default=0)
    chunks_made = models.IntegerField(default=0)
    duplicate_of = models.UUIDField(null=True)
    readers = ArrayField(models.TextField(), null=True, editable=False)
    warnings = models.JSONField(default=list)
    error_code = models.CharField(max_length=64, blank=True, default="")
    error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)  # the document was deleted, in whatever state it was

    objects = IngestItemQuerySet.as_manager()

    class Meta:
        ordering = ["job_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["job", "position"], name="items_one_per_position"),
            models.UniqueConstraint(
                fields=["replaces"],
                condition=models.Q(replaces__isnull=False, status__in=["pending", "processing"]),
                name="items_one_replacement",
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"], condition=models.Q(status__in=["pending", "processing"]), name="items_open"
            ),
            models.Index(fields=["collection", "created_at"], name="items_by_age"),
            models.Index(
                fields=["collection", "checksum"],
                condition=models.Q(status__in=["pending", "processing"]),
                name="items_open_by_checksum",
            ),
            models.Index(fields=["file"], name="items_by_file"),
            models.Index(
                fields=["created_at", "id"],
                condition=models.Q(replaces__isnull=True, deleted_at__isnull=True)
                & ~models.Q(status="completed"),
                name="items_unstored",
            ),
        ]

    def __str__(self) -> str:
        return self.filename


class IdempotencyRecord(models.Model):
    """A request that its sender may repeat, and its reply.

    scope: the API key's id, or the account's, or "" without one. fingerprint: SHA-256 of what was asked, hex.
    status: of the answer, null while the first request is under way.
    """

    id = models.BigAutoField(primary_key=True)
    scope = models.CharField(max_length=64, blank=True, default="")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status = models.IntegerField(null=True)
    body = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    locked_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scope", "key"], name="idempotency_one_per_key")]
        indexes = [models.Index(fields=["created_at"], name="idempotency_by_age")]

    def __str__(self) -> str:
        return self.key
