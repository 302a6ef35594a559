"""Tables of what a store outside PostgreSQL is still to hear of."""

from django.db import models


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
