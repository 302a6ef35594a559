"""Past questions in the admin: lists, the worst first if asked for, all of each, and charts over time."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.html import format_html

from documents.access import FULL
from rag.admin import cells
from rag.admin.quality_page import quality
from rag.admin.query_filters import (
    ClaimsFilter,
    FaceFilter,
    FaithfulnessFilter,
    LatencyFilter,
    OutcomeFilter,
    QueryCollectionFilter,
    RatingFilter,
    RelevanceFilter,
    WorstFilter,
    as_id,
)
from rag.admin.query_page import page_of
from rag.admin.question_sets import Unchangeable
from rag.admin.worst import WORST, with_rated_down
from rag.history.listing import get_query
from rag.models import Feedback, Query


@admin.register(Query)
class QueryAdmin(Unchangeable):
    list_display = [
        "question", "outcome", "claims", "faithful", "relevant", "said", "latency", "face", "by_model",
        "from_cache", "asked_at",
    ]  # fmt: skip
    list_display_links = ["question"]
    list_filter = [
        WorstFilter, OutcomeFilter, ClaimsFilter, FaithfulnessFilter, RelevanceFilter, RatingFilter,
        LatencyFilter, FaceFilter, "cached", QueryCollectionFilter, "created_at",
    ]  # fmt: skip
    list_select_related = ["response"]
    search_fields = ["original_query"]
    search_help_text = "Words of the question"
    change_list_template = "admin/rag/query/list.html"
    change_form_template = "admin/rag/query/page.html"
    fields = ()

    class Media:
        css = {"all": ["documents/admin.css", "rag/quality.css"]}

    def get_urls(self) -> list[Any]:
        page = path("quality/", self.admin_site.admin_view(self.quality_view), name="rag_query_quality")
        return [page, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        unshown = ("filters", "settings", "stage_ms", "response__answer", "response__contradicted")
        rows = with_rated_down(Query.objects.defer(*unshown))
        of_query = Feedback.objects.filter(query=OuterRef("pk")).order_by().values("query")
        counts = {
            rating.value: Coalesce(Subquery(of_query.filter(rating=rating).values(n=Count("*"))), 0)
            for rating in Feedback.Rating
        }
        annotated: QuerySet[Any] = rows.annotate(**counts)
        return annotated

    def get_ordering(self, request: HttpRequest) -> Any:
        return (
            WORST if request.GET.get(WorstFilter.parameter_name) == "first" else super().get_ordering(request)
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        extra = dict(extra_context or {})
        if (query_id := as_id(object_id)) and self.has_view_permission(request):
            row = Query.objects.filter(pk=query_id).exists()
            extra |= page_of(get_query(query_id, access=FULL)) if row else {}
        return super().change_view(request, object_id, form_url, extra)

    def quality_view(self, request: HttpRequest) -> HttpResponse:
        """Charts over the last days."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = {**self.admin_site.each_context(request), **quality(request.GET), "opts": self.opts}
        context |= {"title": "Quality over time", "media": self.media}
        return TemplateResponse(request, "admin/rag/query/quality.html", context)

    @admin.display(description="question")
    def question(self, row: Query) -> str:
        return cells.short(row.original_query)

    @admin.display(ordering="answered")
    def outcome(self, row: Query) -> str:
        return cells.outcome(row)

    @admin.display
    def claims(self, row: Query) -> str:
        return cells.states(getattr(row, "response", None))

    @admin.display(description="faithfulness", ordering="response__faithfulness_score")
    def faithful(self, row: Query) -> str:
        return cells.faithfulness(getattr(row, "response", None))

    @admin.display(description="answers the question", ordering="response__answer_relevance")
    def relevant(self, row: Query) -> str:
        return cells.relevance(getattr(row, "response", None))

    @admin.display(description="feedback")
    def said(self, row: Any) -> str:
        return cells.ratings(row.thumbs_up, row.thumbs_down)

    @admin.display(ordering="latency_ms")
    def latency(self, row: Query) -> str:
        return format_html('<span class="kx-number">{}</span>', cells.milliseconds(row.latency_ms))

    @admin.display(description="model", ordering="response__model")
    def by_model(self, row: Query) -> str:
        response = getattr(row, "response", None)
        return (response.model if response else "") or cells.NONE

    @admin.display(description="cached", ordering="cached")
    def from_cache(self, row: Query) -> str:
        return "yes" if row.cached else cells.NONE

    @admin.display(description="asked", ordering="created_at")
    def asked_at(self, row: Query) -> str:
        return cells.when(row.created_at)
