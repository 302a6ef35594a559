"""Collections, documents and chunks in the admin. The embeddings app adds what it knows to the last two."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import Truncator

from documents import services
from documents.forms import UploadForm
from documents.models import DEFAULT_COLLECTION, Chunk, Collection, Document


@admin.register(Collection)
class CollectionAdmin(admin.ModelAdmin[Collection]):
    list_display = ["name", "documents", "description", "created_at"]
    search_fields = ["name", "description"]
    readonly_fields = ["id", "created_at"]
    fields = ["id", "name", "description", "created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        return super().get_queryset(request).annotate(documents_held=Count("documents"))

    @admin.display(ordering="documents_held")
    def documents(self, collection: Any) -> str:
        url = reverse("admin:documents_document_changelist")
        return format_html(
            '<a href="{}?collection__id__exact={}">{}</a>', url, collection.id, collection.documents_held
        )

    def has_delete_permission(self, request: HttpRequest, obj: Collection | None = None) -> bool:
        """Only an empty collection can go, and `default` never."""
        deletable = obj is not None and obj.name != DEFAULT_COLLECTION and not obj.documents.exists()
        return deletable and super().has_delete_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Collection | None = None) -> list[str]:
        fixed = ["name"] if obj is not None and obj.name == DEFAULT_COLLECTION else []
        return [*self.readonly_fields, *fixed]


class DocumentAdmin(admin.ModelAdmin[Document]):
    """What a document is, read-only; deleting goes through the service, file and all."""

    list_display = ["name", "collection", "source", "pages", "chunk_link", "size", "created_at"]
    list_display_links = ["name"]
    list_filter = ["source", "collection", "created_at"]
    list_select_related = ["collection"]
    list_per_page = 50
    search_fields = ["original_filename", "title", "checksum"]
    date_hierarchy = "created_at"
    fields: ClassVar[tuple[str, ...]] = (
        "id", "name", "title", "collection", "source", "checksum", "size", "pages", "chunk_link",
        "metadata", "warnings", "created_at",
    )  # fmt: skip
    readonly_fields = fields

    @admin.display(ordering="original_filename", description="document")
    def name(self, document: Document) -> str:
        return document.original_filename

    @admin.display(ordering="page_count")
    def pages(self, document: Document) -> int:
        return document.page_count

    @admin.display(ordering="chunk_count", description="chunks")
    def chunk_link(self, document: Document) -> str:
        url = reverse("admin:documents_chunk_changelist")
        return format_html(
            '<a href="{}?document__id__exact={}">{}</a>', url, document.id, document.chunk_count
        )

    @admin.display(ordering="size_bytes")
    def size(self, document: Document) -> str:
        return filesizeformat(document.size_bytes)

    def get_form(
        self, request: HttpRequest, obj: Document | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        return super().get_form(request, obj, change, **kwargs) if obj else UploadForm

    def get_fields(self, request: HttpRequest, obj: Document | None = None) -> Any:
        return super().get_fields(request, obj) if obj else ["collection", "file"]

    def get_readonly_fields(self, request: HttpRequest, obj: Document | None = None) -> Any:
        return super().get_readonly_fields(request, obj) if obj else []

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"collection": services.default_collection_id()}

    def save_model(self, request: HttpRequest, obj: Document, form: Any, change: bool) -> None:
        """Nothing to save: a new document was stored by the form, an old one is never changed."""

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        services.delete_document(obj.id)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        for document_id in list(queryset.values_list("id", flat=True)):
            services.delete_document(document_id)


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

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        return lookup == "document__id__exact" or super().lookup_allowed(lookup, value, request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Chunk | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Chunk | None = None) -> bool:
        return False


admin.site.register(Document, DocumentAdmin)
admin.site.register(Chunk, ChunkAdmin)
