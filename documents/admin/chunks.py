"""Chunks in the admin."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import Truncator

from documents.models import Chunk


@admin.register(Chunk)
class ChunkAdmin(admin.ModelAdmin[Chunk]):
    """Chunks are read, never changed: their text is what was embedded and what is cited."""

    list_display = ["excerpt", "document_link", "chunk_index", "page", "chapter", "token_count"]
    list_filter = ["document__source", "document__collection"]
    list_select_related = ["document"]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["content"]
    ordering = ["-document_id", "chunk_index"]
    fields: ClassVar[tuple[str, ...]] = (
        "id", "document_link", "chunk_index", "page", "chapter", "section", "token_count",
        "start_char", "end_char", "content", "created_at",
    )  # fmt: skip
    readonly_fields = fields

    @admin.display(description="content")
    def excerpt(self, chunk: Chunk) -> str:
        return Truncator(chunk.content).chars(120)

    @admin.display(description="document", ordering="document__original_filename")
    def document_link(self, chunk: Chunk) -> str:
        url = reverse("admin:documents_document_change", args=[chunk.document_id])
        return format_html('<a href="{}">{}</a>', url, chunk.document.original_filename)

    @admin.display(ordering="page_number")
    def page(self, chunk: Chunk) -> str:
        if chunk.page_number is None:
            return "–"
        if chunk.last_page in (None, chunk.page_number):
            return str(chunk.page_number)
        return f"{chunk.page_number}–{chunk.last_page}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chunk]:
        """None of a new version in the making."""
        return super().get_queryset(request).filter(document__replaces__isnull=True)

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        return lookup == "document__id__exact" or super().lookup_allowed(lookup, value, request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Chunk | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Chunk | None = None) -> bool:
        return False
