"""Asking a question: what every face calls, whether it shows the answer whole or as it is written.

The order is written in `ask` and `ask_stream`, which do the same: the answer comes from the pipeline within
the question's deadline, then the pages of its quotes are looked up.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from uuid import UUID

from documents.access import Access
from knowlex.common.ids import new_id
from rag import quoted_pages
from rag.query_counts import query_counts
from rag.services import pipeline
from rag.types import Answer, Question, Started

FaceName: TypeAlias = Literal["ask", "query", "book", "platform", "replay"]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, by which face, and how.

    fresh: the caller wants no stored answer. conversation_id: "" begins a new conversation.
    replay_of: the query that is asked again. started: when the request came, by `time.monotonic()`.
    """

    face: FaceName
    access: Access
    fresh: bool = False
    conversation_id: str = ""
    replay_of: UUID | None = None
    started: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer with what is known of its asking.

    pages: for each of `answer.citations` the page that its quote begins on, None where there are no pages.
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
    return await _asked(await pipeline().answer(question), asker)


async def ask_stream(question: Question, asker: Asker) -> AsyncGenerator[Told]:
    """The same as it is written: `Started`, pieces of text, `Asked`; see `rag.types.Event`.

    Raises as `ask`, also in the middle. Closing it ends the model's work.
    """
    query_counts.get().add(question.collection_ids)
    async with aclosing(pipeline().stream(question)) as events:
        async for event in events:
            yield await _asked(event, asker) if isinstance(event, Answer) else event


async def _asked(answer: Answer, asker: Asker) -> Asked:
    query_id = new_id()
    return Asked(
        answer,
        query_id,
        asker.conversation_id or str(query_id),
        cached=False,
        latency_ms=round((time.monotonic() - asker.started) * 1000),
        pages=await quoted_pages.of_citations(answer),
    )
