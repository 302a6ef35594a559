"""/v1/evaluations: one or two configurations measured on a question set, in the background."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import ConfigDict, Field

from documents.access import access_of
from knowlex.web.fields import is_blank
from knowlex.web.openapi import answer, operation
from knowlex.web.pagination import PageParameters, PositionParameters
from knowlex.web.responses import body_response
from knowlex.web.shapes import (
    Count,
    IdOrNone,
    Number,
    Object,
    Omittable,
    OutputShape,
    Rule,
    TextOrNull,
    Time,
    Unchecked,
    check_characters,
    choice,
    read_body,
    read_parameters,
)
from rag.api.v1.parameters import Cursor
from rag.charts import evaluation_svg
from rag.evaluation import evaluations
from rag.evaluation.configurations import ConfigurationList, EvaluationSettings
from rag.evaluation.evaluations import EvaluationDetails
from rag.evaluation.summary import METRIC_ORDER
from rag.tasks import enqueue_evaluation

MAX_NAME = 255


def _name(value: Any) -> str:
    if not isinstance(value, str) or is_blank(value) or len(value) > MAX_NAME:
        raise ValueError("is required" if value is None else "must be a name or an id")
    return check_characters(value)


def _collections(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise ValueError("must be a list of names or ids")
    return [_name(name) for name in value]


class NewEvaluation(ConfigurationList):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "question_set": "first questions",
                "configurations": [
                    {"name": "hybrid", "settings": {"mode": "hybrid"}},
                    {"name": "words only", "settings": {"mode": "sparse"}},
                ],
            }
        }
    )

    question_set: Annotated[str, Rule(_name, {"type": "string"}), Field(description="Name or id.")]
    collections: Annotated[
        list[str],
        Rule(_collections, {"type": "array", "items": {"type": "string"}}),
        Field(description="Names or ids; else the set's own, or `default`."),
    ] = []
    answers: Annotated[bool, Field(description="Write and judge answers, too.")] = False


class EvaluationListParameters(PageParameters):
    question_set: Annotated[IdOrNone, Field(description="Only of this set.")] = None
    status: Omittable[Annotated[str, choice(*evaluations.STATUSES, fold=True)]] = None


class ResultParameters(PositionParameters):
    failing: Annotated[
        Omittable[Annotated[str, choice(*METRIC_ORDER, fold=True)]],
        Field(description="Only questions of which this metric is below 1 under any configuration."),
    ] = None


class NamedThing(OutputShape):
    id: UUID
    name: str


class EvaluationProgress(OutputShape):
    total: Count
    done: Count


class Metric(OutputShape):
    value: Number
    low: Number | None
    high: Number | None
    n: Count


class MetricDifference(OutputShape):
    difference: Number
    low: Number | None
    high: Number | None
    better: Count
    worse: Count
    equal: Count
    n: Count


class MeasuredConfiguration(OutputShape):
    """The figures are there when the evaluation has ended."""

    name: str
    settings: EvaluationSettings
    questions: Count = 0
    errors: Count = 0
    metrics: dict[str, Metric] = {}
    reliability: list[Object] = []
    calibration_error: Number | None = None


class EvaluationShape(OutputShape):
    id: UUID
    status: Annotated[str, Field(json_schema_extra={"enum": list(evaluations.STATUSES)})]
    error: TextOrNull
    question_set: NamedThing
    collections: list[NamedThing]
    answers: bool
    progress: EvaluationProgress
    configurations: Annotated[list[MeasuredConfiguration], Unchecked()]
    differences: Annotated[
        dict[str, MetricDifference] | None,
        Unchecked(),
        Field(description="Second minus first, with the 95 % interval of a paired bootstrap."),
    ]
    plot: str
    created_at: Time
    started_at: Time | None
    completed_at: Time | None


class EvaluationList(OutputShape):
    evaluations: list[EvaluationShape]
    next_cursor: Cursor


class EvaluationResultShape(OutputShape):
    position: Count
    id: Annotated[str, Field(validation_alias="key")]
    question: str
    answerable: bool
    expected_answers: Annotated[list[str], Field(validation_alias="expected")]
    configuration: str
    metrics: Annotated[dict[str, Number], Field(validation_alias="values")]
    found: list[Object]
    answered: bool | None
    answer: TextOrNull
    latency_ms: Number | None
    error: TextOrNull


class EvaluationWithResults(EvaluationShape):
    results: list[EvaluationResultShape]
    next_cursor: Cursor


class DeletedEvaluation(OutputShape):
    deleted: bool


@operation(
    "createEvaluation",
    "Measure one or two configurations on a question set, in the background",
    answer(202, "A worker will take it.", EvaluationShape),
    body=NewEvaluation,
    failures="404",
)
def create(request: HttpRequest) -> HttpResponse:
    access = access_of(request)
    access.require("write")
    new = read_body(request, NewEvaluation)
    report = evaluations.create_run(
        access=access,
        question_set=new.question_set,
        collections=new.collections,
        configurations=new.read(),
        answers=new.answers,
    )
    enqueue_evaluation()
    return body_response(_evaluation(report), 202, location=f"/v1/evaluations/{report.run.id}")


@operation(
    "listEvaluations",
    "List evaluations, newest first",
    answer(200, "One page.", EvaluationList),
    parameters=EvaluationListParameters,
)
def index(request: HttpRequest) -> HttpResponse:
    given = read_parameters(request, EvaluationListParameters)
    page = given.page("evaluations")
    reports, after = evaluations.list_runs(
        access=access_of(request), page=page, set_id=given.question_set, status=given.status or ""
    )
    shapes = [_evaluation(report) for report in reports]
    return body_response(EvaluationList(evaluations=shapes, next_cursor=page.next_cursor(after)))


@operation(
    "getEvaluation",
    "How far an evaluation is, its figures, and a page of questions with their results",
    answer(200, "The evaluation.", EvaluationWithResults),
    parameters=ResultParameters,
)
def show(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    report = evaluations.get_run(evaluation_id, access=access_of(request))
    given = read_parameters(request, ResultParameters)
    page = given.page(f"results.{report.run.id}")
    rows, after = evaluations.list_results(report.run, page=page, failing=given.failing or "")
    results = [
        EvaluationResultShape.of(row, configuration=report.run.configurations[row.configuration]["name"])
        for row in rows
    ]
    next_cursor = page.next_cursor(after)
    response = body_response(
        _evaluation(report, EvaluationWithResults, results=results, next_cursor=next_cursor)
    )
    response["Cache-Control"] = "no-store"
    return response


@operation(
    "plotEvaluation",
    "The figures with their intervals, and a reliability diagram, as a picture",
    answer(
        200,
        "An SVG; before the end, one that says how far it is.",
        {"image/svg+xml": {"schema": {"type": "string"}}},
    ),
)
def plot(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    report = evaluations.get_run(evaluation_id, access=access_of(request))
    response = HttpResponse(evaluation_svg(report.run), content_type="image/svg+xml")
    response["Cache-Control"] = "no-store"
    return response


@operation(
    "deleteEvaluation",
    "Delete an evaluation; one that is running ends",
    answer(200, "It is gone.", DeletedEvaluation),
)
def remove(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    evaluations.delete_run(evaluation_id, access=access_of(request))
    return body_response(DeletedEvaluation(deleted=True))


def _evaluation(
    report: EvaluationDetails, shape: type[EvaluationShape] = EvaluationShape, **more: Any
) -> EvaluationShape:
    run = report.run
    summary = run.summary or {}
    measured = summary.get("configurations") or [{} for _ in run.configurations]
    return shape.of(
        run,
        collections=report.collections,
        progress=run,
        configurations=[
            {**configuration, **_in_order(figures)}
            for configuration, figures in zip(run.configurations, measured, strict=True)
        ],
        differences=_sorted(summary.get("differences")),
        plot=f"/v1/evaluations/{run.id}/plot.svg",
        **more,
    )


def _in_order(figures: dict[str, Any]) -> dict[str, Any]:
    """The database keeps no order; a reader wants the same one each time."""
    return {**figures, "metrics": _sorted(figures["metrics"])} if figures else {}


def _sorted(metrics: dict[str, Any] | None) -> dict[str, Any] | None:
    if metrics is None:
        return None
    names = [name for name in METRIC_ORDER if name in metrics]
    return {name: metrics[name] for name in (*names, *sorted(set(metrics) - set(names)))}
