"""A Retriever that asks a chat model while the plain search is under way, and widens it by the replies."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.conf import settings

from knowlex.runtime.components import component
from rag.chat.protocol import ChatModel
from rag.protocols import Widening
from rag.rewriting.rewriter import Rewriter
from rag.rewriting.types import Variant
from rag.types.answer import Reason
from rag.types.context import Place
from rag.types.question import Question
from rag.types.retrieval import Examination, Passage, Retrieval

log = logging.getLogger(__name__)
MODES = ("hybrid", "dense")  # in the others no model is called


class RewritingRetriever:
    """Around PLAIN_RETRIEVER, with CHAT_MODEL where one is configured.

    on: for questions that do not say whether. timeout_s: of each call of the chat model. plain: instead of
    the part.
    """

    def __init__(self, *, on: bool = False, timeout_s: float = 3.0, plain: Widening | None = None) -> None:
        self._on, self._timeout_s, self._given = on, timeout_s, plain
        self._rewriter: Rewriter | None = None

    async def retrieve(self, question: Question) -> Retrieval:
        plain = self._plain()
        if not self._wanted(question):
            return await plain.retrieve(question)
        if "CHAT_MODEL" not in settings.KNOWLEX:
            log.info("no chat model to rewrite the question with")
            return replace(await plain.retrieve(question), rewriting="unavailable")
        return await self._rewritten(plain, question)

    async def examine(self, question: Question, chunk_id: UUID) -> Examination:
        """Of the plain search."""
        return await self._plain().examine(question, chunk_id)

    async def neighbours(
        self, question: Question, found: Retrieval, places: Sequence[Place]
    ) -> tuple[Passage, ...]:
        """By the plain search."""
        return await self._plain().neighbours(question, found, places)

    async def sample(
        self, question: Question, found: Retrieval, document_id: UUID, count: int
    ) -> tuple[Passage, ...]:
        """By the plain search."""
        return await self._plain().sample(question, found, document_id, count)

    async def why_nothing(self, question: Question) -> Reason:
        """By the plain search."""
        return await self._plain().why_nothing(question)

    def _plain(self) -> Widening:
        return self._given or component("PLAIN_RETRIEVER", Widening)

    def _wanted(self, question: Question) -> bool:
        return question.mode in MODES and (self._on if question.rewrite is None else question.rewrite)

    async def _rewritten(self, plain: Widening, question: Question) -> Retrieval:
        """`rewrite` among the stages is how long the chat model took, mostly beside the plain search."""
        started, took = time.perf_counter(), 0.0

        async def variants() -> Sequence[Variant]:
            nonlocal took
            try:
                return await self._model().variants(question.text, within_s=question.spare(self._timeout_s))
            finally:
                took = round((time.perf_counter() - started) * 1000, 3)

        writing = asyncio.create_task(variants())
        try:
            found = await plain.retrieve_widened(question, writing)
        finally:
            writing.cancel()  # where nothing can be found, or the search has failed
        return replace(found, stage_ms={**found.stage_ms, "rewrite": took})

    def _model(self) -> Rewriter:
        if self._rewriter is None:
            self._rewriter = Rewriter(component("CHAT_MODEL", ChatModel), timeout_s=self._timeout_s)
        return self._rewriter
