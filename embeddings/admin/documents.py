"""Documents in the admin, with how far they are embedded, and with what changes them."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from documents.access.scopes import FULL
from documents.admin import DocumentAdmin
from documents.admin.words import count_noun
from documents.models import Document
from embeddings import tasks
from embeddings.admin.receipts import DeletingWithReceipt
from embeddings.admin.state import EmbeddingStateFilter, per_document
from embeddings.admin.uploads import UploadViews
from embeddings.models import Embedding, EmbeddingRequest
from embeddings.work import ingestion

NAMES_SHOWN = 100

admin.site.unregister(Document)


@admin.register(Document)
class EmbeddedDocumentAdmin(UploadViews, DeletingWithReceipt, DocumentAdmin):
    list_display = [
        "name", "collection", "state", "warned", "source", "pages", "chunk_link", "embedded", "failed",
        "size", "created_at",
    ]  # fmt: skip
    list_filter = [*DocumentAdmin.list_filter, EmbeddingStateFilter]
    fields = (*DocumentAdmin.fields, "embedded", "pending", "failed")
    readonly_fields = fields
    actions = ["embed_now", "retry_failed", "delete_selected"]

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
            '<a class="kx-bad" href="{}?chunk__document__id__exact={}">{}</a>',
            url,
            document.pk,
            document.failed,
        )

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

    def receipt_of_deleting(self, rows: Any) -> ingestion.Receipt:
        return ingestion.delete_documents([row.pk for row in rows], access=FULL)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """For the confirmation page: names of the first ones, and counts."""
        documents = Document.objects.filter(pk__in=[obj.pk for obj in objs])
        sums = documents.aggregate(pages=Sum("page_count", default=0), chunks=Sum("chunk_count", default=0))
        vectors = Embedding.objects.filter(chunk__document__in=documents.values("pk")).count()
        names = [str(obj) for obj in objs[:NAMES_SHOWN]]
        if (more := len(objs) - len(names)) > 0:
            names.append(f"and {count_noun(more, 'document')} more")
        return names, {"documents": len(objs), **sums, "vectors": vectors}, set(), []
