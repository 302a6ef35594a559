"""POST /v1/dify/retrieval: Dify's external knowledge API, by which Dify searches a collection.

Its request and its answer are Dify's; the error body is that of the other faces with Dify's `error_code` and
`error_msg` in it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from pydantic import ConfigDict, Field

from documents.access import access_of
from knowlex.base.errors import InvalidInput
from knowlex.web.openapi import answer, operation
from knowlex.web.responses import plain_json_response
from knowlex.web.shapes import (
    InputShape,
    Object,
    OutputShape,
    QuestionText,
    Share,
    integer,
    read_body,
    text,
)
from rag.answering import services
from rag.api.v1.filters import read_metadata_filters
from rag.types.question import Filters, MetadataFilter
from rag.types.retrieval import Passage

MAX_CONDITIONS = 20


class RetrievalSetting(InputShape):
    top_k: Annotated[int, integer(1, 50)]
    score_threshold: Annotated[
        float | None, Field(ge=0, le=1, description="Least relevance; none with 0.")
    ] = None


class MetadataConditionItem(InputShape):
    name: Annotated[Any, Field(description="A key of the documents' metadata, or a list of one.")]
    comparison_operator: Annotated[
        str, Field(description="is, =, in, ≥, ≤, >, <, before and after; every other one is refused.")
    ]
    value: Any = None


class MetadataCondition(InputShape):
    logical_operator: Annotated[
        Literal["and", "or"] | None,
        Field(description="`or` between conditions on one key, by is, = and in, alone."),
    ] = None
    conditions: Annotated[list[MetadataConditionItem] | None, Field(max_length=MAX_CONDITIONS)] = None


class RetrievalAsked(InputShape):
    """As Dify sends it; what else it sends is ignored."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "knowledge_id": "default",
                "query": "how answers are cited",
                "retrieval_setting": {"top_k": 3, "score_threshold": 0.0},
            }
        }
    )

    knowledge_id: Annotated[str, text(255), Field(description="Name or id of a collection.")]
    query: QuestionText
    retrieval_setting: RetrievalSetting
    metadata_condition: MetadataCondition | None = None


class RetrievedRecord(OutputShape):
    content: str
    score: Annotated[Share, Field(description="The probability that the passage helps to answer.")]
    title: str
    metadata: Object


class RetrievedRecords(OutputShape):
    records: Annotated[list[RetrievedRecord], Field(description="Best first.")]


@operation(
    "difyRetrieval",
    "Passages for Dify, by its external knowledge API",
    answer(200, "Those that reach the threshold.", RetrievedRecords),
    body=RetrievalAsked,
    failures={"404": "No such collection: `error_code` 2001"},
    description="In Dify, the API endpoint is the address of this server with `/v1/dify`. Error bodies have"
    " `error_msg` and `error_code` besides: 1001 for no key in the form `Bearer <key>`, 1002 for one that is"
    " refused, 2001 for no such collection, else the status.",
)
async def retrieve(request: HttpRequest) -> HttpResponse:
    asked = read_body(request, RetrievalAsked)
    question = await services.make_platform_question(
        asked.query,
        access=access_of(request),
        collections=[asked.knowledge_id],
        filters=Filters(metadata=read_conditions(asked.metadata_condition)),
        top_k=asked.retrieval_setting.top_k,
    )
    result = await services.search(question)
    threshold = asked.retrieval_setting.score_threshold or 0.0
    records = [_make_record(passage) for passage in result.passages if passage.relevance >= threshold]
    return plain_json_response(RetrievedRecords(records=records))


def _make_record(passage: Passage) -> RetrievedRecord:
    metadata = {
        "document_id": str(passage.document_id),
        "document_name": passage.document_name,
        "page_number": passage.page_number,
        "chapter": passage.chapter,
        "section": passage.section,
        "chunk_id": str(passage.chunk_id),
    }
    return RetrievedRecord(
        content=passage.content,
        score=passage.relevance,
        title=passage.title or passage.document_name,
        metadata=metadata,
    )


def read_conditions(given: MetadataCondition | None) -> tuple[MetadataFilter, ...]:
    """Return Dify's conditions as filters of the search. Raises InvalidInput for what it cannot do."""
    conditions = (given.conditions if given else None) or []
    filters = [
        _translate_condition(condition, f"metadata_condition.conditions[{n}]")
        for n, condition in enumerate(conditions)
    ]
    if given is None or given.logical_operator != "or" or len(filters) < 2:
        return tuple(filters)
    if len({each.key for each in filters}) > 1 or not all(each.any_of for each in filters):
        field = "metadata_condition.logical_operator"
        raise InvalidInput(f"{field} `or` only joins conditions on one key by is, = or in.", field=field)
    return (MetadataFilter(filters[0].key, any_of=tuple(value for each in filters for value in each.any_of)),)


def _read_value(value: Any) -> Any:
    if isinstance(value, list | dict):
        raise ValueError("takes one value.")
    return value


def _read_values(value: Any) -> list[Any]:
    """Return the values of a list; Dify also writes one as a text with commas."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, list):
        raise ValueError("takes a list of values.")
    return value


def _read_number(value: Any) -> int | float:
    """Return the number, which Dify also sends as a text."""
    try:
        number = float(value)
        return int(number) if number.is_integer() else number
    except (TypeError, ValueError, OverflowError):
        raise ValueError("takes a number.") from None


def _read_moment(value: Any, days: int) -> str | int | float:
    """Return the day that is so many days later, or a number (seconds since 1970) as it is."""
    if isinstance(value, str) and len(value) == len("2026-01-31"):
        return (date.fromisoformat(value) + timedelta(days)).isoformat()
    return _read_number(value)


_OPERATORS: Mapping[str, Callable[[Any], Any]] = {
    "is": _read_value,
    "=": _read_number,
    "in": _read_values,
    "≥": lambda value: {"gte": _read_number(value)},
    "≤": lambda value: {"lte": _read_number(value)},
    ">": lambda value: {"gte": _read_number(value)},
    "<": lambda value: {"lte": _read_number(value)},
    "after": lambda value: {"gte": _read_moment(value, 1)},
    "before": lambda value: {"lte": _read_moment(value, -1)},
}
_STRICT = (">", "<", "after", "before")


def _translate_condition(condition: MetadataConditionItem, field: str) -> MetadataFilter:
    names = condition.name if isinstance(condition.name, list) else [condition.name]
    if len(names) != 1 or not isinstance(names[0], str):
        raise InvalidInput(f"{field}.name must be one key.", field=f"{field}.name")
    translate = _OPERATORS.get(condition.comparison_operator)
    if translate is None:
        raise InvalidInput(
            f"{field}.comparison_operator: the search cannot do {condition.comparison_operator[:40]!r}; "
            f"it can do {', '.join(_OPERATORS)}.",
            field=f"{field}.comparison_operator",
        )
    try:
        (read,) = read_metadata_filters({names[0]: translate(condition.value)})
    except (InvalidInput, ValueError) as exc:
        raise InvalidInput(f"{field}: {exc}", field=field) from exc
    return _exclude_bounds(read) if condition.comparison_operator in _STRICT else read


def _exclude_bounds(read: MetadataFilter) -> MetadataFilter:
    """Return the filter without the bound itself where that is a number: days are a day further already."""
    low, high = read.at_least, read.at_most
    if isinstance(low, int | float):
        low = math.nextafter(low, math.inf)
    if isinstance(high, int | float):
        high = math.nextafter(high, -math.inf)
    return replace(read, at_least=low, at_most=high)
