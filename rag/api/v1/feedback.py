"""POST /v1/feedback: what a caller says of an answer."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from documents.access import access_of
from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.fields import is_blank
from knowlex.web.openapi import answer, operation
from knowlex.web.rate_limit import peer_address
from knowlex.web.responses import body_response
from knowlex.web.shapes import (
    ID_SCHEMA,
    InputShape,
    Omittable,
    OutputShape,
    Rule,
    TextOrNull,
    Time,
    check_characters,
    choice,
    read_body,
    text,
)
from rag.history.feedback import FeedbackInput, give_feedback, identify_caller

MAX_COMMENT = 2000
RATINGS = ("thumbs_up", "thumbs_down")
RATING = choice(*RATINGS)


def _comment(value: Any) -> str:
    """Return "" for a blank one, which takes back an earlier one."""
    if not isinstance(value, str):
        raise ValueError("must be a string")
    if len(value) > MAX_COMMENT:
        raise ValueError(f"must be at most {MAX_COMMENT} characters")
    return "" if is_blank(value) else check_characters(value)


class NewFeedback(InputShape):
    """A rating, a comment, or both."""

    query_id: Annotated[str, Rule(text(255).check, ID_SCHEMA)]
    rating: Omittable[Annotated[str, RATING]] = None
    comment: Omittable[Annotated[str, Rule(_comment, {"type": "string", "maxLength": MAX_COMMENT})]] = None


class OwnFeedback(OutputShape):
    rating: Annotated[TextOrNull, Field(json_schema_extra={"enum": [*RATINGS, None]})]
    comment: TextOrNull
    created_at: Time
    updated_at: Time


class FeedbackReceipt(OutputShape):
    recorded: bool
    query_id: UUID
    rating: Annotated[TextOrNull, Field(json_schema_extra={"enum": [*RATINGS, None]})]
    comment: TextOrNull
    created_at: Time
    updated_at: Time


@operation(
    "giveFeedback",
    "Rate an answer or comment on it; once more changes it",
    answer(200, "Kept.", FeedbackReceipt),
    body=NewFeedback,
    failures="404",
)
def create(request: HttpRequest) -> HttpResponse:
    access = access_of(request)
    given = read_body(request, NewFeedback)
    query_id = parse_id(given.query_id, field="query_id")
    if given.rating is None and not given.comment:
        raise InvalidInput("Send a rating, a comment, or both.", field="rating")
    caller = identify_caller(access, peer_address(request))
    kept = give_feedback(query_id, FeedbackInput(given.rating, given.comment), access=access, caller=caller)
    own = OwnFeedback.model_validate(kept)
    return body_response(FeedbackReceipt(recorded=True, query_id=query_id, **dict(own)))
