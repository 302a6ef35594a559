"""Documents with their pages and chunks, and the queries about them."""

from collections.abc import Collection as Group
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, HashIndex, OpClass
from django.db import models
from django.db.models import Value
from django.db.models.functions import Coalesce, Length, Now
from django.utils import timezone

from documents.access import Access
from documents.models.permissions import readable_by
from documents.types import ChunkDraft, Extraction
from knowlex.base.ids import new_id

ROWS_PER_INSERT = 500


_CURRENT = models.Q(replaces__isnull=True)
# The chapter's number in the name of a Markdown file: "ch04" of "ch04-00-ownership.md", "ch04-01-moves.md".
_BOOK_CHAPTER = r"^([[:alpha:]]*[-_. ]?[0-9]*(?:[-_.][0-9]+)*)[-_.][0-9]{1,3}(?![0-9])"


SUFFIXES = {"MARKDOWN": ".md", "TEXT": ".txt"}  # of the others it is their name


def suffix_of(source: str) -> str:
    """Return the ending of a file's name, with its dot."""
    return SUFFIXES.get(source, f".{source.lower()}")


def stored_name(document: "Document", filename: str) -> str:
    """Return where the original file is stored: under the document's id, never under the user's name."""
    return str(PurePosixPath("documents") / f"{document.id}{suffix_of(document.source)}")


class DocumentQuerySet(models.QuerySet["Document"]):
    def current(self) -> Self:
        """Leave out pending new versions, which nobody may see."""
        return self.filter(replaces__isnull=True)

    def allowed_to(self, access: Access) -> Self:
        """Select the documents in collections that the caller may use, as far as it may read them."""
        rows = self.filter(readable_by(access))
        return rows if access.allowed is None else rows.filter(collection_id__in=access.allowed)

    def forgotten_versions(self) -> Self:
        """New versions that did not take over and of which no job has a record any more."""
        recorded = self.model._meta.apps.get_model("documents", "IngestItem").objects
        return self.filter(replaces__isnull=False).exclude(
            models.Exists(recorded.filter(id=models.OuterRef("id")))
        )

    def in_collection(self, collection_id: UUID) -> Self:
        return self.filter(collection_id=collection_id)

    def with_checksum(self, collection_id: UUID, checksum: str) -> Self:
        return self.filter(collection_id=collection_id, checksum=checksum)

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")

    def existing_ids(self, ids: Group[UUID]) -> set[UUID]:
        return set(self.filter(id__in=ids).values_list("id", flat=True))


class PageQuerySet(models.QuerySet["Page"]):
    def of_document(self, document_id: UUID) -> Self:
        """Select a document's pages in reading order; none of a pending new version."""
        return self.filter(document_id=document_id, document__replaces__isnull=True).order_by("number")

    def allowed_to(self, access: Access) -> Self:
        rows = self.filter(readable_by(access, "document__readers"))
        return rows if access.allowed is None else rows.filter(document__collection_id__in=access.allowed)

    def touching(self, start: int, end: int) -> Self:
        """Select the pages that hold some of `text[start:end]` of their document."""
        ends = models.F("start_char") + Length("text")
        return self.alias(end_char=ends).filter(start_char__lt=end, end_char__gt=start)

    def lengths(self) -> models.QuerySet["Page", tuple[int, int, str, list[str]]]:
        """Return (number, characters, read_by, warnings) of each page; the texts stay in the database."""
        rows = self.annotate(characters=Length("text"))
        return rows.values_list("number", "characters", "read_by", "warnings")

    def add_pages(self, document: "Document", extraction: Extraction) -> int:
        """Insert the extraction's pages in batches; returns how many."""
        rows = (
            self.model(
                document=document,
                number=page.number,
                start_char=page.start_char,
                text=extraction.text[page.start_char : page.end_char],
                read_by=page.read_by,
                warnings=list(page.warnings),
                words=page.words,
                head=page.head,
                foot=page.foot,
            )
            for page in extraction.pages
        )
        return len(self.bulk_create(rows, batch_size=ROWS_PER_INSERT))


class ChunkQuerySet(models.QuerySet["Chunk"]):
    def allowed_to(self, access: Access) -> Self:
        """Select the chunks of documents that the caller may read."""
        rows = self.filter(readable_by(access, "document__readers"))
        return rows if access.allowed is None else rows.filter(document__collection_id__in=access.allowed)

    def current(self) -> Self:
        """Leave out the chunks of pending new versions."""
        return self.filter(document__replaces__isnull=True)

    def of_document(self, document_id: UUID) -> Self:
        """Select all chunks of the document in reading order."""
        return self.filter(document_id=document_id).order_by("chunk_index")

    def add_drafts(self, document: "Document", drafts: Sequence[ChunkDraft]) -> int:
        """Insert the drafts in batches; returns how many."""
        rows = (
            self.model(
                document=document,
                chunk_index=draft.chunk_index,
                content=draft.content,
                start_char=draft.start_char,
                end_char=draft.end_char,
                token_count=draft.token_count,
                page_number=draft.page_number,
                last_page=draft.last_page,
                chapter=draft.chapter,
                section=draft.section,
                headers=list(draft.headers),
                chunk_type=draft.chunk_type,
                table_head=list(draft.table.texts) if draft.table else [],
            )
            for draft in drafts
        )
        return len(self.bulk_create(rows, batch_size=ROWS_PER_INSERT))


