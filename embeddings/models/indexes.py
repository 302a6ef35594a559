"""The indexes that searches go through: of vectors with their measured recall, and of words for BM25."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import SparseVectorField

from embeddings.lexical.terms import SPARSE_DIMENSIONS


class LexicalEntry(models.Model):
    """A chunk's words for BM25: written with its first vector, gone with the chunk.

    lexemes finds candidates (GIN), weights orders them: BM25 term weights at hashed positions (lexical.py).
    """

    chunk = models.OneToOneField(
        "documents.Chunk", models.DO_NOTHING, primary_key=True, related_name="lexical", db_constraint=False
    )
    collection_id = models.UUIDField()
    lexemes = SearchVectorField()
    weights = SparseVectorField(dimensions=SPARSE_DIMENSIONS)

    class Meta:
        indexes = [
            GinIndex(fields=["lexemes"], name="lexical_by_lexeme"),
            models.Index(fields=["collection_id"], name="lexical_by_collection"),
        ]


class ChunkAnalysis(models.Model):
    """What ranking and checking read from a chunk's text (embeddings/lexical/sentences.py): written with its
    words. version: of the analysis; only the present one's is read.
    """

    pk = models.CompositePrimaryKey("chunk_id", "version")
    chunk = models.ForeignKey(
        "documents.Chunk", models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )  # the key begins with it
    version = models.SmallIntegerField()
    analysis = models.TextField()


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


class VectorIndex(models.Model):
    """The vector index of one model that searches go through, and how; no row: there is none.

    number: of its builds; stands in the relation's name and in its predicate. rows: when it was built.
    lists: of IVFFlat, else 0. effort: probes of IVFFlat, ef_search of HNSW. recall: at that effort, null if
    it could not be measured. serves: false where no effort brings recall enough; then searches are exact.
    """

    model = models.OneToOneField(
        "EmbeddingModel",
        models.DO_NOTHING,
        primary_key=True,
        related_name="vector_index",
        db_constraint=False,
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
        "EmbeddingModel", models.DO_NOTHING, related_name="index_measurements", db_constraint=False
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
