"""Collections, documents, pages and chunks: what is there to be asked about."""

from pathlib import PurePosixPath
from typing import Any

from django.contrib.postgres.indexes import GinIndex, HashIndex, OpClass
from django.db import models
from django.db.models import Value
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from documents.querysets.library import (
    ChunkQuerySet,
    CollectionQuerySet,
    DocumentEntryQuerySet,
    DocumentQuerySet,
    PageQuerySet,
)
from knowlex.base.ids import new_id

_CURRENT = models.Q(replaces__isnull=True)
DEFAULT_COLLECTION = "default"
SUFFIXES = {"PDF": ".pdf", "MARKDOWN": ".md", "HTML": ".html", "DOCX": ".docx", "TEXT": ".txt"}


def stored_name(document: "Document", filename: str) -> str:
    """Where the original file is kept: under the document's id, never under the user's name."""
    return str(PurePosixPath("documents") / f"{document.id}{SUFFIXES[document.source]}")


class Collection(models.Model):
    """settings: as checked by documents.library.collections; what is missing is the server's default."""

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


class DocumentSource(models.TextChoices):
    PDF = "PDF", "PDF"
    MARKDOWN = "MARKDOWN", "Markdown"
    HTML = "HTML", "HTML"
    DOCX = "DOCX", "DOCX"
    TEXT = "TEXT", "Plain text"


class ProcessingStatus(models.TextChoices):
    """Of a document: how far its chunks are embedded. Of a job's document: how far its work is."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


class Document(models.Model):
    """Whole or not at all: row, pages, chunks and stored file come and go together.

    replaces: this row is the new version, in the making, of that document. It answers no question and stands
    in no list; its vectors are kept under `replaces_id` instead of the collection's id until they take over.
    status: pending (nobody asked for vectors), processing, completed (every chunk has its vector) or failed.
    language: ISO 639-1 code of most of its text, "" if unknown: by it words are analysed.
    """

    Source = DocumentSource
    Status = ProcessingStatus

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    collection = models.ForeignKey(
        Collection, models.DO_NOTHING, related_name="documents", db_constraint=False
    )
    replaces = models.ForeignKey(
        "self", models.DO_NOTHING, related_name="successors", db_constraint=False, null=True, blank=True
    )
    source = models.CharField(max_length=16, choices=Source.choices)
    source_url = models.TextField(blank=True, default="", db_default="")
    original_filename = models.CharField(max_length=255)
    title = models.CharField(max_length=512, blank=True, default="")
    language = models.CharField(max_length=8, blank=True, default="", db_default="")
    checksum = models.CharField(max_length=64)  # SHA-256 of the uploaded bytes, hex
    size_bytes = models.BigIntegerField()
    file = models.FileField(upload_to=stored_name, max_length=255)
    page_count = models.IntegerField()
    chunk_count = models.IntegerField()
    status = models.CharField(
        max_length=16, choices=Status.choices, default=Status.PENDING, db_default=Status.PENDING
    )
    metadata = models.JSONField(blank=True, default=dict)
    permissions = models.JSONField(blank=True, default=dict, db_default=Value({}, models.JSONField()))
    warnings = models.JSONField(blank=True, default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True, db_default=Now())

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "checksum"],
                condition=models.Q(replaces__isnull=True),
                name="documents_one_per_checksum",
            ),
            models.UniqueConstraint(
                fields=["replaces"],
                condition=models.Q(replaces__isnull=False),
                name="documents_one_replacement",
            ),
        ]
        indexes = [
            models.Index(fields=["collection", "created_at", "id"], name="documents_by_age"),
            models.Index(fields=["collection", "language"], name="documents_by_language"),
            GinIndex(OpClass("metadata", name="jsonb_path_ops"), name="documents_by_metadata"),
            *(
                models.Index(fields=[field, "id"], name=f"documents_by_{name}", condition=_CURRENT)
                for field, name in (("created_at", "creation"), ("updated_at", "change"), ("title", "title"))
            ),
            models.Index(
                Coalesce("size_bytes", 0), models.F("id"), name="documents_by_size", condition=_CURRENT
            ),
            models.Index(fields=["file"], name="documents_by_file"),
            models.Index(fields=["id"], condition=models.Q(status="processing"), name="documents_processing"),
        ]

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
    """headers: titles of all headings in force, outermost first; chapter and section are two of them."""

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
    headers = models.JSONField(default=list, db_default=Value([], models.JSONField()))
    chunk_type = models.CharField(max_length=16, default="paragraph", db_default="paragraph")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ChunkQuerySet.as_manager()

    class Meta:
        ordering = ["document_id", "chunk_index"]
        constraints = [
            models.UniqueConstraint(fields=["document", "chunk_index"], name="chunks_one_per_index")
        ]
        # By their hashes: a title may be longer than a B-tree takes.
        indexes = [
            HashIndex(fields=[field], condition=~models.Q(**{field: ""}), name=f"chunks_by_{field}")
            for field in ("chapter", "section")
        ]

    def __str__(self) -> str:
        return f"chunk {self.chunk_index}"


class CollectionChange(models.Model):
    """Something in a collection changed; see documents.library.collection_states. Triggers add the rows."""

    id = models.BigAutoField(primary_key=True)
    collection_id = models.UUIDField()
    mark = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["collection_id"], include=["mark"], name="changes_of_collection")]

    def __str__(self) -> str:
        return f"change of {self.collection_id}"


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

    objects = DocumentEntryQuerySet.as_manager()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.original_filename


class DocumentEntry(Entry):
    """Both kinds."""

    class Meta:
        managed = False
        db_table = "documents_entry"
        ordering = ["-created_at", "-id"]


class StoredEntry(Entry):
    """Stored documents alone: a list reads them in the order of an index, which it cannot across both."""

    class Meta:
        managed = False
        db_table = "documents_entry_stored"


class UnstoredEntry(Entry):
    """What waits, is being read, or has failed."""

    class Meta:
        managed = False
        db_table = "documents_entry_unstored"
