"""A question of a conversation, made to stand alone by what the same caller asked and was answered before."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings

from documents.access import Access
from knowlex.base.errors import DatabaseUnavailable
from knowlex.db.pool import fetch_all
from knowlex.runtime.components import component
from rag.citations import without_markers
from rag.conversation import rewriting
from rag.conversation.carry_over import Turn, carry_over
from rag.conversation.rewriting import CompletingModel, rewrite_by_model
from rag.history import recorder
from rag.history.recorder import flush_current_loop
from rag.types.question import Question

log = logging.getLogger(__name__)

MOST_TURNS = 10
# Not of what failed, of documents that are gone, or of collections that the caller may not read any more. The
# third condition is the index's own. whose: in two forms, since an index serves no IS NOT DISTINCT FROM.
_TURNS = """
    SELECT coalesce(nullif(q.rewritten_query, ''), q.original_query) AS question,
        coalesce(r.answer, '') AS answer, coalesce((
            SELECT c.quoted_text FROM rag_citation c WHERE c.response_id = q.id ORDER BY c.position LIMIT 1
        ), '') AS quote
    FROM rag_query q LEFT JOIN rag_response r ON r.query_id = q.id
    WHERE q.conversation_id = %(conversation)s AND {whose}
        AND NOT q.conversation_id = '' AND q.error = '' AND q.id <> %(itself)s
        AND NOT coalesce(r.quotes_gone, false) AND NOT EXISTS (
            SELECT FROM rag_citation c WHERE c.response_id = q.id AND c.gone
        )
        AND (%(allowed)s::uuid[] IS NULL OR q.collection_ids <@ %(allowed)s::uuid[])
    ORDER BY q.created_at DESC, q.id DESC LIMIT %(most)s
"""
_WRITTEN = "SELECT FROM rag_query WHERE id = %s"


async def stand_alone(question: Question, *, access: Access, conversation: str, itself: UUID) -> Question:
    """The question, with the user's own words as `original` if it is another one now. Never raises.

    conversation: "" for none; an unknown one begins with this question. itself: the id of this query.
    """
    if not conversation or not settings.QUERY_LOG:
        return question
    try:
        turns = await _history(access, conversation, itself)
    except (DatabaseUnavailable, psycopg.Error) as exc:
        log.warning("conversation not read", extra={"error": type(exc).__name__})
        return question
    if not turns:
        return question
    text = await _by_model(question, turns) or carry_over(question.text, turns)
    if text.casefold().split() == question.text.casefold().split():
        return question
    return replace(question, text=text, original=question.text)


async def _history(access: Access, conversation: str, itself: UUID) -> list[Turn]:
    """Newest first."""
    await flush_current_loop()
    parameters: dict[str, Any] = {"conversation": conversation, "itself": itself, "most": MOST_TURNS}
    parameters |= {"allowed": access.allowed, "key": access.key_id, "user": access.user_id}
    turns = _TURNS.format(whose=_whose(access))
    rows = await fetch_all(turns, parameters)
    if not rows and await _was_just_begun(conversation):
        rows = await fetch_all(turns, parameters)
    return [Turn(row["question"], without_markers(row["answer"]), row["quote"]) for row in rows]


def _whose(access: Access) -> str:
    """Return the condition that a question is of the same caller: account, else key, else neither."""
    if access.user_id is not None:
        return "q.user_id = %(user)s"
    if access.key_id is not None:
        return "q.user_id IS NULL AND q.key_id = %(key)s::uuid"
    return "q.user_id IS NULL AND q.key_id IS NULL"


async def _was_just_begun(conversation: str) -> bool:
    """Whether it has a first question, which another web server may still be writing down.

    A conversation has the id of the query that began it, unless the caller made up another one.
    """
    try:
        begun = UUID(conversation)
    except ValueError:
        return False
    for left_s in recorder.lookup_delays(begun):
        if await fetch_all(_WRITTEN, [begun]):
            return True
        await asyncio.sleep(left_s)
    return False


async def _by_model(question: Question, turns: Sequence[Turn]) -> str:
    """ "" if none is configured, or it says nothing of use in time."""
    shown = rewriting.limit_turns(turns, settings.HISTORY_TOKENS)
    limit_s = question.spare(settings.REWRITING_TIMEOUT_S)
    if "CHAT_MODEL" not in settings.KNOWLEX or not shown or limit_s <= 0:
        return ""
    return await rewrite_by_model(
        component("CHAT_MODEL", CompletingModel), question.text, shown, timeout_s=limit_s
    )
