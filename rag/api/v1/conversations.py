"""/v1/conversations: past conversations, and what was asked and answered in one."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from documents.access import access_of
from knowlex.base.errors import NotFound
from knowlex.web.fields import is_storable
from knowlex.web.openapi import answer, operation
from knowlex.web.pagination import read_text_cursor, sign_text_cursor
from knowlex.web.rate_limit import peer_address
from knowlex.web.responses import body_response
from knowlex.web.shapes import (
    Count,
    Object,
    OutputShape,
    TextOrNull,
    Time,
    Unchecked,
    number_text,
    read_parameters,
)
from rag.api.answers import PLACE, ContradictedClaim
from rag.api.v1.explanations import PastCitation, QuerySummary, citation_body, summary
from rag.api.v1.parameters import Cursor, NamesHolding
from rag.history import conversations
from rag.history.conversations import ConversationTurn
from rag.history.feedback import identify_caller

LIST = "conversations"


class ConversationListParameters(NamesHolding):
    limit: Annotated[int, number_text(1, 100)] = 50
    cursor: str = ""


class ConversationShape(OutputShape):
    id: str
    title: Annotated[str, Field(description="The first question.")]
    turns: Count
    started_at: Time
    last_asked_at: Time


class ConversationList(OutputShape):
    conversations: list[ConversationShape]
    next_cursor: Cursor


class TurnSource(OutputShape):
    citation_index: Count
    chunk_id: UUID
    document_id: UUID
    document_name: str | None
    page_number: int | None
    place: Annotated[TextOrNull, Field(description=PLACE)]
    content_snippet: str | None


class TurnShape(QuerySummary):
    filters: Object
    sources: list[TurnSource]
    citations: list[PastCitation]
    contradicted: Annotated[list[ContradictedClaim], Unchecked()]
    feedback: Literal["thumbs_up", "thumbs_down"] | None


class ConversationTurns(OutputShape):
    id: str
    turns: Annotated[list[TurnShape], Field(description="In order; of a long one the last 50.")]


@operation(
    "listConversations",
    "List conversations, the last asked first",
    answer(200, "One page.", ConversationList),
    parameters=ConversationListParameters,
)
def index(request: HttpRequest) -> HttpResponse:
    given = read_parameters(request, ConversationListParameters)
    after = None
    if given.cursor:
        last, id_ = read_text_cursor(given.cursor, of=LIST)
        after = datetime.fromisoformat(last), id_
    found, end = conversations.list_conversations(
        access=access_of(request), limit=given.limit, after=after, q=given.q
    )
    cursor = sign_text_cursor((end[0].isoformat(), end[1]), of=LIST) if end else None
    shown = [ConversationShape.of(conversation) for conversation in found]
    return _private(ConversationList(conversations=shown, next_cursor=cursor))


@operation(
    "getConversation",
    "What was asked and answered in a conversation",
    answer(200, "The turns.", ConversationTurns),
)
def show(request: HttpRequest, conversation_id: str) -> HttpResponse:
    access = access_of(request)
    if not is_storable(conversation_id):
        raise NotFound("Conversation not found.")
    caller = identify_caller(access, peer_address(request))
    turns = conversations.read_conversation(conversation_id, access=access, caller=caller)
    return _private(ConversationTurns(id=conversation_id, turns=[_turn(turn) for turn in turns]))


def _turn(turn: ConversationTurn) -> TurnShape:
    response = getattr(turn.query, "response", None)
    citations = [citation_body(citation) for citation in turn.citations]
    sources: dict[int, TurnSource] = {}
    for citation in citations:
        source = TurnSource.of(citation, content_snippet=citation.quoted_text)
        sources.setdefault(citation.citation_index, source)
    return summary(
        turn.query,
        TurnShape,
        sources=[sources[number] for number in sorted(sources)],
        citations=citations,
        contradicted=response.contradicted if response else [],
        feedback=turn.rating or None,
    )


def _private(body: Any) -> HttpResponse:
    response = body_response(body)
    response["Cache-Control"] = "no-store"
    return response
