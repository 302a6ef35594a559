"""The embedding models, and the vectors of chunks and of their sentences."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from pgvector.django import HalfVectorField, VectorField

from embeddings.types import ModelSpec


class EmbeddingModelQuerySet(models.QuerySet["EmbeddingModel"]):
    def active(self) -> Self:
        """Return none or one row."""
        return self.filter(active=True)

    def wanted(self) -> Self:
        """Return the models that every new chunk is embedded with; the active one first."""
        return self.filter(wanted=True).order_by("-active", "id")

    def others_wanted(self) -> Self:
        """Return those that are being built, and the one before."""
        return self.filter(wanted=True, active=False).order_by("id")

    def before(self) -> Self:
        """Return none or one row: the model that was active before the active one, whose vectors are kept
        up.
        """
        active = self.model.objects.active().values("activated_at")[:1]
        former = self.filter(wanted=True, active=False, deactivated_at__isnull=False)
        return former.filter(activated_at__lt=models.Subquery(active)).order_by("-activated_at")[:1]

    def urgent(self) -> Self:
        """Return those whose work somebody waits for, before all other work."""
        return self.filter(wanted=True, first_until__gt=Now())


class EmbeddingModel(models.Model):
    """A model whose vectors are stored. Several can live side by side; exactly one is active.

    options: what its embedder is built with, besides provider, name and dimensions, for example the path of a
    folder; never a secret. wanted: every new chunk is embedded with it (the active one, one that is being
    built, the one before, so that going back is at once). first_until: by the database's clock; till then its
    work goes before the active model's. calibration: weights of its relevance model; null means the ones that
    ship.
    """

    id = models.SmallAutoField(primary_key=True)
    name = models.CharField(max_length=255, unique=True)
    provider = models.CharField(max_length=32)
    dimensions = models.IntegerField()
    options = models.JSONField(default=dict, blank=True)
    active = models.BooleanField(default=False)
    wanted = models.BooleanField(default=False)
    first_until = models.DateTimeField(null=True, blank=True)
    activated_at = models.DateTimeField(null=True, blank=True)
    deactivated_at = models.DateTimeField(null=True, blank=True)
    calibration = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EmbeddingModelQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["active"], condition=models.Q(active=True), name="models_one_active"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def spec(self) -> ModelSpec:
        return ModelSpec.of(
            {name: getattr(self, name) for name in ("provider", "name", "dimensions", "options")}
        )


class Embedding(models.Model):
    """One vector of one chunk by one model. Narrow on purpose: a search reads only this table's rows."""

    pk = models.CompositePrimaryKey("chunk_id", "model_id")
    chunk = models.ForeignKey(
        "documents.Chunk", models.DO_NOTHING, related_name="embeddings", db_constraint=False
    )
    model = models.ForeignKey(
        EmbeddingModel, models.DO_NOTHING, related_name="embeddings", db_constraint=False
    )
    collection_id = models.UUIDField()
    vector = VectorField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["model", "collection_id"], name="embeddings_by_collection")]


class SentenceVectors(models.Model):
    """The vectors of one chunk's sentences by one model, beside the chunk's own: read for candidates only.

    bounds: start and end of each sentence in the chunk's content, one after the other. vectors: halfvec[] of
    as many, each of length 1.
    """

    pk = models.CompositePrimaryKey("chunk_id", "model_id")
    chunk = models.ForeignKey("documents.Chunk", models.DO_NOTHING, related_name="+", db_constraint=False)
    model = models.ForeignKey(EmbeddingModel, models.DO_NOTHING, related_name="+", db_constraint=False)
    bounds = ArrayField(models.IntegerField())
    vectors = ArrayField(HalfVectorField())
