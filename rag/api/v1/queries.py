"""/v1/queries: past questions, explained, asked again, deleted."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse

from documents.access.scopes import access_of
from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.fields import check_storable
from knowlex.web.pagination import next_cursor, page_asked
from knowlex.web.rate_limit import peer_address
from knowlex.web.responses import json_response
from rag.answering.replay import ReplayResult, replay
from rag.api.common import answer_response, asked_by
from rag.api.v1.answers import answer_body
from rag.api.v1.explanations import explained_body, summary_body
from rag.api.v1.feedback import RATINGS
from rag.api.v1.question_fields import choice, named_in
from rag.api.v1.questions import ReplySettings
from rag.history import listing
from rag.history.feedback import caller_of
from rag.history.listing import Wanted


def index(request: HttpRequest) -> HttpResponse:
    page = page_asked(request.GET, of="queries", sorts=("created_at",), default="-created_at")
    found, after = listing.list_queries(access=access_of(request), page=page, wanted=_wanted(request.GET))
    body = {
        "queries": [summary_body(query) for query in found],
        "next_cursor": next_cursor(page, after, of="queries"),
    }
    return _private(json_response(body))


def show(request: HttpRequest, query_id: str) -> HttpResponse:
    """All that explains an answer."""
    access = access_of(request)
    id_ = parse_id(query_id, field="query_id")
    caller = caller_of(access, peer_address(request))
    return _private(json_response(explained_body(listing.get_query(id_, access=access, caller=caller))))


def remove(request: HttpRequest, query_id: str) -> HttpResponse:
    listing.delete_query(parse_id(query_id, field="query_id"), access=access_of(request))
    return json_response({"deleted": True})


async def ask_again(request: HttpRequest, query_id: str) -> HttpResponse:
    """The body of /v1/query, and what is another than it was."""
    id_ = parse_id(query_id, field="query_id")
    replayed = await replay(id_, access=access_of(request), ask=partial(asked_by, request))
    body = answer_body(replayed.asked, ReplySettings())
    return answer_response(replayed.asked, {**body, "replay_of": id_, "changes": _changes(replayed)})


def _changes(replayed: ReplayResult) -> dict[str, Any]:
    return {
        "same_answer": replayed.same_answer,
        "same_verification": replayed.same_verification,
        "verification_before": replayed.verification_before,
        "added": [asdict(one) for one in replayed.added],
        "gone": [asdict(one) for one in replayed.gone],
        "moved": [asdict(one) for one in replayed.moved],
    }


def _wanted(parameters: Mapping[str, Any]) -> Wanted:
    """Raises InvalidInput."""
    since, until = _moment(parameters, "since"), _moment(parameters, "until", end=True)
    if since is not None and until is not None and since > until:
        raise InvalidInput("since must not be after until.", field="since")
    conversation_id = parameters.get("conversation_id")
    answered = choice(parameters, "answered", ("true", "false"))
    return Wanted(
        conversation_id=None
        if conversation_id is None
        else check_storable(conversation_id, "conversation_id"),
        answered=answered == "true" if answered else None,
        rating=choice(parameters, "rating", RATINGS) or None,
        since=since,
        until=until,
        collection=named_in(parameters),
    )


def _moment(parameters: Mapping[str, Any], name: str, *, end: bool = False) -> datetime | None:
    """A time in ISO 8601, UTC unless it says otherwise, or a UTC day: its beginning, or its end."""
    text = parameters.get(name)
    if text is None:
        return None
    try:
        if len(text) == len("2026-01-31"):
            day = date.fromisoformat(text) + timedelta(days=1 if end else 0)
            return datetime.combine(day, time(), UTC)
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(f"{name} must be a date or a time in ISO 8601.", field=name) from None


def _private(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
