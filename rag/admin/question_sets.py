"""Question sets and their questions, read-only: they come by the API or by `manage.py question_set`."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html

from rag.models import QuestionSet, SetQuestion


class Unchangeable(admin.ModelAdmin[Any]):
    """Rows that may be looked at, and deleted where that makes sense."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: Any) -> HttpResponse:
        """Back to the list, where Django leads only those who may change rows."""
        super().response_delete(request, obj_display, obj_id)  # tells that it is gone
        return HttpResponseRedirect(reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"))


class PartOfAWhole(Unchangeable):
    """Reached from what the rows belong to, and not by themselves."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_model_perms(self, request: HttpRequest) -> dict[str, bool]:
        return {}


@admin.register(QuestionSet)
class QuestionSetAdmin(Unchangeable):
    list_display = ["name", "collection", "questions", "runs", "created_at"]
    list_select_related = ["collection"]
    search_fields = ["name", "description"]
    fields = ["name", "description", "collection", "questions", "runs", "created_at"]

    @admin.display(ordering="question_count")
    def questions(self, row: QuestionSet) -> str:
        url = reverse("admin:rag_setquestion_changelist")
        return format_html('<a href="{}?question_set__id__exact={}">{}</a>', url, row.pk, row.question_count)

    @admin.display(description="evaluations")
    def runs(self, row: QuestionSet) -> str:
        url = reverse("admin:rag_evaluation_changelist")
        return format_html('<a href="{}?question_set__id__exact={}">Show</a>', url, row.pk)


@admin.register(SetQuestion)
class SetQuestionAdmin(PartOfAWhole):
    list_display = ["key", "question", "expected", "document", "pages", "section", "answerable"]
    list_filter = ["answerable", ("question_set", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["key", "question", "document"]
    ordering = ["question_set", "position"]

    @admin.display(description="answers")
    def expected(self, row: SetQuestion) -> str:
        return " · ".join(row.answers)
