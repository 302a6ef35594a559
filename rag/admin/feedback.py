"""What people say of answers, in the admin. Their comments are anybody's text."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from rag.admin import cells
from rag.admin.evaluations import ReadOnlyAdmin
from rag.models import Feedback


class CommentFilter(admin.SimpleListFilter):
    title = "comment"
    parameter_name = "commented"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "With a comment"), ("no", "Without")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "yes":
            return queryset.exclude(comment="")
        return queryset.filter(comment="") if self.value() == "no" else queryset


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    list_display = ["rated", "remark", "asked", "outcome", "faithful", "last_said"]
    list_filter = ["rating", CommentFilter, "updated_at"]
    list_select_related = ["query__response"]
    ordering = ["-updated_at", "-id"]
    search_fields = ["comment", "query__original_query"]
    search_help_text = "Words of the comment or of the question"
    fields = ["rated", "remark_in_full", "asked", "outcome", "faithful", "by", "created_at", "updated_at"]

    class Media:
        css = {"all": ["documents/admin.css", "rag/quality.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows.defer("query__filters", "query__settings", "query__stage_ms", "query__response__answer")

    @admin.display(description="rating", ordering="rating")
    def rated(self, row: Feedback) -> str:
        return cells.format_rating(row.rating)

    @admin.display(description="comment")
    def remark(self, row: Feedback) -> str:
        return cells.shorten(row.comment, 200) or cells.EMPTY

    @admin.display(description="comment")
    def remark_in_full(self, row: Feedback) -> str:
        return format_html('<div class="rq-text">{}</div>', row.comment) if row.comment else cells.EMPTY

    @admin.display(description="question")
    def asked(self, row: Feedback) -> str:
        url = reverse("admin:rag_query_change", args=[row.query_id])
        return format_html('<a href="{}">{}</a>', url, cells.shorten(row.query.original_query))

    @admin.display
    def outcome(self, row: Feedback) -> str:
        return cells.format_outcome(row.query)

    @admin.display(description="faithfulness")
    def faithful(self, row: Feedback) -> str:
        return cells.format_faithfulness(getattr(row.query, "response", None))

    @admin.display(description="when", ordering="updated_at")
    def last_said(self, row: Feedback) -> str:
        return cells.format_time(row.updated_at)

    @admin.display
    def by(self, row: Feedback) -> str:
        return format_caller(row)


def format_caller(row: Feedback) -> str:
    """Name the caller; of an address only a hash is kept, a piece of which tells one from another."""
    kind, _, value = row.caller.partition(":")
    names = {"key": f"API key {value}", "account": f"Account {value}"}
    return names.get(kind, f"Caller {value[:8]}")
