"""/v1/question_sets: questions with what is expected of their answers."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse

from documents.access import access_of
from knowlex.base.errors import InvalidInput, PayloadTooLarge, UnsupportedMediaType
from knowlex.base.ids import parse_id
from knowlex.web.fields import check_storable
from knowlex.web.pagination import next_cursor, page_asked
from knowlex.web.responses import json_object, json_response, utc_timestamp
from rag.api.v1.question_fields import search_text
from rag.evaluation import question_sets
from rag.evaluation.question_files import MAX_LINE_BYTES, read_lines, read_objects, write_line

SORTS = ("name", "created_at")
JSON_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
MAX_JSON_BYTES = 1024 * 1024


def create(request: HttpRequest) -> HttpResponse:
    """JSON lines with name, description and collection in the query, or one JSON object of up to 1 MB."""
    access = access_of(request)
    access.require("write")
    if request.content_type in JSON_LINES:
        given: Any = request.GET
        cases = read_lines(_lines(request))
    elif request.content_type == "application/json":
        given = _object(request)
        cases = read_objects(_questions(given))
    else:
        raise UnsupportedMediaType("The request must be application/x-ndjson or application/json.")
    name = _text(given, "name")
    if name is None:
        raise InvalidInput("name is required.", field="name")
    made = question_sets.create_set(
        access=access,
        name=name,
        description=_text(given, "description") or "",
        collection=_text(given, "collection"),
        cases=cases,
    )
    response = json_response(body_of(made), 201)
    response["Location"] = f"/v1/question_sets/{made.id}"
    return response


def index(request: HttpRequest) -> HttpResponse:
    page = page_asked(request.GET, of="question_sets", sorts=SORTS, default="name")
    found, after = question_sets.list_sets(access=access_of(request), page=page, q=search_text(request.GET))
    body = {
        "question_sets": [body_of(one) for one in found],
        "next_cursor": next_cursor(page, after, of="question_sets"),
    }
    return json_response(body)


def show(request: HttpRequest, set_id: str) -> HttpResponse:
    """With its questions, a page of them at a time."""
    found = question_sets.get_set(str(parse_id(set_id, field="set_id")), access=access_of(request))
    page = page_asked(request.GET, of=f"questions.{found.id}", sorts=("position",), default="position")
    cases, after = question_sets.list_questions(found, page=page)
    body = {
        **body_of(found),
        "questions": [write_line(case) for case in cases],
        "next_cursor": next_cursor(page, after, of=f"questions.{found.id}"),
    }
    return json_response(body)


def remove(request: HttpRequest, set_id: str) -> HttpResponse:
    id_ = parse_id(set_id, field="set_id")
    removed = question_sets.delete_set(id_, access=access_of(request))
    return json_response({"deleted": True, "questions_removed": removed})


def body_of(found: Any) -> dict[str, Any]:
    return {
        "id": found.id,
        "name": found.name,
        "description": found.description,
        "collection": found.collection.name if found.collection else None,
        "collection_id": found.collection_id,
        "question_count": found.question_count,
        "created_at": utc_timestamp(found.created_at),
    }


def _lines(request: HttpRequest) -> Iterator[bytes]:
    """As they lie in the body, which may be on disk; never more of one than is looked at."""
    stream: Any = request._stream
    while line := stream.readline(MAX_LINE_BYTES + 1):
        yield line


def _object(request: HttpRequest) -> dict[str, Any]:
    stream: Any = request._stream
    size = stream.seek(0, 2)
    stream.seek(0)
    if size > MAX_JSON_BYTES:
        raise PayloadTooLarge("A JSON object may have 1 MB; send more questions as application/x-ndjson.")
    return json_object(request)


def _questions(given: dict[str, Any]) -> list[Any]:
    questions = given.get("questions")
    if not isinstance(questions, list):
        rule = "is required" if questions is None else "must be a list"
        raise InvalidInput(f"questions {rule}.", field="questions")
    return questions


def _text(given: Any, name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string.", field=name)
    return None if value is None else check_storable(value, name)
