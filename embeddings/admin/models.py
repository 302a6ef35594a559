"""Embedding models, their requests and vector indexes, and the external vector store in the admin."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from embeddings import tasks
from embeddings.active_model import settings_to_follow
from embeddings.external.configuration import store_name
from embeddings.model_lifecycle import switch as model_switch
from embeddings.model_lifecycle.catalog import ModelCounts
from embeddings.model_lifecycle.catalog import describe_state as model_state
from embeddings.models import (
    DroppedSpace,
    Embedding,
    EmbeddingModel,
    EmbeddingRequest,
    EmbeddingRun,
    IndexMeasurement,
    OutboxEntry,
    OutsideStore,
    VectorIndex,
)
from knowlex.base.errors import KnowlexError


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(ReadOnlyAdmin):
    """The models that there are; `manage.py embedding_model` adds, builds and removes."""

    list_display = [
        "name",
        "provider",
        "dimensions",
        "state",
        "vectors",
        "waiting",
        "failures",
        "relevance",
        "created_at",
    ]
    actions = ["activate", "go_back"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        of_model = Embedding.objects.filter(model=OuterRef("pk")).order_by().values("model")
        failures = EmbeddingRequest.objects.failed().filter(model=OuterRef("pk")).order_by().values("model")
        waiting = EmbeddingRequest.objects.waiting().filter(model=OuterRef("pk")).order_by().values("model")
        models: QuerySet[Any] = super().get_queryset(request)
        counted: QuerySet[Any] = models.annotate(
            vectors_held=Coalesce(Subquery(of_model.annotate(n=Count("chunk_id")).values("n")), 0),
            failures_held=Coalesce(Subquery(failures.annotate(n=Count("id")).values("n")), 0),
            waiting_held=Coalesce(Subquery(waiting.annotate(n=Count("id")).values("n")), 0),
            before_id=Subquery(EmbeddingModel.objects.before().values("pk")),
        )
        return counted

    def state(self, model: Any) -> str:
        counts = ModelCounts(model.vectors_held, model.vectors_held + model.waiting_held, 0, 0, "")
        before = model if model.before_id == model.pk else None
        return model_state(model, counts, before)

    @admin.display(ordering="waiting_held")
    def waiting(self, model: Any) -> int:
        return int(model.waiting_held)

    def relevance(self, model: Any) -> str:
        """Return what its weights were fitted to, by `manage.py calibrate`."""
        stored = model.calibration
        if not stored:
            return "as shipped"
        source, day = stored.get("source", "?"), str(stored.get("fitted_at", ""))[:10]
        if "questions" in stored:
            return f"level by {stored['questions']} questions of {source}, {day}"
        pairs, error = stored.get("pairs", "?"), stored.get("calibration_error", "?")
        return f"{pairs} pairs of {source}, {day}; error {error}"

    @admin.action(description="Search with the selected model from now on")
    def activate(self, request: HttpRequest, queryset: QuerySet[EmbeddingModel]) -> None:
        """Search with this model from now on; refused while chunks lack its vectors."""
        models = list(queryset)
        if len(models) != 1:
            self.message_user(request, "Select one model.", messages.ERROR)
            return
        self._switch(request, lambda: model_switch.activate_model(models[0]))

    @admin.action(description="Go back to the model that was active before (whichever is selected)")
    def go_back(self, request: HttpRequest, queryset: QuerySet[EmbeddingModel]) -> None:
        self._switch(request, model_switch.roll_back)

    def _switch(self, request: HttpRequest, switch: Callable[[], model_switch.ModelSwitch]) -> None:
        if not request.user.is_superuser:
            raise PermissionDenied
        try:
            switched = switch()
        except KnowlexError as exc:
            self.message_user(request, exc.message, messages.ERROR)
            return
        advice = settings_to_follow(switched.model.spec)
        message = f"Searches use {switched.model.name} now. For the next start: {advice}"
        self.message_user(request, message, messages.SUCCESS)

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


class _Recall:
    @admin.display(description="recall@10", ordering="recall")
    def found(self, row: Any) -> str:
        return "not measured" if row.recall is None else f"{row.recall:.3f}"

    @admin.display(description="used by searches", ordering="serves", boolean=True)
    def used(self, row: Any) -> bool:
        return bool(row.serves)


@admin.register(VectorIndex)
class VectorIndexAdmin(_Recall, ReadOnlyAdmin):
    """One row a model: the index that its searches go through, unless it finds too little."""

    list_display = [
        "model",
        "kind",
        "storage",
        "used",
        "found",
        "effort",
        "lists",
        "rows",
        "built_at",
        "measured_at",
    ]
    list_select_related = ["model"]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the list, and tell why there may be no index."""
        why = "A model with few chunks has none: its searches compare the question with every vector."
        if store := store_name():
            why = f"There is none: vectors are searched in {store}."
        return super().changelist_view(request, {"subtitle": why, **(extra_context or {})})


@admin.register(IndexMeasurement)
class IndexMeasurementAdmin(_Recall, ReadOnlyAdmin):
    """Newest first: recall against an exact search, and the milliseconds of both."""

    list_display = [
        "measured_at", "model", "kind", "storage", "found", "used", "effort", "lists", "rows", "sample",
        "index_time", "exact_time", "reason",
    ]  # fmt: skip
    list_filter = ["model", "kind", "serves"]
    list_select_related = ["model"]
    list_per_page = 50

    @admin.display(description="by index, ms", ordering="index_ms")
    def index_time(self, row: IndexMeasurement) -> str:
        return f"{row.index_ms:.1f}"

    @admin.display(description="exact, ms", ordering="exact_ms")
    def exact_time(self, row: IndexMeasurement) -> str:
        return f"{row.exact_ms:.1f}"


@admin.register(OutsideStore)
class OutsideStoreAdmin(ReadOnlyAdmin):
    """One line, or none where PostgreSQL is searched; `manage.py vector_store check` tells more."""

    list_display = ["__str__", "since", "pending", "oldest", "state"]
    list_display_links = None

    @admin.display(description="in the outbox")
    def pending(self, store: OutsideStore) -> str:
        count, spaces = OutboxEntry.objects.count(), DroppedSpace.objects.count()
        waits = f"{count} vectors" + (f", {spaces} spaces to drop" if spaces else "")
        return waits if store.filled else f"{waits}, and it is still being filled"

    @admin.display(description="waiting since")
    def oldest(self, store: OutsideStore) -> Any:
        return OutboxEntry.objects.order_by("created_at").values_list("created_at", flat=True).first()

    def state(self, store: OutsideStore) -> str:
        if store.failures:
            return f"down, {store.failures} failures: {store.error}"
        refused = OutboxEntry.objects.exclude(error="").values_list("error", flat=True).first()
        return f"refuses: {refused}" if refused else "works"
