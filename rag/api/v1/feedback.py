"""POST /v1/feedback: what a caller says of an answer."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from documents.access import access_of
from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.fields import check_storable, is_blank, text_field
from knowlex.web.rate_limit import peer_address
from knowlex.web.responses import json_object, json_response, utc_timestamp
from rag.history.feedback import Said, caller_of, give_feedback

MAX_COMMENT = 2000
RATINGS = ("thumbs_up", "thumbs_down")


def create(request: HttpRequest) -> HttpResponse:
    access = access_of(request)
    body = json_object(request)
    query_id = parse_id(text_field(body, "query_id", max_chars=255), field="query_id")
    said = Said(_rating(body), _comment(body))
    if said.rating is None and not said.comment:
        raise InvalidInput("Send a rating, a comment, or both.", field="rating")
    kept = give_feedback(query_id, said, access=access, caller=caller_of(access, peer_address(request)))
    return json_response({"recorded": True, "query_id": query_id, **feedback_body(kept)})


def feedback_body(feedback: Any) -> dict[str, Any]:
    return {
        "rating": feedback.rating or None,
        "comment": feedback.comment or None,
        "created_at": utc_timestamp(feedback.created_at),
        "updated_at": utc_timestamp(feedback.updated_at),
    }


def _rating(body: dict[str, Any]) -> str | None:
    if "rating" not in body:
        return None
    if body["rating"] not in RATINGS:
        raise InvalidInput(f"rating must be one of {', '.join(RATINGS)}.", field="rating")
    return str(body["rating"])


def _comment(body: dict[str, Any]) -> str | None:
    """None where there is none; "" for a blank one, which takes back an earlier one."""
    if "comment" not in body:
        return None
    comment = body["comment"]
    if not isinstance(comment, str):
        raise InvalidInput("comment must be a string.", field="comment")
    if len(comment) > MAX_COMMENT:
        raise InvalidInput(f"comment must be at most {MAX_COMMENT} characters.", field="comment")
    return "" if is_blank(comment) else check_storable(comment, "comment")
