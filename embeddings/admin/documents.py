"""Documents in the admin, with how far they are embedded."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from documents.admin import DocumentAdmin
from documents.models import Document
from embeddings import tasks
from embeddings.admin.state import EmbeddingStateFilter, per_document
from embeddings.models import Embedding, EmbeddingRequest

admin.site.unregister(Document)


@admin.register(Document)
class EmbeddedDocumentAdmin(DocumentAdmin):
    list_display = [
        "name", "collection", "status", "pages", "chunk_link", "embedded", "pending", "failed", "size",
        "created_at",
    ]  # fmt: skip
    list_filter = [EmbeddingStateFilter, *DocumentAdmin.list_filter]
    fields = (*DocumentAdmin.fields, "status", "embedded", "pending", "failed")
    readonly_fields = fields
    actions = ["embed_now", "retry_failed"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        return (
            super()
            .get_queryset(request)
            .annotate(
                embedded=per_document(Embedding.objects.filter(model__active=True)),
                failed=per_document(EmbeddingRequest.objects.failed().filter(model__active=True)),
            )
        )

    @admin.display(ordering="embedded")
    def embedded(self, document: Any) -> int:
        return int(document.embedded)

    @admin.display
    def pending(self, document: Any) -> int:
        return int(max(0, document.chunk_count - document.embedded - document.failed))

    @admin.display(ordering="failed")
    def failed(self, document: Any) -> str:
        if not document.failed:
            return "0"
        url = reverse("admin:embeddings_embeddingrequest_changelist")
        return format_html(
            '<a href="{}?chunk__document__id__exact={}">{}</a>', url, document.pk, document.failed
        )

    @admin.display
    def status(self, document: Any) -> str:
        if document.failed:
            return "failed"
        if document.embedded == document.chunk_count:
            return "embedded"
        return "partly embedded" if document.embedded else "ingested"

    @admin.action(description="Embed now", permissions=["change"])
    def embed_now(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        self._request(request, list(queryset.values_list("pk", flat=True)))

    @admin.action(description="Retry failed chunks", permissions=["change"])
    def retry_failed(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        self._request(request, list(queryset.filter(Q(failed__gt=0)).values_list("pk", flat=True)))

    def _request(self, request: HttpRequest, document_ids: list[Any]) -> None:
        queued = sum(tasks.request_and_enqueue(document_id) for document_id in document_ids)
        self.message_user(
            request, f"{queued} chunk(s) of {len(document_ids)} document(s) queued for embedding."
        )
