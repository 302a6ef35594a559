"""/v1/question_sets: questions with what is expected of their answers."""

from collections.abc import Iterator
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import ConfigDict, Field

from documents.access import access_of
from knowlex.base.errors import PayloadTooLarge, UnsupportedMediaType
from knowlex.web.openapi import JSON, answer, operation
from knowlex.web.pagination import PageParameters, PositionParameters, sorting
from knowlex.web.responses import body_response
from knowlex.web.shapes import (
    Count,
    InputShape,
    OutputShape,
    Rule,
    Time,
    Unchecked,
    check_characters,
    read_body,
    read_parameters,
)
from rag.api.v1.parameters import Cursor, NamesHolding
from rag.evaluation import question_sets
from rag.evaluation.question_files import (
    MAX_LINE_BYTES,
    EvaluationQuestion,
    case_to_json,
    parse_lines,
    parse_objects,
)

JSON_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
MAX_JSON_BYTES = 1024 * 1024


def _questions(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("is required" if value is None else "must be a list")
    return value


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError("must be a string")
    return None if value is None else check_characters(value)


def _name(value: Any) -> str:
    name = _text(value)
    if name is None:
        raise ValueError("is required")
    return name


class SetFields(InputShape):
    """With JSON lines they are in the query string."""

    name: Annotated[str, Rule(_name, {"type": "string", "minLength": 1, "maxLength": 255})]
    description: Annotated[str | None, Rule(_text, {"type": "string"})] = None
    collection: Annotated[
        str | None,
        Rule(_text, {"type": "string"}),
        Field(description="The collection that the questions are about."),
    ] = None


class QuestionList(InputShape):
    questions: Annotated[list[EvaluationQuestion], Unchecked(_questions)]


class NewQuestionSet(SetFields, QuestionList):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "name": "first questions",
                "questions": [{"question": "How are answers cited?", "answers": ["passage by passage"]}],
            }
        }
    )


class SetParameters(InputShape):
    """The same for /api/schema: with one JSON object none of them is needed."""

    name: Annotated[str, Field(description="With JSON lines: the set's name, required.")] = ""
    description: Annotated[str, Field(description="With JSON lines.")] = ""
    collection: Annotated[
        str, Field(description="With JSON lines: the collection that the questions are about.")
    ] = ""


class SetListParameters(NamesHolding, PageParameters):
    default_sort = "name"
    sort: Annotated[str, sorting("name", "created_at")] = ""


class QuestionSetShape(OutputShape):
    id: UUID
    name: str
    description: str
    collection: str | None
    collection_id: UUID | None
    question_count: Count
    created_at: Time


class QuestionSetList(OutputShape):
    question_sets: list[QuestionSetShape]
    next_cursor: Cursor


class QuestionSetWithQuestions(QuestionSetShape):
    questions: Annotated[list[EvaluationQuestion], Unchecked()]
    next_cursor: Cursor


class QuestionSetReceipt(OutputShape):
    deleted: bool
    questions_removed: Count


@operation(
    "createQuestionSet",
    "Store questions, as JSON lines (name, description, collection in the query) or one object",
    answer(201, "Stored.", QuestionSetShape),
    body={"application/x-ndjson": {"schema": {"type": "string"}}, JSON: NewQuestionSet},
    parameters=SetParameters,
    failures="404 409",
)
def create(request: HttpRequest) -> HttpResponse:
    """Take JSON lines, with name, description and collection in the query, or one JSON object."""
    access = access_of(request)
    access.require("write")
    if request.content_type in JSON_LINES:
        cases = parse_lines(_lines(request))
        given = read_parameters(request, SetFields)
    elif request.content_type == "application/json":
        _check_size(request)
        new = given = read_body(request, NewQuestionSet)
        cases = parse_objects(new.questions)
    else:
        raise UnsupportedMediaType("The request must be application/x-ndjson or application/json.")
    made = question_sets.create_set(
        access=access,
        name=given.name,
        description=given.description or "",
        collection=given.collection,
        cases=cases,
    )
    return body_response(_set(made), 201, location=f"/v1/question_sets/{made.id}")


@operation(
    "listQuestionSets",
    "List question sets",
    answer(200, "One page.", QuestionSetList),
    parameters=SetListParameters,
)
def index(request: HttpRequest) -> HttpResponse:
    given = read_parameters(request, SetListParameters)
    page = given.page("question_sets")
    rows, after = question_sets.list_sets(access=access_of(request), page=page, q=given.q)
    shapes = [_set(row) for row in rows]
    return body_response(QuestionSetList(question_sets=shapes, next_cursor=page.next_cursor(after)))


@operation(
    "getQuestionSet",
    "A question set with a page of its questions",
    answer(200, "The set.", QuestionSetWithQuestions),
    parameters=PositionParameters,
)
def show(request: HttpRequest, set_id: UUID) -> HttpResponse:
    row = question_sets.get_set(str(set_id), access=access_of(request))
    page = read_parameters(request, PositionParameters).page(f"questions.{set_id}")
    cases, after = question_sets.list_questions(row, page=page)
    questions = [case_to_json(case) for case in cases]
    next_cursor = page.next_cursor(after)
    return body_response(_set(row, QuestionSetWithQuestions, questions=questions, next_cursor=next_cursor))


@operation(
    "deleteQuestionSet",
    "Delete a question set and its evaluations",
    answer(200, "What went.", QuestionSetReceipt),
)
def remove(request: HttpRequest, set_id: UUID) -> HttpResponse:
    removed = question_sets.delete_set(set_id, access=access_of(request))
    return body_response(QuestionSetReceipt(deleted=True, questions_removed=removed))


def _set(row: Any, shape: type[QuestionSetShape] = QuestionSetShape, **more: Any) -> QuestionSetShape:
    return shape.of(row, collection=row.collection.name if row.collection else None, **more)


def _lines(request: HttpRequest) -> Iterator[bytes]:
    """Read them as they lie in the body, which may be on disk; never more of one than is looked at."""
    stream: Any = request._stream
    while line := stream.readline(MAX_LINE_BYTES + 1):
        yield line


def _check_size(request: HttpRequest) -> None:
    stream: Any = request._stream
    size = stream.seek(0, 2)
    stream.seek(0)
    if size > MAX_JSON_BYTES:
        raise PayloadTooLarge("A JSON object may have 1 MB; send more questions as application/x-ndjson.")
