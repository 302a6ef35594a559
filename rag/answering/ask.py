"""Asking a question: what every face calls, whether it shows the answer whole or as it is written.

The order is written in `_answer_events`: a follow-up question is made to stand alone; the answer comes out of
the cache, or from the pipeline within the question's deadline; then the pages of its quotes are looked up;
rag.history records it, failures and questions whose client left too.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias
from uuid import UUID

import psycopg

from documents.access import Access
from knowlex.base.errors import KnowlexError
from knowlex.base.ids import new_id
from knowlex.db.pool import fetch_all
from rag.answering import cache
from rag.answering.parts import build_pipeline
from rag.conversation import follow_ups
from rag.conversation.carry_over import Turn
from rag.deadlines import StageTimes, search_timeout, within_deadline
from rag.history.query_counts import query_counts
from rag.history.recorder import record_query
from rag.history.records import CLIENT_LEFT, QueryRecord
from rag.metrics import count_answer, count_failure
from rag.types.answer import Answer, Citation, Event, Started
from rag.types.question import Question
from rag.types.retrieval import Passage

log = logging.getLogger(__name__)

FaceName: TypeAlias = Literal["ask", "query", "book", "platform", "openai", "mcp", "replay"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, by which face, and how.

    fresh: the caller wants no stored answer. conversation_id: "" begins a new conversation.
    turns: what was said before, newest first, where the caller sends it along and no conversation is stored.
    replay_of: the query that is asked again. started: when the request came, by `time.monotonic()`. query_id:
    of the question, whatever becomes of it.
    """

    face: FaceName
    access: Access
    fresh: bool = False
    conversation_id: str = ""
    turns: tuple[Turn, ...] = ()
    replay_of: UUID | None = None
    started: float = field(default_factory=time.monotonic)
    query_id: UUID = field(default_factory=new_id)

    @property
    def latency_ms(self) -> int:
        """Return the time since the request came."""
        return round((time.monotonic() - self.started) * 1000)

    @property
    def conversation(self) -> str:
        """Return the id of the conversation; one that begins here has the id of its first question."""
        return self.conversation_id or str(self.query_id)


@dataclass(frozen=True, slots=True)
class AskResult:
    """An answer, with how it was reached.

    pages: for each of `answer.citations` the page that its quote stands on, None where there are no pages.
    """

    answer: Answer
    query_id: UUID
    conversation_id: str
    cached: bool
    latency_ms: int
    pages: tuple[int | None, ...] = ()


StreamEvent: TypeAlias = Started | str | AskResult


async def ask(question: Question, caller: Caller) -> AskResult:
    """Answer a question whole.

    Raises RetrievalFailed, SynthesisFailed, DatabaseUnavailable; within the question's deadline.
    """
    async with aclosing(_answer_events(question, caller, _answer_whole)) as events:
        async for event in events:
            if isinstance(event, AskResult):
                return event
    raise RuntimeError("An answer ended without its result.")


async def ask_stream(question: Question, caller: Caller) -> AsyncGenerator[StreamEvent]:
    """Answer a question as it is written: `Started`, pieces of text, `AskResult`; see `rag.types.answer`.

    Raises as `ask`, also in the middle. Closing it ends the model's work.
    """
    async with aclosing(_answer_events(question, caller, _answer_in_pieces)) as events:
        async for event in events:
            yield event


async def _answer_whole(question: Question) -> AsyncGenerator[Event]:
    yield await build_pipeline().answer(question)


def _answer_in_pieces(question: Question) -> AsyncGenerator[Event]:
    return build_pipeline().stream(question)


async def _answer_events(
    question: Question, caller: Caller, answer: Callable[[Question], AsyncGenerator[Event]]
) -> AsyncGenerator[StreamEvent]:
    """Yield the events of `answer`, or of a stored answer, and in place of its `Answer` the result."""
    query_counts.get().add(question.collection_ids)
    stages = StageTimes()
    question = await _resolve_follow_up(question, caller, stages)
    with _recording_failures(question, caller):
        stored = None if caller.fresh else await cache.recall(question)
        if stored is not None:
            yield Started(question, stored.context)
            yield stored.text
            result = await _finish(stored, caller, stages, cached=True)
        else:
            async with aclosing(answer(question)) as events:
                async for event in events:
                    if isinstance(event, Answer):
                        cache.remember(question, event)
                        result = await _finish(event, caller, stages)
                    else:
                        yield event
    yield result  # recorded: whoever leaves now has had an answer


