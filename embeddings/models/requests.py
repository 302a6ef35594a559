"""What is to be embedded, and by whose call."""

from django.db import models

from documents.models import Chunk
from embeddings.models.vectors import EmbeddingModel
from embeddings.querysets import EmbeddingRequestQuerySet, EmbeddingRunQuerySet
from knowlex.base.ids import new_id


class EmbeddingRun(models.Model):
    """One call that asked a model for vectors: which chunks it asked for is in the requests that name it.

    embedded and failed are counted up by the workers in the transaction that stores the vectors.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    model = models.ForeignKey(
        EmbeddingModel, models.DO_NOTHING, related_name="runs", db_constraint=False, null=True, db_index=False
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
        Chunk, models.DO_NOTHING, related_name="embedding_requests", db_constraint=False
    )
    model = models.ForeignKey(
        EmbeddingModel, models.DO_NOTHING, related_name="requests", db_constraint=False, db_index=False
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
