"""The work that is pending: chunks to be embedded, and what an external vector store is to be sent."""

from datetime import datetime
from typing import Self

from django.db import models

from knowlex.base.ids import new_id


class EmbeddingRequestQuerySet(models.QuerySet["EmbeddingRequest"]):
    def failed(self) -> Self:
        return self.filter(failed_at__isnull=False)

    def waiting(self) -> Self:
        """Return those that are queued or being worked on."""
        return self.filter(failed_at__isnull=True)


class EmbeddingRunQuerySet(models.QuerySet["EmbeddingRun"]):
    def finished_before(self, moment: datetime) -> Self:
        """Return those older than that of which nothing is waiting or failed."""
        return self.filter(created_at__lt=moment, requests__isnull=True)


class EmbeddingRun(models.Model):
    """One call that asked a model for vectors: which chunks it asked for is in the requests that name it.

    embedded and failed are counted up by the workers in the transaction that stores the vectors.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    model = models.ForeignKey(
        "EmbeddingModel",
        models.DO_NOTHING,
        related_name="runs",
        db_constraint=False,
        null=True,
        db_index=False,
    )
    requested = models.IntegerField(default=0)
    embedded = models.IntegerField(default=0)
    failed = models.IntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EmbeddingRunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=models.Q(requested__gt=models.F("embedded") + models.F("failed")),
                name="runs_open",
            )
        ]


class EmbeddingRequest(models.Model):
    """A chunk that a model is to embed: gone when its vector is stored, kept with its reason if it failed.

    batch: the up to 20 requests that one task handles. lease: token of the worker that holds it.
    leased_until: by the database's clock; past it, anyone may take the request over.
    """

    chunk = models.ForeignKey(
        "documents.Chunk", models.DO_NOTHING, related_name="embedding_requests", db_constraint=False
    )
    model = models.ForeignKey(
        "EmbeddingModel", models.DO_NOTHING, related_name="requests", db_constraint=False, db_index=False
    )
    run = models.ForeignKey(EmbeddingRun, models.DO_NOTHING, related_name="requests", db_constraint=False)
    batch = models.UUIDField(null=True)
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    failed_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EmbeddingRequestQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chunk", "model"], name="requests_one_per_chunk")]
        indexes = [
            models.Index(
                fields=["leased_until"],
                condition=models.Q(leased_until__isnull=False),
                name="requests_due",
            ),
            models.Index(fields=["batch"], name="requests_by_batch"),
            models.Index(fields=["lease"], condition=models.Q(lease__isnull=False), name="requests_by_lease"),
            models.Index(fields=["run", "id"], name="requests_by_run"),
        ]


class OutsideStore(models.Model):
    """The vector store outside PostgreSQL that is in use: one row, or none. While it is there, triggers note
    every vector that changes in the outbox.

    kind: chroma, qdrant. place: its address without a password, and what its collections' names begin with.
    fingerprint: of the settings that say which store it is. filled: all vectors that were there when it came
    are in the outbox. failures: of calls one after the other, 0 while it works; retry_at: by the database's
    clock, till then it is not called; error: of the last one.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    kind = models.CharField(max_length=16)
    place = models.TextField()
    fingerprint = models.CharField(max_length=64)
    since = models.DateTimeField()
    filled = models.BooleanField(default=False)
    failures = models.IntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    retry_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True, default="")

    class Meta:
        verbose_name = "vector store outside PostgreSQL"
        verbose_name_plural = "vector store outside PostgreSQL"
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="outside_store_one")]

    def __str__(self) -> str:
        return f"{self.kind} at {self.place}"


class OutboxEntry(models.Model):
    """A vector that the store outside PostgreSQL does not have yet as it is here, be it that it is gone here.

    Neither key is a foreign one: chunk and model may be gone. version: rises with each further change, and
    over all entries. lease: token of the worker that has it in hand. leased_until: by the database's clock;
    till then nobody takes it, be it leased or put off after a failure. created_at: of the first change.
    """

    pk = models.CompositePrimaryKey("model_id", "chunk_id")
    model_id = models.SmallIntegerField()
    chunk_id = models.UUIDField()
    version = models.BigIntegerField()
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "outbox entries"
        indexes = [
            models.Index(fields=["version"], name="outbox_in_order"),
            models.Index(fields=["lease"], condition=models.Q(lease__isnull=False), name="outbox_by_lease"),
        ]


class DroppedSpace(models.Model):
    """A removed model, whose vectors the store outside PostgreSQL is still to drop."""

    model_id = models.SmallIntegerField(primary_key=True)
    dimensions = models.IntegerField()
    created_at = models.DateTimeField()
