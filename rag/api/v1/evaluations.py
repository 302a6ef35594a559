"""/v1/evaluations: one or two configurations measured on a question set, in the background."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from documents.access import access_of
from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.fields import bool_field, check_storable, is_blank
from knowlex.web.pagination import next_cursor, page_asked
from knowlex.web.responses import json_object, json_response, utc_timestamp
from rag.api.v1.question_fields import choice, optional_id
from rag.evaluation import evaluations
from rag.evaluation.configurations import read_configurations
from rag.evaluation.evaluations import Report
from rag.evaluation.plot import evaluation_svg
from rag.evaluation.summary import ORDER
from rag.tasks import enqueue_evaluation

MAX_NAME = 255


def create(request: HttpRequest) -> HttpResponse:
    access = access_of(request)
    access.require("write")
    body = json_object(request)
    report = evaluations.create_run(
        access=access,
        question_set=_name(body.get("question_set"), "question_set"),
        collections=_collections(body),
        configurations=read_configurations(body.get("configurations")),
        answers=bool_field(body, "answers", default=False),
    )
    enqueue_evaluation()
    response = json_response(_body(report), 202)
    response["Location"] = f"/v1/evaluations/{report.run.id}"
    return response


def index(request: HttpRequest) -> HttpResponse:
    page = page_asked(request.GET, of="evaluations", sorts=("created_at",), default="-created_at")
    found, after = evaluations.list_runs(
        access=access_of(request),
        page=page,
        set_id=optional_id(request.GET, "question_set"),
        status=choice(request.GET, "status", evaluations.STATUSES),
    )
    body = {
        "evaluations": [_body(report) for report in found],
        "next_cursor": next_cursor(page, after, of="evaluations"),
    }
    return json_response(body)


def show(request: HttpRequest, evaluation_id: str) -> HttpResponse:
    """With what each question gave, a page of questions at a time."""
    report = _found(request, evaluation_id)
    listed = f"results.{report.run.id}"
    page = page_asked(request.GET, of=listed, sorts=("position",), default="position")
    failing = choice(request.GET, "failing", ORDER)
    found, after = evaluations.list_results(report.run, page=page, failing=failing)
    body = {
        **_body(report),
        "results": [_result(one, report) for one in found],
        "next_cursor": next_cursor(page, after, of=listed),
    }
    response = json_response(body)
    response["Cache-Control"] = "no-store"
    return response


def plot(request: HttpRequest, evaluation_id: str) -> HttpResponse:
    """The metrics as a picture; before the end, one that says how far it is."""
    report = _found(request, evaluation_id)
    return svg_response(report)


def remove(request: HttpRequest, evaluation_id: str) -> HttpResponse:
    id_ = parse_id(evaluation_id, field="evaluation_id")
    evaluations.delete_run(id_, access=access_of(request))
    return json_response({"deleted": True})


def svg_response(report: Report) -> HttpResponse:
    response = HttpResponse(evaluation_svg(report.run), content_type="image/svg+xml")
    response["Cache-Control"] = "no-store"
    return response


def _found(request: HttpRequest, evaluation_id: str) -> Report:
    id_ = parse_id(evaluation_id, field="evaluation_id")
    return evaluations.get_run(id_, access=access_of(request))


def _name(value: Any, field: str) -> str:
    if not isinstance(value, str) or is_blank(value) or len(value) > MAX_NAME:
        rule = "is required" if value is None else "must be a name or an id"
        raise InvalidInput(f"{field} {rule}.", field=field)
    return check_storable(value, field)


def _collections(body: dict[str, Any]) -> list[str]:
    named = body.get("collections", [])
    if not isinstance(named, list):
        raise InvalidInput("collections must be a list of names or ids.", field="collections")
    return [_name(name, "collections") for name in named]


def _body(report: Report) -> dict[str, Any]:
    run = report.run
    summary = run.summary or {}
    measured = summary.get("configurations") or [{} for _ in run.configurations]
    return {
        "id": run.id,
        "status": run.status,
        "error": run.error or None,
        "question_set": {"id": run.question_set_id, "name": run.question_set.name},
        "collections": [{"id": one.id, "name": one.name} for one in report.collections],
        "answers": run.answers,
        "progress": {"total": run.total, "done": run.done},
        "configurations": [
            {**configuration, **_in_order(figures)}
            for configuration, figures in zip(run.configurations, measured, strict=True)
        ],
        "differences": _sorted(summary.get("differences")),
        "plot": f"/v1/evaluations/{run.id}/plot.svg",
        "created_at": utc_timestamp(run.created_at),
        "started_at": utc_timestamp(run.started_at) if run.started_at else None,
        "completed_at": utc_timestamp(run.completed_at) if run.completed_at else None,
    }


def _in_order(figures: dict[str, Any]) -> dict[str, Any]:
    """The database keeps no order; a reader wants the same one each time."""
    return {**figures, "metrics": _sorted(figures["metrics"])} if figures else {}


def _sorted(metrics: dict[str, Any] | None) -> dict[str, Any] | None:
    if metrics is None:
        return None
    names = [name for name in ORDER if name in metrics]
    return {name: metrics[name] for name in (*names, *sorted(set(metrics) - set(names)))}


def _result(row: Any, report: Report) -> dict[str, Any]:
    return {
        "position": row.position,
        "id": row.key,
        "question": row.question,
        "answerable": row.answerable,
        "expected_answers": row.expected,
        "configuration": report.run.configurations[row.configuration]["name"],
        "metrics": row.values,
        "found": row.found,
        "answered": row.answered,
        "answer": row.answer or None,
        "latency_ms": row.latency_ms,
        "error": row.error or None,
    }
