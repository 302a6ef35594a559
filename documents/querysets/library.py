"""Queries about collections, documents, pages and chunks."""

from collections.abc import Collection as Group
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models.functions import Coalesce, Length

from documents.access.scopes import Access
from documents.types import ChunkDraft, Extraction

if TYPE_CHECKING:
    from documents.models import Chunk, Collection, Document, Page  # noqa: F401

ROWS_PER_INSERT = 500


class CollectionQuerySet(models.QuerySet["Collection"]):
    def named(self, name_or_id: str) -> Self:
        """The collection with this name, or with this id if the text is a UUID."""
        try:
            return self.filter(models.Q(name=name_or_id) | models.Q(id=UUID(name_or_id)))
        except ValueError:
            return self.filter(name=name_or_id)

    def named_any(self, names_or_ids: Sequence[str]) -> Self:
        """Those with one of these names, or of these ids."""
        ids = []
        for text in names_or_ids:
            with suppress(ValueError):
                ids.append(UUID(text))
        return self.filter(models.Q(name__in=names_or_ids) | models.Q(id__in=ids))

    def allowed_to(self, access: Access) -> Self:
        """Those that the caller may use."""
        return self if access.allowed is None else self.filter(id__in=access.allowed)

    def with_counts(self) -> Self:
        """Adds `document_count` and `chunk_count`, of stored documents, in the same statement."""
        documents: Any = apps.get_model("documents", "Document").objects
        stored = documents.current()
        of_each = stored.filter(collection=models.OuterRef("pk")).order_by().values("collection")
        counts = {"document_count": models.Count("*"), "chunk_count": models.Sum("chunk_count")}
        return self.annotate(
            **{
                name: Coalesce(models.Subquery(of_each.annotate(found=count).values("found")), 0)
                for name, count in counts.items()
            }
        )

    def holding(self, text: str) -> Self:
        """Those whose name or description holds the text, whatever the case."""
        return self.filter(models.Q(name__icontains=text) | models.Q(description__icontains=text))


class DocumentQuerySet(models.QuerySet["Document"]):
    def current(self) -> Self:
        """Without new versions in the making, which nobody may see."""
        return self.filter(replaces__isnull=True)

    def allowed_to(self, access: Access) -> Self:
        """Those in collections that the caller may use."""
        return self if access.allowed is None else self.filter(collection_id__in=access.allowed)

    def forgotten_versions(self) -> Self:
        """New versions that did not take over and of which no job tells any more."""
        told = self.model._meta.apps.get_model("documents", "IngestItem").objects
        return self.filter(replaces__isnull=False).exclude(
            models.Exists(told.filter(id=models.OuterRef("id")))
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
        """In reading order; none of a new version in the making."""
        return self.filter(document_id=document_id, document__replaces__isnull=True).order_by("number")

    def allowed_to(self, access: Access) -> Self:
        if access.allowed is None:
            return self
        return self.filter(document__collection_id__in=access.allowed)

    def lengths(self) -> models.QuerySet["Page", tuple[int, int, str, list[str]]]:
        """(number, characters, read_by, warnings): the texts stay in the database."""
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
            )
            for page in extraction.pages
        )
        return len(self.bulk_create(rows, batch_size=ROWS_PER_INSERT))


class ChunkQuerySet(models.QuerySet["Chunk"]):
    def allowed_to(self, access: Access) -> Self:
        """Those of documents in collections that the caller may use."""
        return self if access.allowed is None else self.filter(document__collection_id__in=access.allowed)

    def current(self) -> Self:
        """Without those of new versions in the making."""
        return self.filter(document__replaces__isnull=True)

    def of_document(self, document_id: UUID) -> Self:
        """All chunks of the document in reading order."""
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
            )
            for draft in drafts
        )
        return len(self.bulk_create(rows, batch_size=ROWS_PER_INSERT))


class DocumentEntryQuerySet(models.QuerySet[Any]):
    def allowed_to(self, access: Access) -> Self:
        """Those in collections that the caller may use."""
        return self if access.allowed is None else self.filter(collection_id__in=access.allowed)

    def with_origin(self) -> Self:
        """Adds `source_type`, `replacing` and `size`, in the same statement."""
        items: Any = apps.get_model("documents", "IngestItem").objects
        own = items.filter(id=models.OuterRef("id")).order_by().values("source_type")
        newer = items.filter(replaces=models.OuterRef("id"), status__in=("pending", "processing"))
        return self.annotate(
            source_type=models.Subquery(own),
            replacing=models.Exists(newer),
            size=Coalesce("size_bytes", 0),
        )

    def worth_a_line(self) -> Self:
        """Without duplicates: the document is there already, and the job that brought it again tells so."""
        return self.exclude(error_code="DUPLICATE")

    def holding(self, text: str) -> Self:
        """Those whose title or file name holds the text, whatever the case."""
        return self.filter(models.Q(title__icontains=text) | models.Q(original_filename__icontains=text))
