"""The words of chunks, for BM25."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import SparseVectorField

from documents.models import Chunk
from embeddings.lexical.terms import SPARSE_DIMENSIONS


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
