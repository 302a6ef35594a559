"""Tables of the documents app. Rows below a document go with it by the database's own ON DELETE CASCADE.

Foreign keys are declared without Django's constraint (`db_constraint=False`, DO_NOTHING) and added by the
first migration as immediate, cascading ones: one DELETE takes everything along, whatever a worker
inserts meanwhile.
"""

from pathlib import PurePosixPath

from django.db import models

from documents.querysets import ChunkQuerySet, CollectionQuerySet, DocumentQuerySet, PageQuerySet
from knowlex.common.ids import new_id

DEFAULT_COLLECTION = "default"


def stored_name(document: "Document", filename: str) -> str:
    """Where the original file is kept: under the document's id, never under the user's name."""
    suffix = {"PDF": ".pdf", "MARKDOWN": ".md"}[document.source]
    return str(PurePosixPath("documents") / f"{document.id}{suffix}")


class Collection(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=255, unique=True)
    description = models.TextField(blank=True, default="")
    settings = models.JSONField(blank=True, default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Document(models.Model):
    class Source(models.TextChoices):
        PDF = "PDF"
        MARKDOWN = "MARKDOWN"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    collection = models.ForeignKey(
        Collection, models.DO_NOTHING, related_name="documents", db_constraint=False
    )
    source = models.CharField(max_length=16, choices=Source.choices)
    original_filename = models.CharField(max_length=255)
    title = models.CharField(max_length=512, blank=True, default="")
    checksum = models.CharField(max_length=64)  # SHA-256 of the uploaded bytes, hex
    size_bytes = models.BigIntegerField()
    file = models.FileField(upload_to=stored_name, max_length=255)
    page_count = models.IntegerField()
    chunk_count = models.IntegerField()
    metadata = models.JSONField(blank=True, default=dict)
    warnings = models.JSONField(blank=True, default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "checksum"], name="documents_one_per_checksum")
        ]
        indexes = [models.Index(fields=["collection", "created_at"], name="documents_by_age")]

    def __str__(self) -> str:
        return self.original_filename


class Page(models.Model):
    """One page's text; the document's text is its pages in order, joined by one newline."""

    document = models.ForeignKey(Document, models.DO_NOTHING, related_name="pages", db_constraint=False)
    number = models.IntegerField()
    start_char = models.IntegerField()
    text = models.TextField()
    read_by = models.CharField(max_length=16)
    warnings = models.JSONField(default=list)

    objects = PageQuerySet.as_manager()

    class Meta:
        ordering = ["document_id", "number"]
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="pages_one_per_number")]

    def __str__(self) -> str:
        return f"page {self.number}"


class Chunk(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    document = models.ForeignKey(Document, models.DO_NOTHING, related_name="chunks", db_constraint=False)
    chunk_index = models.IntegerField()
    content = models.TextField()
    start_char = models.IntegerField()
    end_char = models.IntegerField()
    token_count = models.IntegerField()
    page_number = models.IntegerField(null=True)
    last_page = models.IntegerField(null=True)
    chapter = models.TextField(blank=True, default="")
    section = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ChunkQuerySet.as_manager()

    class Meta:
        ordering = ["document_id", "chunk_index"]
        constraints = [
            models.UniqueConstraint(fields=["document", "chunk_index"], name="chunks_one_per_index")
        ]

    def __str__(self) -> str:
        return f"chunk {self.chunk_index}"
