"""What each question of an evaluation gave, beside what was asked and under which configuration."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest

from rag.admin.question_sets import PartOfAWhole
from rag.models import EvaluationResult, SetQuestion


@admin.register(EvaluationResult)
class EvaluationResultAdmin(PartOfAWhole):
    list_display = ["position", "question", "named", "best", "answered", "answer", "latency_ms", "error"]
    list_filter = ["configuration", "answered", ("evaluation", admin.RelatedOnlyFieldListFilter)]
    ordering = ["evaluation", "position", "configuration"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        asked = SetQuestion.objects.filter(
            question_set=OuterRef("evaluation__question_set"), position=OuterRef("position")
        )
        rows = super().get_queryset(request).select_related("evaluation").defer("evaluation__summary")
        annotated: QuerySet[Any] = rows.annotate(asked=Subquery(asked.values("question")[:1]))
        return annotated

    @admin.display
    def question(self, row: Any) -> str:
        return str(row.asked)

    @admin.display(description="configuration", ordering="configuration")
    def named(self, row: EvaluationResult) -> str:
        return str(row.evaluation.configurations[row.configuration]["name"])

    @admin.display(description="nDCG@10")
    def best(self, row: EvaluationResult) -> str:
        value = row.values.get("ndcg@10")
        return "-" if value is None else f"{value:.3f}"
