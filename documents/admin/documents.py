"""Admin of documents and chunks: lists with filters, and a report of how each page was read.

Uploading, replacing and deleting touch the embedding work too: embeddings.admin adds them.
"""

from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html, format_html_join
from django.utils.text import Truncator

from documents.access import FULL
from documents.admin.words import state_badge
from documents.library.collection_statistics import stored_languages
from documents.library.listing import PageReport, page_report
from documents.models import Chunk, Document, IngestItem, Page
from documents.types import PAGE_WARNINGS, UNREAD_WARNINGS


class BoundedPaginator(Paginator[Any]):
    """Pages of the first MOST rows: to count a million takes seconds, and nobody turns so many pages."""

    MOST = 10_000

    @cached_property
    def count(self) -> int:
        return int(self.object_list.order_by()[: self.MOST].count())  # type: ignore[attr-defined]


@admin.register(Chunk)
class ChunkAdmin(admin.ModelAdmin[Chunk]):
    """Chunks are read, never changed: their text is what was embedded and what is cited."""

    list_display = ["excerpt", "document_link", "chunk_index", "page", "chapter", "token_count"]
    list_filter = ["document__source", "document__collection"]
    list_select_related = ["document"]
    list_per_page = 50
    show_full_result_count = False
    paginator = BoundedPaginator
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
        """Leave out chunks of pending new versions."""
        return super().get_queryset(request).filter(document__replaces__isnull=True)

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        return lookup == "document__id__exact" or super().lookup_allowed(lookup, value, request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Chunk | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Chunk | None = None) -> bool:
        return False


class WarningsFilter(admin.SimpleListFilter):
    title = "warnings"
    parameter_name = "warnings"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "With warnings"), ("no", "Without"), ("unread", "Pages that could not be read")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        if self.value() == "unread":
            pages = Page.objects.filter(
                document=OuterRef("pk"), warnings__has_any_keys=sorted(UNREAD_WARNINGS)
            )
            return queryset.filter(Exists(pages))
        if self.value() == "yes":
            return queryset.exclude(warnings=[])
        return queryset.filter(warnings=[]) if self.value() == "no" else queryset


class LanguageFilter(admin.SimpleListFilter):
    title = "language"
    parameter_name = "language"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code or "none", code or "unknown") for code in stored_languages()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        code = self.value()
        return queryset if code is None else queryset.filter(language="" if code == "none" else code)


class JobFilter(admin.SimpleListFilter):
    """The documents of one job: its page leads here."""

    title = "ingest job"
    parameter_name = "job"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        job_id = _parse_uuid(request.GET.get("job"))
        return [(str(job_id), "This job")] if job_id else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        job_id = _parse_uuid(self.value())
        if job_id is None:
            return queryset
        items = IngestItem.objects.filter(job_id=job_id)
        replaced = items.filter(replaces__isnull=False).values("replaces")
        return queryset.filter(id__in=items.values("id")) | queryset.filter(id__in=replaced)


@admin.register(Document)
class DocumentAdmin(admin.ModelAdmin[Document]):
    """Documents, read-only."""

    list_display = [
        "name",
        "collection",
        "state",
        "source",
        "language",
        "pages",
        "chunk_link",
        "warned",
        "size",
    ]
    list_display_links = ["name"]
    list_filter = ["status", "source", LanguageFilter, WarningsFilter, JobFilter, "collection", "created_at"]
    list_select_related = ["collection"]
    list_per_page = 50
    show_full_result_count = False
    paginator = BoundedPaginator
    search_fields = ["original_filename", "title", "checksum"]
    date_hierarchy = "created_at"
    change_form_template = "admin/documents/document/page.html"
    fields: ClassVar[tuple[str, ...]] = (
        "id", "name", "title", "language", "collection", "state", "warning_list", "source", "source_url",
        "checksum", "size", "pages", "chunk_link", "metadata", "permissions", "created_at", "updated_at",
    )  # fmt: skip
    readonly_fields = fields

    class Media:
        css = {"all": ["documents/admin.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        """Leave out pending new versions."""
        return super().get_queryset(request).filter(replaces__isnull=True)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        extra = {
            "show_save": False,
            "show_save_and_continue": False,
            "show_save_and_add_another": False,
            **(extra_context or {}),
        }
        if (document_id := _parse_uuid(object_id)) and self.get_object(request, object_id):
            extra["report"] = _summarize_report(page_report(document_id, access=FULL))
        return super().change_view(request, object_id, form_url, extra)

    @admin.display(ordering="original_filename", description="document")
    def name(self, document: Document) -> str:
        return document.original_filename

    @admin.display(ordering="status", description="status")
    def state(self, document: Document) -> str:
        return state_badge(document.status)

    @admin.display(ordering="page_count")
    def pages(self, document: Document) -> int:
        return document.page_count

    @admin.display(ordering="chunk_count", description="chunks")
    def chunk_link(self, document: Document) -> str:
        url = reverse("admin:documents_chunk_changelist")
        return format_html(
            '<a href="{}?document__id__exact={}">{}</a>', url, document.id, document.chunk_count
        )

    @admin.display(description="warnings")
    def warned(self, document: Document) -> str:
        if not document.warnings:
            return "–"
        first = "; ".join(document.warnings)
        return format_html('<span class="kx-warned" title="{}">⚠ {}</span>', first, len(document.warnings))

    @admin.display(description="warnings")
    def warning_list(self, document: Document) -> str:
        if not document.warnings:
            return "none"
        return format_html_join("", '<div class="kx-warning">⚠ {}</div>', ((w,) for w in document.warnings))

    @admin.display(ordering="size_bytes")
    def size(self, document: Document) -> str:
        return filesizeformat(document.size_bytes)


def _summarize_report(report: list[PageReport]) -> dict[str, Any]:
    """Turn a page report into text for the template; `unread` and `warned` count pages."""
    pages = [
        {
            "number": page.number,
            "characters": page.characters,
            "read_by": page.read_by,
            "warnings": [PAGE_WARNINGS.get(word, word) for word in page.warnings],
        }
        for page in report
    ]
    unread = sum(1 for page in report if UNREAD_WARNINGS & set(page.warnings))
    return {"pages": pages, "unread": unread, "warned": sum(1 for page in pages if page["warnings"])}


def _parse_uuid(text: Any) -> UUID | None:
    try:
        return UUID(str(text))
    except ValueError:
        return None
