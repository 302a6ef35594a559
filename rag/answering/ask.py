"""Asking a question: what every face calls, whether it shows the answer whole or as it is written.

The order is written in `ask` and `ask_stream`, which do the same: a follow-up question is made to stand
alone; the answer comes out of the cache, or from the pipeline within the question's deadline; then the pages
of its quotes are looked up; rag.history records it, failures and questions whose client left too.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias
from uuid import UUID

from documents.access.scopes import Access
from knowlex.base.errors import KnowlexError
from knowlex.base.ids import new_id
from rag.answering import cache, quoted_pages
from rag.answering.timing import Stages, before, searching_too_long
from rag.conversation import follow_ups
from rag.history.query_counts import query_counts
from rag.history.recorder import record
from rag.history.records import CLIENT_LEFT, Record
from rag.metrics.answers import count_answer, count_failure
from rag.services import pipeline
from rag.types.answer import Answer, Started
from rag.types.question import Question

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
    pages = await quoted_pages.of_citations(answer)
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
