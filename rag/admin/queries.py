"""All that explains one answer, as its page in the admin shows it."""

from collections.abc import Mapping, Sequence
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
from rag.admin.evaluations import ReadOnlyAdmin
from rag.admin.feedback import format_caller
from rag.admin.quality_page import WORST, build_quality_page, with_rated_down
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
    humanize,
    parse_id_or_none,
)
from rag.deadlines import sort_stages
from rag.history.claims import find_uncited_sentences
from rag.history.queries import QueryDetails, get_query
from rag.models import Feedback, Query
from rag.relevance import answers
from rag.types import claims

MOST_FEEDBACK = 200
HOW = {"faithfulness": claims.HOW, "relevance": answers.HOW}


def build_page(explained: QueryDetails) -> dict[str, Any]:
    """Build the template's context."""
    query, response = explained.query, explained.response
    said = Feedback.objects.filter(query=query).order_by("-updated_at")[:MOST_FEEDBACK]
    return {
        "subtitle": cells.shorten(query.original_query, 80),
        "asked": query,
        "response": response,
        "outcome": cells.format_outcome(query),
        "facts": [(name, value) for name, value in _list_facts(explained) if value not in ("", None)],
        "settings": query.settings.items(),
        "filters": query.filters.items(),
        "claims": _list_claims(explained),
        "contradicted": response.contradicted if response else [],
        "states": cells.format_states(response),
        "candidates": explained.retrievals,
        "stages": _list_stages(query.stage_ms, query.latency_ms),
        "said": [(cells.format_rating(one.rating), one, format_caller(one)) for one in said],
        "score": cells.format_faithfulness(response),
        "relevance": cells.format_relevance(response),
        "uncited": _list_uncited(explained),
        "how": HOW,
    }


def _list_facts(explained: QueryDetails) -> Sequence[tuple[str, Any]]:
    query, response = explained.query, explained.response
    names = ", ".join(one.name for one in explained.collections)
    return [
        ("Route", query.face),
        ("Latency", cells.format_milliseconds(query.latency_ms)),
        ("Relevance", f"{query.confidence:.2f}"),
        ("From the cache", "yes" if query.cached else "no"),
        ("Collections", names or "none that is still there"),
        ("Model", response.model if response else ""),
        ("Tokens", f"{response.input_tokens:,} in, {response.output_tokens:,} out" if response else ""),
        ("Prompt", response.prompt_version if response else ""),
        ("Embedding model", query.embedding_model),
        ("Reranker", query.reranker),
        ("Rewriting", query.rewriting),
        ("Conversation", "" if query.conversation_id == str(query.id) else query.conversation_id),
        ("API key", query.key_id),
        ("Account", query.user_id),
        ("Repeats", query.replay_of),
        ("Found", f"{query.retrieved} before the threshold"),
    ]


def _list_claims(explained: QueryDetails) -> list[dict[str, Any]]:
    """List the words that each citation stands for, and what it quotes."""
    answer = explained.response.answer if explained.response else ""
    return [
        {
            "text": answer[one.answer_start : one.answer_end],
            "citation": one,
            "state": cells.format_state(one.support),
            "verdict": cells.format_state(one.verdict),
            "status": "gone" if one.gone else one.status,
        }
        for one in explained.citations
    ]


def _list_stages(took: Mapping[str, float], latency_ms: int) -> list[dict[str, Any]]:
    """List bars in percent of the longest time; stages may contain each other, so none is stacked."""
    longest = max([float(latency_ms), *took.values(), 1.0])
    return [
        {"name": humanize(name), "ms": cells.format_milliseconds(ms), "width": round(100 * ms / longest, 1)}
        for name, ms in [*sort_stages(took).items(), ("in all", float(latency_ms))]
    ]


def _list_uncited(explained: QueryDetails) -> list[str]:
    """List the sentences without a marker, if any of them claims something."""
    response = explained.response
    if response is None or not response.verification.get("uncited"):
        return []
    wrong = [(one["answer_start"], one["answer_end"]) for one in response.contradicted]
    cited = [(one.answer_start, one.answer_end) for one in explained.citations]
    return find_uncited_sentences(response.answer, [*cited, *wrong])


@admin.register(Query)
class QueryAdmin(ReadOnlyAdmin):
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
        if (query_id := parse_id_or_none(object_id)) and self.has_view_permission(request):
            row = Query.objects.filter(pk=query_id).exists()
            extra |= build_page(get_query(query_id, access=FULL)) if row else {}
        return super().change_view(request, object_id, form_url, extra)

    def quality_view(self, request: HttpRequest) -> HttpResponse:
        """Show charts over the last days."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            **build_quality_page(request.GET),
            "opts": self.opts,
        }
        context |= {"title": "Quality over time", "media": self.media}
        return TemplateResponse(request, "admin/rag/query/quality.html", context)

    @admin.display(description="question")
    def question(self, row: Query) -> str:
        return cells.shorten(row.original_query)

    @admin.display(ordering="answered")
    def outcome(self, row: Query) -> str:
        return cells.format_outcome(row)

    @admin.display
    def claims(self, row: Query) -> str:
        return cells.format_states(getattr(row, "response", None))

    @admin.display(description="faithfulness", ordering="response__faithfulness_score")
    def faithful(self, row: Query) -> str:
        return cells.format_faithfulness(getattr(row, "response", None))

    @admin.display(description="answers the question", ordering="response__answer_relevance")
    def relevant(self, row: Query) -> str:
        return cells.format_relevance(getattr(row, "response", None))

    @admin.display(description="feedback")
    def said(self, row: Any) -> str:
        return cells.format_ratings(row.thumbs_up, row.thumbs_down)

    @admin.display(ordering="latency_ms")
    def latency(self, row: Query) -> str:
        return format_html('<span class="kx-number">{}</span>', cells.format_milliseconds(row.latency_ms))

    @admin.display(description="model", ordering="response__model")
    def by_model(self, row: Query) -> str:
        response = getattr(row, "response", None)
        return (response.model if response else "") or cells.EMPTY

    @admin.display(description="cached", ordering="cached")
    def from_cache(self, row: Query) -> str:
        return "yes" if row.cached else cells.EMPTY

    @admin.display(description="asked", ordering="created_at")
    def asked_at(self, row: Query) -> str:
        return cells.format_time(row.created_at)
