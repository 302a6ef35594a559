"""A past question asked again as it was, without the cache, compared with its first answer."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias
from uuid import UUID

from django.conf import settings

from documents.access import Access
from knowlex.base.errors import DatabaseUnavailable
from knowlex.db.pool import Row, fetch_one
from knowlex.runtime.admission import came
from rag.answering.ask import AskResult, Caller, ask
from rag.answering.services import principals_for
from rag.citations.numbering import FirstCited, number_citations
from rag.history import recorder
from rag.history.queries import NOT_WRITTEN_YET, query_not_found
from rag.history.recorder import flush_current_loop, is_pending
from rag.question_settings import restore_question
from rag.types.question import Question
from rag.types.retrieval import Passage

Ask: TypeAlias = Callable[[Question, Caller], Awaitable[AskResult]]
SAME_WITHIN = 1e-6

# As rag.models.queries.QueryQuerySet.allowed_to has it.
_PAST = """
    SELECT q.original_query, q.rewritten_query, q.collection_ids, q.filters, q.settings, q.answered, q.error,
        r.answer, r.verification, coalesce(r.quotes_gone, false) AS quotes_gone,
        coalesce((
            SELECT jsonb_agg(jsonb_build_object(
                'chunk_id', v.chunk_id, 'document_id', v.document_id, 'place', v.place,
                'relevance', v.relevance, 'document_name', d.original_filename,
                'title', coalesce(nullif(d.title, ''), d.original_filename)) ORDER BY v.place)
            FROM rag_retrieval v LEFT JOIN documents_document d ON d.id = v.document_id
            WHERE v.query_id = q.id AND v.place IS NOT NULL
        ), '[]') AS results
    FROM rag_query q LEFT JOIN rag_response r ON r.query_id = q.id
    WHERE q.id = %(id)s AND (
        %(allowed)s::uuid[] IS NULL
        OR (cardinality(q.collection_ids) > 0 AND q.collection_ids <@ %(allowed)s::uuid[])
        OR (cardinality(q.collection_ids) = 0 AND (q.key_id = %(key)s OR q.user_id = %(user)s::int))
    ) AND (q.user_id = %(user)s::int OR (%(user)s::int IS NULL AND (%(all)s OR q.user_id IS NULL)))
        AND NOT rag_is_hidden(q.id, %(principals)s::text[])
"""


@dataclass(frozen=True, slots=True)
class RankChange:
    """A passage among the results; None where it was not, or is not, one of them."""

    chunk_id: UUID
    document_id: UUID
    document_name: str | None
    title: str | None
    place_before: int | None
    place_now: int | None
    relevance_before: float | None
    relevance_now: float | None


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """same_answer: word for word; None where there is none to compare with: it failed, or its words are gone.

    verification_before: how many claims were exact, supported and so on; same_verification: as many are now;
    both None where that is unknown. added, gone, moved: passages of the results; those are moved whose place
    or relevance is another one.
    """

    asked: AskResult
    same_answer: bool | None
    same_verification: bool | None
    verification_before: dict[str, int] | None
    added: tuple[RankChange, ...]
    gone: tuple[RankChange, ...]
    moved: tuple[RankChange, ...]


async def replay(query_id: UUID, *, access: Access, ask: Ask = ask) -> ReplayResult:
    """Ask it again, with the same settings and threshold; it is recorded as a query of its own.

    ask: what asks. Raises NotFound, also for one that the caller may not see, and as rag.answering.ask.ask.
    """
    asker = Caller("replay", access, fresh=True, replay_of=query_id, started=came())
    past = await _past(query_id, access)
    question = restore_question(
        past["rewritten_query"] or past["original_query"],
        original=past["original_query"] if past["rewritten_query"] else "",
        collection_ids=past["collection_ids"],
        filters=past["filters"],
        settings=past["settings"],
    )
    deadline = asker.started + float(settings.ANSWER_TIMEOUT_S)
    principals = await principals_for(question.collection_ids, access)
    asked = await ask(replace(question, deadline=deadline, principals=principals), asker)
    return _compared(past, asked)


async def _past(query_id: UUID, access: Access) -> Row:
    await flush_current_loop()
    parameters = {
        "id": query_id,
        "allowed": access.allowed,
        "key": access.key_id,
        "user": access.user_id,
        "all": access.may("admin"),
        "principals": access.reads_as,
    }
    for left_s in recorder.lookup_delays(query_id):
        if (row := await fetch_one(_PAST, parameters)) is not None:
            return row
        if is_pending(query_id):
            raise DatabaseUnavailable(NOT_WRITTEN_YET, retry_after_s=2)
        await asyncio.sleep(left_s)
    raise query_not_found(query_id)


def _compared(past: Row, asked: AskResult) -> ReplayResult:
    before = {UUID(one["chunk_id"]): one for one in past["results"]}
    now = {passage.chunk_id: (n, passage) for n, passage in enumerate(asked.answer.passages, start=1)}
    places = [_place(before.get(id_), now.get(id_)) for id_ in dict.fromkeys((*now, *before))]
    verification = past["verification"] or None
    return ReplayResult(
        asked,
        _is_same(past, asked),
        None if verification is None else verification == asdict(asked.answer.verification),
        verification,
        added=tuple(one for one in places if one.place_before is None),
        gone=tuple(one for one in places if one.place_now is None),
        moved=tuple(one for one in places if _has_moved(one)),
    )


def _is_same(past: Row, asked: AskResult) -> bool | None:
    if past["error"] or past["quotes_gone"]:
        return None
    text, _ = number_citations(asked.answer, FirstCited(lambda number: number))
    return bool(past["answered"] == asked.answer.answered and past["answer"] == text)


def _place(before: Mapping[str, Any] | None, now: tuple[int, Passage] | None) -> RankChange:
    place, passage = now or (None, None)
    known = before or {}
    return RankChange(
        chunk_id=passage.chunk_id if passage else UUID(known["chunk_id"]),
        document_id=passage.document_id if passage else UUID(known["document_id"]),
        document_name=passage.document_name if passage else known["document_name"],
        title=passage.title if passage else known["title"],
        place_before=known.get("place"),
        place_now=place,
        relevance_before=known.get("relevance"),
        relevance_now=passage.relevance if passage else None,
    )


def _has_moved(one: RankChange) -> bool:
    if one.relevance_before is None or one.relevance_now is None:
        return False
    moved = abs(one.relevance_before - one.relevance_now) > SAME_WITHIN
    return moved or one.place_before != one.place_now
