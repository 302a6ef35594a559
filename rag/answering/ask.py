"""On which page each quote of an answer stands, or most of it."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias
from uuid import UUID

import psycopg

from documents.access.scopes import Access
from knowlex.base.errors import KnowlexError
from knowlex.base.ids import new_id
from knowlex.db.pool import fetch_all
from rag.answering import cache
from rag.answering.parts import pipeline
from rag.conversation import follow_ups
from rag.deadlines import Stages, before, searching_too_long
from rag.history.query_counts import query_counts
from rag.history.recorder import record
from rag.history.records import CLIENT_LEFT, Record
from rag.metrics import count_answer, count_failure
from rag.types.answer import Answer, Citation, Started
from rag.types.question import Question
from rag.types.retrieval import Passage

log = logging.getLogger(__name__)

LIMIT_S = 1.0
_STARTS = """
    SELECT p.document_id, p.number, p.start_char
    FROM unnest(%s::uuid[], %s::int[], %s::int[]) AS s (document_id, first, last)
    JOIN documents_page p ON p.document_id = s.document_id AND p.number BETWEEN s.first AND s.last
    ORDER BY p.number
"""


async def of_citations(answer: Answer) -> tuple[int | None, ...]:
    """In the order of `answer.citations`; None where there are no pages.

    One statement for them all, and none where no cited passage goes over the end of a page. Without the
    database, or without time, it is the page on which the passage begins: an answer does not fail for that.
    """
    cited = [(citation, answer.context[citation.passage - 1]) for citation in answer.citations]
    spanning = {passage.chunk_id: passage for _, passage in cited if _spans_pages(passage)}
    starts = {}
    if spanning:
        try:
            async with asyncio.timeout(answer.question.within(LIMIT_S)):
                starts = await _page_starts(list(spanning.values()))
        except (KnowlexError, psycopg.Error, TimeoutError) as exc:
            log.warning("pages of quotes not looked up", extra={"error": type(exc).__name__})
    return tuple(_page(citation, passage, starts) for citation, passage in cited)


def _spans_pages(passage: Passage) -> bool:
    return None not in (passage.page_number, passage.last_page) and passage.page_number != passage.last_page


async def _page_starts(passages: list[Passage]) -> dict[object, list[tuple[int, int]]]:
    """By document: (where a page starts in the document's text, its number), in order."""
    rows = await fetch_all(
        _STARTS,
        [
            [passage.document_id for passage in passages],
            [passage.page_number for passage in passages],
            [passage.last_page for passage in passages],
        ],
    )
    starts: dict[object, list[tuple[int, int]]] = {}
    for row in rows:
        starts.setdefault(row["document_id"], []).append((row["start_char"], row["number"]))
    return starts


def _page(citation: Citation, passage: Passage, starts: dict[object, list[tuple[int, int]]]) -> int | None:
    """Where its middle stands: one that a page's end tears apart is mostly on the other page."""
    page = passage.page_number
    if not _spans_pages(passage):
        return page
    place = passage.start_char + (citation.quote_start + citation.quote_end) // 2
    before = [number for start, number in starts.get(passage.document_id, []) if start <= place]
    return max(before, default=page)


FaceName: TypeAlias = Literal["ask", "query", "book", "platform", "replay"]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, by which face, and how.

    fresh: the caller wants no stored answer. conversation_id: "" begins a new conversation.
    replay_of: the query that is asked again. started: when the request came, by `time.monotonic()`. query_id:
    of the question, whatever becomes of it.
    """

    face: FaceName
    access: Access
    fresh: bool = False
    conversation_id: str = ""
    replay_of: UUID | None = None
    started: float = field(default_factory=time.monotonic)
    query_id: UUID = field(default_factory=new_id)

    @property
    def latency_ms(self) -> int:
        """So far."""
        return round((time.monotonic() - self.started) * 1000)


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer with what is known of its asking.

    pages: for each of `answer.citations` the page that its quote stands on, None where there are no pages.
    """

    answer: Answer
    query_id: UUID
    conversation_id: str
    cached: bool
    latency_ms: int
    pages: tuple[int | None, ...] = ()


Told: TypeAlias = Started | str | Asked


async def ask(question: Question, asker: Asker) -> Asked:
    """Raises RetrievalFailed, SynthesisFailed, DatabaseUnavailable; within the question's deadline."""
    query_counts.get().add(question.collection_ids)
    took = Stages()
    question = await _standing_alone(question, asker, took)
    with _failures_recorded(question, asker):
        if (known := await _recalled(question, asker)) is not None:
            return await _told(known, asker, took, cached=True)
        answer = await pipeline().answer(question)
        cache.remember(question, answer)
        return await _told(answer, asker, took)


async def ask_stream(question: Question, asker: Asker) -> AsyncGenerator[Told]:
    """The same as it is written: `Started`, pieces of text, `Asked`; see `rag.types.answer.Event`.

    Raises as `ask`, also in the middle. Closing it ends the model's work.
    """
    query_counts.get().add(question.collection_ids)
    took = Stages()
    question = await _standing_alone(question, asker, took)
    with _failures_recorded(question, asker):
        if (known := await _recalled(question, asker)) is not None:
            yield Started(question, known.context)
            yield known.text
            asked = await _told(known, asker, took, cached=True)
        else:
            async with aclosing(pipeline().stream(question)) as events:
                async for event in events:
                    if isinstance(event, Answer):
                        cache.remember(question, event)
                        asked = await _told(event, asker, took)
                    else:
                        yield event
    yield asked  # recorded: whoever leaves now has had an answer


async def _standing_alone(question: Question, asker: Asker, took: Stages) -> Question:
    """What is asked again was made to stand alone when it was asked first."""
    if not asker.conversation_id or asker.replay_of is not None:
        return question
    alone = follow_ups.stand_alone(
        question, access=asker.access, conversation=asker.conversation_id, itself=asker.query_id
    )
    with _failures_recorded(question, asker):
        async with before(question.deadline, searching_too_long):
            return await took.of("conversation", alone)


async def _recalled(question: Question, asker: Asker) -> Answer | None:
    return None if asker.fresh else await cache.recall(question)


async def _told(answer: Answer, asker: Asker, took: Stages, *, cached: bool = False) -> Asked:
    """The answer as it is told and recorded. took: what came before the pipeline."""
    pages = await of_citations(answer)
    if took.milliseconds:
        answer = replace(answer, stage_ms={**took.milliseconds, **answer.stage_ms})
    asked = Asked(
        answer,
        asker.query_id,
        asker.conversation_id or str(asker.query_id),
        cached=cached,
        latency_ms=asker.latency_ms,
        pages=pages,
    )
    _record(asked, asker)
    return asked


def _record(asked: Asked, asker: Asker) -> None:
    answer = asked.answer
    count_answer(answer, face=asker.face, cached=asked.cached, latency_ms=asked.latency_ms)
    record(
        Record(
            asked.query_id, answer.question, answer, asker.face, asked.latency_ms, asker.access.key_id,
            asked.conversation_id, asked.cached, asker.replay_of, pages=asked.pages,
        )
    )  # fmt: skip


@contextmanager
def _failures_recorded(question: Question, asker: Asker) -> Iterator[None]:
    """Also of a client that left: what it has read of a stream told it the query's id."""
    try:
        yield
    except (asyncio.CancelledError, GeneratorExit):
        _record_failure(CLIENT_LEFT, question, asker)
        raise
    except Exception as exc:
        _record_failure(exc.code if isinstance(exc, KnowlexError) else KnowlexError.code, question, asker)
        raise


def _record_failure(code: str, question: Question, asker: Asker) -> None:
    count_failure(code, face=asker.face, latency_ms=asker.latency_ms)
    record(
        Record(
            asker.query_id, question, None, asker.face, asker.latency_ms, asker.access.key_id,
            asker.conversation_id or str(asker.query_id), replay_of=asker.replay_of, error=code,
        )
    )  # fmt: skip