class DocumentSource(models.TextChoices):
    PDF = "PDF", "PDF"
    MARKDOWN = "MARKDOWN", "Markdown"
    HTML = "HTML", "HTML"
    DOCX = "DOCX", "DOCX"
    TEXT = "TEXT", "Plain text"
    XLSX = "XLSX", "XLSX"
    CSV = "CSV", "CSV"
    PPTX = "PPTX", "PPTX"
    ODT = "ODT", "ODT"
    RTF = "RTF", "RTF"
    EPUB = "EPUB", "EPUB"
    EML = "EML", "Mail (EML)"
    MSG = "MSG", "Mail (MSG)"


class ProcessingStatus(models.TextChoices):
    """The progress of a stored document's embedding."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


class Document(models.Model):
    """A stored document. Row, pages, chunks and file come and go together.

    replaces: this row is a pending new version of that document. No search finds it and it is
    in no list; its vectors are kept under `replaces_id` instead of the collection's id until they take over.
    status: pending (nobody asked for vectors), processing, completed (every chunk has its vector) or failed.
    book_chapter: the chapter's number in a Markdown file's name, which files of one chapter share; else null.
    language: ISO 639-1 code of most of its text, "" if unknown: by it words are analysed.
    brought_by: the principal that brought it in. readers: the principals that may read it, null for all; a
    trigger works them out of `permissions` and `brought_by`.
    """

    Source = DocumentSource
    Status = ProcessingStatus

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    collection = models.ForeignKey(
        "Collection", models.DO_NOTHING, related_name="documents", db_constraint=False
    )
    replaces = models.ForeignKey(
        "self", models.DO_NOTHING, related_name="successors", db_constraint=False, null=True, blank=True
    )
    source = models.CharField(max_length=16, choices=Source.choices)
    source_url = models.TextField(blank=True, default="", db_default="")
    original_filename = models.CharField(max_length=255)
    title = models.CharField(max_length=512, blank=True, default="")
    language = models.CharField(max_length=8, blank=True, default="", db_default="")
    book_chapter = models.GeneratedField(
        expression=models.Case(
            models.When(
                source=Source.MARKDOWN,
                then=models.Func(
                    models.F("original_filename"), models.Value(_BOOK_CHAPTER), function="substring"
                ),
            )
        ),
        output_field=models.TextField(null=True),
        db_persist=True,
    )
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
    brought_by = models.CharField(max_length=64, blank=True, default="", db_default="")
    readers = ArrayField(models.TextField(), null=True, editable=False)
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
            models.Index(
                fields=["collection", "book_chapter"],
                condition=models.Q(book_chapter__isnull=False),
                name="documents_of_chapter",
            ),
            GinIndex(OpClass("metadata", name="jsonb_path_ops"), name="documents_by_metadata"),
            *(
                models.Index(fields=[field, "id"], name=f"documents_by_{name}", condition=_CURRENT)
                for field, name in (("created_at", "creation"), ("updated_at", "change"), ("title", "title"))
            ),
            models.Index(
                Coalesce("size_bytes", 0), models.F("id"), name="documents_by_size", condition=_CURRENT
            ),
            models.Index(
                fields=["collection"],
                condition=models.Q(readers__isnull=False),
                name="documents_restricted",
            ),
            models.Index(fields=["file"], name="documents_by_file"),
            models.Index(fields=["id"], condition=models.Q(status="processing"), name="documents_processing"),
        ]

    def __str__(self) -> str:
        return self.original_filename


class Page(models.Model):
    """One page's text; the document's text is its pages in order, joined by one newline.

    words: with their boxes, of a page read by text recognition, as documents.types.PlacedWord; else None.
    head, foot: running lines and page numbers around the text, which are no part of it.
    """

    document = models.ForeignKey(Document, models.DO_NOTHING, related_name="pages", db_constraint=False)
    number = models.IntegerField()
    start_char = models.IntegerField()
    text = models.TextField()
    read_by = models.CharField(max_length=16)
    warnings = models.JSONField(default=list)
    words = models.JSONField(null=True)
    head = models.TextField(default="", db_default="")
    foot = models.TextField(default="", db_default="")

    objects = PageQuerySet.as_manager()

    class Meta:
        ordering = ["document_id", "number"]
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="pages_one_per_number")]

    def __str__(self) -> str:
        return f"page {self.number}"


class Chunk(models.Model):
    """A chunk of a document.

    headers: titles of all headings in force, outermost first; chapter and section are two of them.
    table_head: title and columns of the table that it has rows of; [] if it has none, or of several.
    """

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
    table_head = ArrayField(models.TextField(), default=list, db_default=[])
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
