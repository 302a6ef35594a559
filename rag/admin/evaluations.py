"""Question sets and their questions, read-only: they come by the API or by `manage.py question_set`."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe

from documents.access import FULL
from documents.admin.words import state_badge
from documents.models import Collection
from knowlex.base.ids import parse_id
from rag.charts import evaluation_svg
from rag.evaluation import evaluations
from rag.evaluation.summary import METRIC_ORDER
from rag.models import Evaluation, EvaluationResult, QuestionSet, SetQuestion


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """Rows that may be looked at, and deleted where that makes sense."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: Any) -> HttpResponse:
        """Lead back to the list, as Django does only for those who may change rows."""
        super().response_delete(request, obj_display, obj_id)  # tells that it is gone
        return HttpResponseRedirect(reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"))


class ReadOnlyChildAdmin(ReadOnlyAdmin):
    """Rows that are reached from what they belong to, and not by themselves."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_model_perms(self, request: HttpRequest) -> dict[str, bool]:
        return {}


@admin.register(QuestionSet)
class QuestionSetAdmin(ReadOnlyAdmin):
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
class SetQuestionAdmin(ReadOnlyChildAdmin):
    list_display = ["key", "question", "expected", "document", "pages", "section", "answerable"]
    list_filter = ["answerable", ("question_set", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["key", "question", "document"]
    ordering = ["question_set", "position"]

    @admin.display(description="answers")
    def expected(self, row: SetQuestion) -> str:
        return " · ".join(row.answers)


@admin.register(EvaluationResult)
class EvaluationResultAdmin(ReadOnlyChildAdmin):
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


LATENCIES = ("latency_p50_ms", "latency_p95_ms")


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "question_set", "state", "bar", "named", "ndcg", "accuracy"]
    list_display_links = ["created_at"]
    list_select_related = ["question_set"]
    list_filter = ["status", ("question_set", admin.RelatedOnlyFieldListFilter)]
    fields = [
        "question_set", "read", "state", "error", "bar", "created_at", "started_at", "completed_at",
        "settings", "figures", "picture", "questions",
    ]  # fmt: skip

    class Media:
        css = {"all": ["documents/admin.css"]}

    def get_urls(self) -> list[Any]:
        plot = path(
            "<str:run_id>/plot.svg", self.admin_site.admin_view(self.plot), name="rag_evaluation_plot"
        )
        return [plot, *super().get_urls()]

    def plot(self, request: HttpRequest, run_id: str) -> HttpResponse:
        report = evaluations.get_run(parse_id(run_id, field="run_id"), access=FULL)
        return HttpResponse(evaluation_svg(report.run), content_type="image/svg+xml")

    @admin.display(description="status", ordering="status")
    def state(self, run: Evaluation) -> str:
        return state_badge(run.status)

    @admin.display(description="progress")
    def bar(self, run: Evaluation) -> str:
        return format_html(
            '<progress max="{}" value="{}"></progress> {} of {}',
            run.total or 1,
            run.done,
            run.done,
            run.total,
        )

    @admin.display(description="configurations")
    def named(self, run: Evaluation) -> str:
        return " · ".join(one["name"] for one in run.configurations)

    @admin.display(description="configurations")
    def settings(self, run: Evaluation) -> str:
        lines = ((one["name"], _format_settings(one["settings"])) for one in run.configurations)
        return format_html_join(mark_safe("<br>"), "{}: {}", lines)

    @admin.display(description="collections")
    def read(self, run: Evaluation) -> str:
        names = Collection.objects.filter(id__in=run.collection_ids).order_by("name")
        return ", ".join(names.values_list("name", flat=True)) or "-"

    @admin.display(description="nDCG@10")
    def ndcg(self, run: Evaluation) -> str:
        return _format_values(run, "ndcg@10")

    @admin.display(description="answers right")
    def accuracy(self, run: Evaluation) -> str:
        return _format_values(run, "answer_accuracy")

    @admin.display
    def figures(self, run: Evaluation) -> str:
        """Show a line for each metric, a column for each configuration."""
        measured = (run.summary or {}).get("configurations") or []
        names = format_html_join("", "<th>{}</th>", ((one["name"],) for one in run.configurations))
        known = [
            name for name in (*METRIC_ORDER, *LATENCIES) if any(name in one["metrics"] for one in measured)
        ]
        lines = ((name, format_html_join("", "<td>{}</td>", _format_row(measured, name))) for name in known)
        body = format_html_join("", "<tr><th>{}</th>{}</tr>", lines)
        return format_html("<table><tr><th></th>{}</tr>{}</table>", names, body) if known else "-"

    @admin.display
    def picture(self, run: Evaluation) -> str:
        url = reverse("admin:rag_evaluation_plot", args=[run.pk])
        return format_html(
            '<a href="{}"><img src="{}" alt="The figures" style="max-width:100%"></a>', url, url
        )

    @admin.display
    def questions(self, run: Evaluation) -> str:
        url = reverse("admin:rag_evaluationresult_changelist")
        return format_html('<a href="{}?evaluation__id__exact={}">What each question gave</a>', url, run.pk)


def _format_settings(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "the server's settings"


def _format_values(run: Evaluation, metric: str) -> str:
    measured = (run.summary or {}).get("configurations") or []
    return " · ".join(
        f"{one['metrics'][metric]['value']:.3f}" for one in measured if metric in one["metrics"]
    )


def _format_row(measured: list[dict[str, Any]], metric: str) -> list[tuple[str]]:
    figures = [one["metrics"].get(metric) for one in measured]
    return [(_format_figure(figure),) for figure in figures]


def _format_figure(figure: dict[str, Any] | None) -> str:
    if figure is None:
        return "-"
    interval = "" if figure["low"] is None else f" ({figure['low']:.3f}-{figure['high']:.3f})"
    return f"{figure['value']:.3f}{interval}, {figure['n']} question{'' if figure['n'] == 1 else 's'}"
