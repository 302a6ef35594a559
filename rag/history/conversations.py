"""Conversations: questions that were asked one after the other, listed and read again. No HTTP in here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, F, Max, Q, QuerySet
from django.db.models.functions import Left

from documents.access import Access
from knowlex.base.errors import NotFound
from knowlex.db.threads import with_retries
from rag.history.queries import with_document_status, with_ratings
from rag.history.recorder import flush_all_loops
from rag.models import Citation, Feedback, Query

MAX_TITLE_CHARS = 200
MAX_TURNS = 50
After = tuple[datetime, str]


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """title: the first question. turns: how many questions."""

    id: str
    title: str
    turns: int
    started_at: datetime
    last_asked_at: datetime


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """A question with its response. citations: with `status` and `document_name`, see `QueryDetails`.

    rating: what the caller said of the answer, "" for nothing.
    """

    query: Query
    citations: list[Any]
    rating: str


def list_conversations(
    *, access: Access, limit: int, after: After | None = None, q: str = ""
) -> tuple[list[ConversationSummary], After | None]:
    """Return one page, the last asked first, and its end if more follow. One statement.

    q: text that a question of it must contain. after: last_asked_at and id of the last one seen.
    """
    flush_all_loops()
    in_order = ("created_at", "id")
    rows = (
        _questions(access)
        .values("conversation_id")
        .annotate(
            last_asked_at=Max("created_at"),
            turns=Count("id"),
            titles=ArrayAgg(Left("original_query", MAX_TITLE_CHARS), order_by=in_order),
            times=ArrayAgg("created_at", order_by=in_order),
        )
    )
    if q:
        rows = rows.alias(fitting=Count("id", filter=Q(original_query__icontains=q))).filter(fitting__gt=0)
    if after is not None:
        last, id_ = after
        rows = rows.filter(Q(last_asked_at__lt=last) | Q(last_asked_at=last, conversation_id__lt=id_))
    rows = rows.order_by("-last_asked_at", "-conversation_id")
    wanted = rows.values_list("conversation_id", F("titles__0"), "turns", F("times__0"), "last_asked_at")[
        : limit + 1
    ]
    found = [ConversationSummary(*row) for row in with_retries(lambda: list(wanted))]
    if len(found) <= limit:
        return found, None
    return found[:limit], (found[limit - 1].last_asked_at, found[limit - 1].id)


def read_conversation(conversation_id: str, *, access: Access, caller: str) -> list[ConversationTurn]:
    """Return the last turns of a conversation, in the order in which they were asked. Raises NotFound."""
    flush_all_loops()
    rows = with_ratings(_questions(access)).filter(conversation_id=conversation_id).select_related("response")
    queries = with_retries(lambda: list(rows.order_by("-created_at", "-id")[:MAX_TURNS]))
    if not queries:
        raise NotFound("Conversation not found.")
    return with_retries(lambda: _read_turns(queries[::-1], caller))


def _read_turns(queries: Sequence[Query], caller: str) -> list[ConversationTurn]:
    ids = [query.id for query in queries]
    citations: dict[Any, list[Any]] = {}
    for citation in with_document_status(Citation.objects.filter(response__in=ids)).order_by("position"):
        citations.setdefault(citation.response_id, []).append(citation)
    ratings = dict(Feedback.objects.filter(query__in=ids, caller=caller).values_list("query_id", "rating"))
    return [
        ConversationTurn(query, citations.get(query.id, []), ratings.get(query.id) or "") for query in queries
    ]


def _questions(access: Access) -> QuerySet[Query]:
    """Select what people asked; a question that was asked again for comparison is no turn."""
    rows = Query.objects.allowed_to(access).filter(face="platform", replay_of=None)
    return rows.exclude(conversation_id="")
