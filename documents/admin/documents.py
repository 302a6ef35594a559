"""Documents in the admin."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html

from documents import services
from documents.access import FULL
from documents.forms import UploadForm
from documents.models import Document


@admin.register(Document)
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
        services.delete_document(obj.id, access=FULL)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        for document_id in list(queryset.values_list("id", flat=True)):
            services.delete_document(document_id, access=FULL)
