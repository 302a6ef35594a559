"""/v1/queries: past questions, explained, asked again, deleted."""

from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from documents.access import access_of
from knowlex.base.errors import InvalidInput
from knowlex.web.openapi import answer, operation
from knowlex.web.pagination import PageParameters
from knowlex.web.rate_limit import peer_address
from knowlex.web.responses import body_response
from knowlex.web.shapes import (
    Count,
    Number,
    Omittable,
    OutputShape,
    Rule,
    choice,
    read_parameters,
    storable_text,
)
from rag.answering.replay import replay
from rag.api.answers import answer_question, answer_response
from rag.api.v1.explanations import ExplainedQuery, QuerySummary, explained_body, summary
from rag.api.v1.feedback import RATING
from rag.api.v1.parameters import Cursor, InCollection
from rag.api.v1.query import QueryAnswer, answer_body
from rag.api.v1.questions import QuestionSettings
from rag.history import queries as listing
from rag.history.feedback import identify_caller
from rag.history.queries import QueryCriteria

ANSWERED = choice("true", "false", fold=True)
WHEN = "A time in ISO 8601 or a whole UTC day."


def _moment(text: str) -> datetime | date:
    try:
        if len(text) == len("2026-01-31"):
            return date.fromisoformat(text)
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be a date or a time in ISO 8601") from None


Moment = Omittable[Annotated[Any, Rule(_moment, {"type": "string"})]]


class QueryListParameters(InCollection, PageParameters):
    conversation_id: Omittable[Annotated[str, storable_text()]] = None
    answered: Omittable[Annotated[str, Rule(ANSWERED.check, {"type": "boolean"})]] = None
    rating: Annotated[
        Omittable[Annotated[str, RATING]], Field(description="Only those that somebody gave this rating.")
    ] = None
    since: Annotated[Moment, Field(description=WHEN)] = None
    until: Annotated[Moment, Field(description=f"{WHEN} A day is included, a time is not.")] = None

    def wanted(self) -> QueryCriteria:
        """Raises InvalidInput."""
        try:
            since, until = _start(self.since), _start(self.until, days=1)
        except OverflowError:
            raise InvalidInput("until must be a date or a time in ISO 8601.", field="until") from None
        if since is not None and until is not None and since > until:
            raise InvalidInput("since must not be after until.", field="since")
        return QueryCriteria(
            conversation_id=self.conversation_id,
            answered=None if self.answered is None else self.answered == "true",
            rating=self.rating,
            since=since,
            until=until,
            collection=self.collection,
        )


def _start(moment: datetime | date | None, *, days: int = 0) -> datetime | None:
    """Return the moment, or of a day its beginning, so many days later."""
    if moment is None or isinstance(moment, datetime):
        return moment
    return datetime.combine(moment + timedelta(days=days), time(), UTC)


class QueryList(OutputShape):
    queries: list[QuerySummary]
    next_cursor: Cursor


class ReplayChange(OutputShape):
    chunk_id: UUID
    document_id: UUID
    document_name: str | None
    title: str | None
    place_before: int | None
    place_now: int | None
    relevance_before: Number | None
    relevance_now: Number | None


class ReplayChanges(OutputShape):
    same_answer: Annotated[bool | None, Field(description="null: the earlier answer failed or is gone.")]
    same_verification: Annotated[bool | None, Field(description="null: that of the earlier is unknown.")]
    verification_before: Annotated[dict[str, Count] | None, Field(description="As in `Verification`.")]
    added: list[ReplayChange]
    gone: list[ReplayChange]
    moved: list[ReplayChange]


class Deleted(OutputShape):
    deleted: bool


class ReplayedQuery(QueryAnswer):
    replay_of: UUID
    changes: ReplayChanges


@operation(
    "listQueries",
    "List past questions of all faces, newest first",
    answer(200, "One page.", QueryList),
    parameters=QueryListParameters,
    failures="404",
)
def index(request: HttpRequest) -> HttpResponse:
    given = read_parameters(request, QueryListParameters)
    page = given.page("queries")
    rows, after = listing.list_queries(access=access_of(request), page=page, wanted=given.wanted())
    queries = [summary(row, QuerySummary) for row in rows]
    return _private(body_response(QueryList(queries=queries, next_cursor=page.next_cursor(after))))


@operation(
    "getQuery",
    "What was asked, found and answered, by which settings and scores",
    answer(200, "All that explains the answer.", ExplainedQuery),
)
def show(request: HttpRequest, query_id: UUID) -> HttpResponse:
    access = access_of(request)
    caller = identify_caller(access, peer_address(request))
    return _private(body_response(explained_body(listing.get_query(query_id, access=access, caller=caller))))


@operation(
    "deleteQuery",
    "Forget a question, its answer and what was said of it",
    answer(200, "It is gone.", Deleted),
)
def remove(request: HttpRequest, query_id: UUID) -> HttpResponse:
    listing.delete_query(query_id, access=access_of(request))
    return body_response(Deleted(deleted=True))


@operation(
    "replayQuery",
    "Ask the same again, with the same settings and past the cache",
    answer(200, "The body of /v1/query, and what changed.", ReplayedQuery),
)
async def ask_again(request: HttpRequest, query_id: UUID) -> HttpResponse:
    replayed = await replay(query_id, access=access_of(request), ask=partial(answer_question, request))
    changes = ReplayChanges.model_validate(replayed)
    body = answer_body(replayed.asked, QuestionSettings(), ReplayedQuery, replay_of=query_id, changes=changes)
    return answer_response(replayed.asked, body)


def _private(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