async def _resolve_follow_up(question: Question, caller: Caller, stages: StageTimes) -> Question:
    """Make a question of a conversation stand alone. One that is asked again was when it was asked first."""
    if caller.turns:
        alone = follow_ups.rewrite_after(question, caller.turns)
    elif not caller.conversation_id or caller.replay_of is not None:
        return question
    else:
        alone = follow_ups.stand_alone(
            question, access=caller.access, conversation=caller.conversation_id, itself=caller.query_id
        )
    with _recording_failures(question, caller):
        async with within_deadline(question.deadline, search_timeout):
            return await stages.of("conversation", alone)


async def _finish(answer: Answer, caller: Caller, stages: StageTimes, *, cached: bool = False) -> AskResult:
    """Look up the pages of the quotes, count and record. stages: what came before the pipeline."""
    pages = await find_quote_pages(answer)
    if stages.milliseconds:
        answer = replace(answer, stage_ms={**stages.milliseconds, **answer.stage_ms})
    result = AskResult(
        answer, caller.query_id, caller.conversation, cached=cached, latency_ms=caller.latency_ms, pages=pages
    )
    count_answer(answer, face=caller.face, cached=cached, latency_ms=result.latency_ms)
    record_query(
        QueryRecord(
            caller.query_id, answer.question, answer, caller.face, result.latency_ms, caller.access.key_id,
            caller.conversation, cached, caller.replay_of, pages=pages, user_id=caller.access.user_id,
        )
    )  # fmt: skip
    return result


@contextmanager
def _recording_failures(question: Question, caller: Caller) -> Iterator[None]:
    """Record also that a client left: what it has read of a stream named the query's id."""
    try:
        yield
    except (asyncio.CancelledError, GeneratorExit):
        _record_failure(CLIENT_LEFT, question, caller)
        raise
    except Exception as exc:
        _record_failure(exc.code if isinstance(exc, KnowlexError) else KnowlexError.code, question, caller)
        raise


def _record_failure(code: str, question: Question, caller: Caller) -> None:
    count_failure(code, face=caller.face, latency_ms=caller.latency_ms)
    record_query(
        QueryRecord(
            caller.query_id, question, None, caller.face, caller.latency_ms, caller.access.key_id,
            caller.conversation, replay_of=caller.replay_of, error=code, user_id=caller.access.user_id,
        )
    )  # fmt: skip


QUOTE_PAGES_S = 1.0
_PAGE_STARTS = """
    SELECT p.document_id, p.number, p.start_char
    FROM unnest(%s::uuid[], %s::int[], %s::int[]) AS s (document_id, first, last)
    JOIN documents_page p ON p.document_id = s.document_id AND p.number BETWEEN s.first AND s.last
    ORDER BY p.number
"""


async def find_quote_pages(answer: Answer) -> tuple[int | None, ...]:
    """Find the page of each quote, in the order of `answer.citations`; None where there are no pages.

    One statement for them all, and none where no cited passage goes over the end of a page. Without the
    database, or without time, it is the page on which the passage begins: an answer does not fail for that.
    """
    cited = [(citation, answer.context[citation.passage - 1]) for citation in answer.citations]
    spanning = {passage.chunk_id: passage for _, passage in cited if _spans_pages(passage)}
    starts = {}
    if spanning:
        try:
            async with asyncio.timeout(answer.question.within(QUOTE_PAGES_S)):
                starts = await _fetch_page_starts(list(spanning.values()))
        except (KnowlexError, psycopg.Error, TimeoutError) as exc:
            log.warning("pages of quotes not looked up", extra={"error": type(exc).__name__})
    return tuple(_page_of(citation, passage, starts) for citation, passage in cited)


def _spans_pages(passage: Passage) -> bool:
    return None not in (passage.page_number, passage.last_page) and passage.page_number != passage.last_page


async def _fetch_page_starts(passages: list[Passage]) -> dict[object, list[tuple[int, int]]]:
    """Fetch by document: (where a page starts in the document's text, its number), in order."""
    rows = await fetch_all(
        _PAGE_STARTS,
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


def _page_of(citation: Citation, passage: Passage, starts: dict[object, list[tuple[int, int]]]) -> int | None:
    """Return the page of the quote's middle: one that a page's end tears apart is mostly on the other
    page.
    """
    page = passage.page_number
    if not _spans_pages(passage):
        return page
    place = passage.start_char + (citation.quote_start + citation.quote_end) // 2
    before = [number for start, number in starts.get(passage.document_id, []) if start <= place]
    return max(before, default=page)
