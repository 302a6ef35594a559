"""The vector indexes, and what was measured of them."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from embeddings.admin.models import ReadOnlyAdmin
from embeddings.external import nearest
from embeddings.models import IndexMeasurement, VectorIndex


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
        """With why there may be none."""
        why = "A model with few chunks has none: its searches compare the question with every vector."
        if store := nearest.store_name():
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
