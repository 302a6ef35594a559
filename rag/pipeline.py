"""Question -> answer: the only place where the order of the stages is written. Plain Python, async."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice
from typing import Any

from knowlex.common.errors import SynthesisFailed
from rag.citations.checker import Checked, Checker
from rag.context import distinct
from rag.context.making import ContextMaker
from rag.deadlines import before, searching_too_long, writing_too_long
from rag.protocols import Accounting, ClaimJudge, Completing, Prompting, Reranker, Retriever, Synthesizer, can
from rag.sentences import with_sentences
from rag.stages import Stages
from rag.types import (
    Answer,
    Context,
    Event,
    Question,
    Reason,
    Retrieval,
    Room,
    SearchResult,
    Sources,
    Started,
    Trail,
    Usage,
)

Assess = Callable[[str, Retrieval, Mapping[str, Any] | None], Retrieval]


class Pipeline:
    """retrieve, rerank, judge the relevance, keep what is relevant, synthesize, check the citations.

    assess: fills `relevance` of every passage from the question, the retrieval and the model's calibration.
    contexts: made with what the retriever can do, unless given.
    """

    def __init__(
        self,
        retriever: Retriever,
        reranker: Reranker,
        assess: Assess,
        synthesizer: Synthesizer,
        judge: ClaimJudge | None = None,
        contexts: ContextMaker | None = None,
    ) -> None:
        self._retriever, self._reranker = retriever, reranker
        self._assess, self._synthesizer, self._judge = assess, synthesizer, judge
        beside = retriever if can(retriever, Completing) else None
        self._contexts = contexts or ContextMaker(beside=beside)

    async def search(self, question: Question) -> SearchResult:
        """Retrieval alone: what `answer` would choose from, with nothing withheld for its relevance.

        Raises RetrievalFailed, DatabaseUnavailable.
        """
        result, _ = await self.traced_search(question)
        return result

    async def traced_search(self, question: Question) -> tuple[SearchResult, Trail]:
        """The same with what was there at its stages."""
        took = Stages()
        async with before(question.deadline, searching_too_long):
            judged, trail = await self._passages(question, took)
        result = SearchResult(
            question, trail.passages, judged.model_name, took.milliseconds, judged.reranker, judged.rewriting
        )
        return result, trail

    async def judged(self, question: Question) -> Retrieval:
        """All that reranking handed on, in its order, and what is known of the search. Raises as `search`."""
        judged, _ = await self._passages(question, Stages())
        return judged

    async def answer(self, question: Question) -> Answer:
        """Raises RetrievalFailed, SynthesisFailed, DatabaseUnavailable; "not enough" is an answer."""
        prepared = await self._prepared(question)
        if not prepared.context:
            return await self._unanswered(prepared)
        checker = Checker(prepared.context, self._judge, question=question.text)
        async with before(question.deadline, writing_too_long):
            synthesis = await prepared.took.of(
                "synthesize", self._synthesizer.synthesize(question, prepared.context)
            )
            checked = await prepared.took.of("check", checker.whole(synthesis))
        return prepared.answer(checked, synthesis.usage)

    async def stream(self, question: Question) -> AsyncGenerator[Event]:
        """The same answer, its text as the model makes it. Raises as `answer`, also in the middle."""
        prepared = await self._prepared(question)
        if not prepared.context:
            yield await self._unanswered(prepared)
            return
        yield Started(question, prepared.context.passages)
        checker, took = Checker(prepared.context, self._judge, question=question.text), prepared.took
        usage: Usage | None = None
        async with aclosing(self._synthesizer.stream(question, prepared.context)) as pieces:
            while (told := await _next(pieces, checker, question, took)) is not None:
                if isinstance(told, Usage):
                    usage = told
                elif told:
                    yield told
        if usage is None:
            raise SynthesisFailed("The chat model broke off its reply.")
        async with before(question.deadline, writing_too_long):
            checked = await took.of("check", checker.finish())
        if checked.rest:
            yield checked.rest
        yield prepared.answer(checked, usage)

    async def _prepared(self, question: Question) -> "_Prepared":
        """All that comes before the model."""
        took = Stages()
        async with before(question.deadline, searching_too_long):
            judged, trail = await self._passages(question, took)
            relevant = [p for p in trail.passages if p.relevance >= question.min_relevance]
            if not relevant:
                return _Prepared(question, judged, trail, Context(), took)
            room, version = self._prompting(question)
            made = self._contexts.context(question, judged, relevant, room)
            return _Prepared(question, judged, trail, await took.of("context", made), took, version)

    def _prompting(self, question: Question) -> tuple[Room | None, str]:
        """What a model needs besides the blocks, and the version of its prompt; (None, "") without one."""
        if can(self._synthesizer, Prompting):
            return self._synthesizer.room(question), self._synthesizer.prompt_version
        return None, ""

    async def _unanswered(self, prepared: "_Prepared") -> Answer:
        usage = Usage(model=self._synthesizer.model_name)
        return prepared.answer(Checked("", "", reason=await self._why(prepared)), usage)

    async def _why(self, prepared: "_Prepared") -> Reason:
        """Why there is no context. Found out only now: it takes one more statement."""
        if prepared.trail.passages or not can(self._retriever, Accounting):
            return "below_threshold" if prepared.trail.passages else "no_documents"
        async with before(prepared.question.deadline, searching_too_long):
            return await self._retriever.why_nothing(prepared.question)

    async def _passages(self, question: Question, took: Stages) -> tuple[Retrieval, Trail]:
        """All in their order, and the `top_k` best with their relevance, no two of the same wording."""
        found = await took.of("retrieve", self._retriever.retrieve(question))
        took.milliseconds |= found.stage_ms
        if not found.passages:
            return found, Trail()
        ranked = await took.of("rerank", self._ranked(question, found))
        started = time.perf_counter()
        judged = self._assess(question.text, ranked, ranked.calibration)
        took.note("relevance", started)
        best = tuple(islice(distinct(judged.passages), question.top_k))
        return judged, Trail(found.passages, judged.passages, best)

    async def _ranked(self, question: Question, found: Retrieval) -> Retrieval:
        if question.reranked:
            return await self._reranker.rerank(question, found)
        return with_sentences(question.text, found)  # by them the relevance is judged


async def _next(
    pieces: AsyncGenerator[str | Sources | Usage], checker: Checker, question: Question, took: Stages
) -> str | Usage | None:
    """What can be shown after the next piece; None at the end.

    The limit is set for each wait: one around them all could strike between them.
    """
    async with before(question.deadline, writing_too_long):
        piece = await took.of("synthesize", anext(pieces, None))
        if isinstance(piece, Sources):
            return await took.of("check", checker.close(piece))
        return await took.of("check", checker.feed(piece)) if isinstance(piece, str) else piece


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A question with what was found for it."""

    question: Question
    judged: Retrieval
    trail: Trail
    context: Context
    took: Stages
    prompt_version: str = ""

    def answer(self, checked: Checked, usage: Usage) -> Answer:
        passages = self.trail.passages
        return Answer(
            question=self.question,
            answered=checked.reason is None,
            text=checked.text,
            context=self.context.passages,
            cited=checked.cited,
            retrieved=len(passages),
            confidence=max((p.relevance for p in passages), default=0.0),
            usage=usage,
            stage_ms=self.took.milliseconds,
            passages=passages,
            citations=checked.citations,
            reason=checked.reason,
            candidates=self.trail.judged,
            model_name=self.judged.model_name,
            reranker=self.judged.reranker,
            rewriting=self.judged.rewriting,
            prompt_version=self.prompt_version,
            contradicted=checked.contradicted,
            verification=checked.verification,
        )
