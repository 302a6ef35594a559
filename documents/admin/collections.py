"""Collections in the admin."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from documents.models import DEFAULT_COLLECTION, Collection


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
