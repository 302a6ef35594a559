"""Every query of the documents app has a name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.db import models

from documents.types import ChunkDraft

if TYPE_CHECKING:
    from documents.models import Chunk, Collection, Document  # noqa: F401


class CollectionQuerySet(models.QuerySet["Collection"]):
    def named(self, name_or_id: str) -> Self:
        """The collection with this name, or with this id if the text is a UUID."""
        try:
            return self.filter(models.Q(name=name_or_id) | models.Q(id=UUID(name_or_id)))
        except ValueError:
            return self.filter(name=name_or_id)


class DocumentQuerySet(models.QuerySet["Document"]):
    def in_collection(self, collection_id: UUID) -> Self:
        return self.filter(collection_id=collection_id)

    def with_checksum(self, collection_id: UUID, checksum: str) -> Self:
        return self.filter(collection_id=collection_id, checksum=checksum)


class ChunkQuerySet(models.QuerySet["Chunk"]):
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
            )
            for draft in drafts
        )
        return len(self.bulk_create(rows, batch_size=500))
