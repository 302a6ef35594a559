"""Tables of the embeddings app. Foreign keys cascade in the database; see documents.models."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import HalfVectorField, SparseVectorField, VectorField

from documents.models import Chunk
from embeddings.lexical import SPARSE_DIMENSIONS
from embeddings.outbox_models import DroppedSpace as DroppedSpace
from embeddings.outbox_models import OutboxEntry as OutboxEntry
from embeddings.outbox_models import OutsideStore as OutsideStore
from embeddings.querysets import (
    EmbeddingModelQuerySet,
    EmbeddingRequestQuerySet,
    EmbeddingRunQuerySet,
)
from embeddings.types import ModelSpec
from knowlex.common.ids import new_id


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
    chunk = models.ForeignKey(Chunk, models.DO_NOTHING, related_name="embeddings", db_constraint=False)
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
    chunk = models.ForeignKey(Chunk, models.DO_NOTHING, related_name="+", db_constraint=False)
    model = models.ForeignKey(EmbeddingModel, models.DO_NOTHING, related_name="+", db_constraint=False)
    bounds = ArrayField(models.IntegerField())
    vectors = ArrayField(HalfVectorField())


class VectorIndex(models.Model):
    """The vector index of one model that searches go through, and how; no row: there is none.

    number: of its builds; stands in the relation's name and in its predicate. rows: when it was built.
    lists: of IVFFlat, else 0. effort: probes of IVFFlat, ef_search of HNSW. recall: at that effort, null if
    it could not be measured. serves: false where no effort brings recall enough; then searches are exact.
    """

    model = models.OneToOneField(
        EmbeddingModel, models.DO_NOTHING, primary_key=True, related_name="vector_index", db_constraint=False
    )
    number = models.IntegerField()
    kind = models.CharField(max_length=16)
    storage = models.CharField(max_length=16)
    rows = models.BigIntegerField()
    lists = models.IntegerField(default=0)
    effort = models.IntegerField()
    recall = models.FloatField(null=True)
    serves = models.BooleanField()
    exact_below = models.IntegerField()
    built_at = models.DateTimeField()
    measured_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "vector indexes"

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


class IndexMeasurement(models.Model):
    """What an index found of what an exact search finds: recall@10 over a sample, milliseconds of a search.

    sample: how many stored vectors were asked with. reason: why it was measured ("built: grown", "schedule").
    """

    id = models.BigAutoField(primary_key=True)
    model = models.ForeignKey(
        EmbeddingModel, models.DO_NOTHING, related_name="index_measurements", db_constraint=False
    )
    kind = models.CharField(max_length=16)
    storage = models.CharField(max_length=16)
    rows = models.BigIntegerField()
    lists = models.IntegerField()
    effort = models.IntegerField()
    sample = models.IntegerField()
    recall = models.FloatField()
    index_ms = models.FloatField()
    exact_ms = models.FloatField()
    serves = models.BooleanField()
    reason = models.CharField(max_length=64)
    measured_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["model", "-id"], name="measurements_of_model")]


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


class LexicalEntry(models.Model):
    """A chunk's words for BM25: written with its first vector, gone with the chunk.

    lexemes finds candidates (GIN), weights orders them: BM25 term weights at hashed positions (lexical.py).
    """

    chunk = models.OneToOneField(
        Chunk, models.DO_NOTHING, primary_key=True, related_name="lexical", db_constraint=False
    )
    collection_id = models.UUIDField()
    lexemes = SearchVectorField()
    weights = SparseVectorField(dimensions=SPARSE_DIMENSIONS)

    class Meta:
        indexes = [GinIndex(fields=["lexemes"], name="lexical_by_lexeme")]


class LexemeCount(models.Model):
    """In how many chunks of a collection a lexeme stands: the sum of `chunks` over its rows.

    Triggers on LexicalEntry add a row per change, so writers never wait for one another; sweeps fold rows.
    The empty lexeme counts the chunks themselves.
    """

    collection_id = models.UUIDField()
    lexeme = models.TextField()
    chunks = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["collection_id", "lexeme"], include=["chunks"], name="lexeme_counts")]
