"""Embedding models, failures, and the embedding state of documents and chunks in the admin."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from documents.admin import ChunkAdmin, DocumentAdmin
from documents.models import Chunk, Document
from embeddings import tasks
from embeddings.models import Embedding, EmbeddingModel, EmbeddingRequest, EmbeddingRun


def _per_document(rows: QuerySet[Any]) -> Coalesce:
    """How many of `rows` (which have a chunk) belong to the document of the outer query; 0 if none."""
    counted = (
        rows.filter(chunk__document=OuterRef("pk"))
        .order_by()
        .values("chunk__document")
        .annotate(n=Count("chunk_id"))
        .values("n")
    )
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


class EmbeddingStateFilter(admin.SimpleListFilter):
    title = "embedding"
    parameter_name = "embedding"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("embedded", "Embedded"), ("pending", "Pending"), ("failed", "Failed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        if queryset.model is Document:
            return self._documents(queryset)
        return queryset.filter(state=self.value())

    def _documents(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "failed":
            return queryset.filter(failed__gt=0)
        if self.value() == "embedded":
            return queryset.filter(embedded=F("chunk_count"))
        return queryset.filter(embedded__lt=F("chunk_count") - F("failed"))


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
                embedded=_per_document(Embedding.objects.filter(model__active=True)),
                failed=_per_document(EmbeddingRequest.objects.failed().filter(model__active=True)),
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


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(ReadOnlyAdmin):
    list_display = ["name", "provider", "dimensions", "active", "vectors", "failures", "created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        of_model = Embedding.objects.filter(model=OuterRef("pk")).order_by().values("model")
        failures = EmbeddingRequest.objects.failed().filter(model=OuterRef("pk")).order_by().values("model")
        models: QuerySet[Any] = super().get_queryset(request)
        counted: QuerySet[Any] = models.annotate(
            vectors_held=Coalesce(Subquery(of_model.annotate(n=Count("chunk_id")).values("n")), 0),
            failures_held=Coalesce(Subquery(failures.annotate(n=Count("id")).values("n")), 0),
        )
        return counted

    @admin.display(ordering="vectors_held")
    def vectors(self, model: Any) -> int:
        return int(model.vectors_held)

    @admin.display(ordering="failures_held")
    def failures(self, model: Any) -> int:
        return int(model.failures_held)


class RequestStateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("failed", "Failed"), ("waiting", "Waiting or running")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        return queryset.filter(Q(failed_at__isnull=self.value() == "waiting"))


@admin.register(EmbeddingRequest)
class EmbeddingRequestAdmin(ReadOnlyAdmin):
    """Chunks that wait for their vector, and those that failed with the reason."""

    list_display = [
        "chunk_link",
        "document",
        "model",
        "state",
        "attempts",
        "error",
        "created_at",
        "failed_at",
    ]
    list_filter = [RequestStateFilter, "model"]
    list_select_related = ["chunk__document", "model"]
    list_per_page = 50
    search_fields = ["error", "chunk__document__original_filename"]
    actions = ["retry"]
    show_full_result_count = False

    @admin.display(description="chunk", ordering="chunk")
    def chunk_link(self, row: EmbeddingRequest) -> str:
        url = reverse("admin:documents_chunk_change", args=[row.chunk_id])
        return format_html('<a href="{}">chunk {}</a>', url, row.chunk.chunk_index)

    @admin.display(ordering="chunk__document__original_filename")
    def document(self, row: EmbeddingRequest) -> str:
        return row.chunk.document.original_filename

    @admin.display(ordering="failed_at")
    def state(self, row: EmbeddingRequest) -> str:
        if row.failed_at:
            return "failed"
        return "running" if row.lease else "waiting"

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        return lookup == "chunk__document__id__exact" or super().lookup_allowed(lookup, value, request)

    @admin.action(description="Retry the selected failures")
    def retry(self, request: HttpRequest, queryset: QuerySet[EmbeddingRequest]) -> None:
        failed = queryset.filter(failed_at__isnull=False)
        documents = failed.values_list("chunk__document_id", flat=True).distinct()
        queued = sum(tasks.request_and_enqueue(document_id) for document_id in list(documents))
        self.message_user(request, f"{queued} chunk(s) queued again.", messages.SUCCESS)


@admin.register(EmbeddingRun)
class EmbeddingRunAdmin(ReadOnlyAdmin):
    """Each call that asked for embeddings: how many chunks, how many done, how many failed."""

    list_display = ["id", "requested", "embedded", "failed", "created_at"]


admin.site.unregister(Document)
admin.site.unregister(Chunk)
admin.site.register(Document, EmbeddedDocumentAdmin)
admin.site.register(Chunk, EmbeddedChunkAdmin)
