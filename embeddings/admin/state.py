"""What the lists of documents and of chunks share: counting vectors and failures, filtering by them."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, F, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from documents.models import Document


def count_per_document(rows: QuerySet[Any]) -> Coalesce:
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
