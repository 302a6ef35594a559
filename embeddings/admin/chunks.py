"""Chunks in the admin, with the state of their vector."""

from typing import Any

from django.contrib import admin
from django.db.models import Case, Exists, OuterRef, QuerySet, Subquery, Value, When
from django.http import HttpRequest

from documents.admin import ChunkAdmin
from documents.models import Chunk
from embeddings.admin.state import EmbeddingStateFilter
from embeddings.models import Embedding, EmbeddingRequest

admin.site.unregister(Chunk)


@admin.register(Chunk)
class EmbeddedChunkAdmin(ChunkAdmin):
    list_display = [*ChunkAdmin.list_display, "embedding_state"]
    list_filter = [EmbeddingStateFilter, *ChunkAdmin.list_filter]
    fields = (*ChunkAdmin.fields, "embedding_state", "reason")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chunk]:
        of_chunk = {"chunk": OuterRef("pk"), "model__active": True}
        failed = EmbeddingRequest.objects.failed().filter(**of_chunk)
        state = Case(
            When(Exists(Embedding.objects.filter(**of_chunk)), then=Value("embedded")),
            When(Exists(failed), then=Value("failed")),
            default=Value("pending"),
        )
        return super().get_queryset(request).annotate(state=state, error=Subquery(failed.values("error")[:1]))

    @admin.display(description="embedding")
    def embedding_state(self, chunk: Any) -> str:
        return str(chunk.state)

    @admin.display(description="reason of the failure")
    def reason(self, chunk: Any) -> str:
        return chunk.error or "–"
