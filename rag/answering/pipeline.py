"""Question -> answer: the only place where the order of the stages is written. Plain Python, async."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from knowlex.base.errors import SynthesisFailed
from rag.citations.checker import CheckedReply, Checker
from rag.context.assembly import ContextMaker
from rag.context.selection import distinct, merge_halves, together
from rag.deadlines import StageTimes, search_timeout, within_deadline, writing_timeout
from rag.protocols import (
    Accounting,
    CitingAgain,
    ClaimJudge,
    Completing,
    Prompting,
    Reranker,
    Retriever,
    Synthesizer,
    can,
)
from rag.question_forms import comparison_in
from rag.ranking.sentences import with_sentences
from rag.types.answer import Answer, Event, Reason, Sources, Started, Synthesis, Usage
from rag.types.context import Context, Room
from rag.types.question import Question
from rag.types.retrieval import Retrieval, SearchResult, Trail

log = logging.getLogger(__name__)
LEAST_S = 1.0  # of the deadline, for a second reply to be worth asking for

Assess = Callable[[str, Retrieval, Mapping[str, Any] | None], Retrieval]


class Pipeline:
    """retrieve, rerank, judge the relevance, make the context, synthesize, check the citations.

    assess: fills `relevance` of every passage from the question, the retrieval and the model's calibration.
    contexts: made with what the retriever can do, unless given. verified_only: others lose their markers.
    """

    def __init__(
        self,
        retriever: Retriever,
        reranker: Reranker,
        assess: Assess,
        synthesizer: Synthesizer,
        judge: ClaimJudge | None = None,
        contexts: ContextMaker | None = None,
        *,
        verified_only: bool = False,
    ) -> None:
        self._verified_only = verified_only
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
        took = StageTimes()
        async with within_deadline(question.deadline, search_timeout):
            judged, trail, _ = await self._found(question, took, halves=self._looks_further(question))
        result = SearchResult(
            question, trail.passages, judged.model_name, took.milliseconds, judged.reranker, judged.rewriting
        )
        return result, trail

    async def judged(self, question: Question) -> Retrieval:
        """All that reranking handed on, in its order, and what is known of the search. Raises as `search`."""
        return (await self._found(question, StageTimes(), halves=False)).judged

    async def answer(self, question: Question) -> Answer:
        """Raises RetrievalFailed, SynthesisFailed, DatabaseUnavailable; "not enough" is an answer."""
        prepared = await self._prepared(question)
        if not prepared.context:
            return await self._unanswered(prepared)
        async with within_deadline(question.deadline, writing_timeout):
            writing = self._synthesizer.synthesize(question, prepared.context)
            synthesis = await prepared.took.of("synthesize", writing)
            checked = await self._checked(prepared, synthesis)
        usage = synthesis.usage
        if checked.unmarked:
            said = synthesis.text or "".join(piece for piece in synthesis.pieces if isinstance(piece, str))
            checked, more = await self._marked(prepared, checked, said)
            usage = _sum(usage, more)
        return prepared.answer(checked, usage)

    async def stream(self, question: Question) -> AsyncGenerator[Event]:
        """The same answer, its text as the model makes it. Raises as `answer`, also in the middle."""
        prepared = await self._prepared(question)
        if not prepared.context:
            yield await self._unanswered(prepared)
            return
        yield Started(question, prepared.context.passages)
        checker, took, said = self._checker(prepared), prepared.took, list[str]()
        usage: Usage | None = None
        async with aclosing(self._synthesizer.stream(question, prepared.context)) as pieces:
            while (piece := await _next(pieces, question, took)) is not None:
                if isinstance(piece, Usage):
                    usage = piece
                    continue
                said += [piece] if isinstance(piece, str) else []
                async with within_deadline(question.deadline, writing_timeout):
                    feeding = checker.feed(piece) if isinstance(piece, str) else checker.close(piece)
                    if shown := await took.of("check", feeding):
                        yield shown
        if usage is None:
            raise SynthesisFailed("The chat model broke off its reply.")
        async with within_deadline(question.deadline, writing_timeout):
            first = checked = await took.of("check", checker.finish())
        if checked.unmarked:
            checked, more = await self._marked(prepared, checked, "".join(said))
            usage = _sum(usage, more)
        if checked is first and checked.rest:
            yield checked.rest
        yield prepared.answer(checked, usage)

    def _checker(self, prepared: "_Prepared") -> Checker:
        return Checker(
            prepared.context, self._judge, question=prepared.question.text, strict=self._verified_only
        )

    async def _checked(self, prepared: "_Prepared", synthesis: Synthesis) -> CheckedReply:
        return await prepared.took.of("check", self._checker(prepared).whole(synthesis))

    async def _marked(
        self, prepared: "_Prepared", checked: CheckedReply, reply: str
    ) -> tuple[CheckedReply, Usage]:
        """What becomes of a reply without any marker, once the model was asked for them; and what that took.

        checked: of the reply; it stays where there is no time, or where the second reply fails.
        """
        question, context = prepared.question, prepared.context
        if not can(self._synthesizer, CitingAgain) or question.within(math.inf) < LEAST_S:
            return checked, Usage()
        try:
            async with within_deadline(question.deadline, writing_timeout):
                asking = self._synthesizer.cite_again(question, context, reply)
                synthesis = await prepared.took.of("synthesize", asking)
                return await self._checked(prepared, synthesis), synthesis.usage
        except SynthesisFailed as exc:
            log.warning("not asked for markers", extra={"error": type(exc).__name__})
            return checked, Usage()

    async def _prepared(self, question: Question) -> "_Prepared":
        """All that comes before the model."""
        took = StageTimes()
        async with within_deadline(question.deadline, search_timeout):
            found = await self._found(question, took, halves=self._looks_further(question))
            room, version = self._prompting(question)
            making = self._contexts.context(
                question, found.judged, found.trail.passages, room, enough=found.enough
            )
            context = await took.of("context", making)
        return _Prepared(question, found.judged, found.trail, context, took, version if context else "")

    def _prompting(self, question: Question) -> tuple[Room | None, str]:
        """What a model needs besides the blocks, and the version of its prompt; (None, "") without one."""
        if can(self._synthesizer, Prompting):
            return self._synthesizer.room(question), self._synthesizer.prompt_version
        return None, ""

    def _looks_further(self, question: Question) -> bool:
        return self._contexts.looks_further(question, self._prompting(question)[0])

    async def _unanswered(self, prepared: "_Prepared") -> Answer:
        usage = Usage(model=self._synthesizer.model_name)
        return prepared.answer(CheckedReply("", "", reason=await self._why(prepared)), usage)

    async def _why(self, prepared: "_Prepared") -> Reason:
        """Why there is no context. Found out only now: it takes one more statement."""
        if prepared.trail.passages or not can(self._retriever, Accounting):
            return "below_threshold" if prepared.trail.passages else "no_documents"
        async with within_deadline(prepared.question.deadline, search_timeout):
            return await self._retriever.why_nothing(prepared.question)

    async def _found(self, question: Question, took: StageTimes, *, halves: bool) -> "_Found":
        """All that is known of the passages.

        halves: where two things are compared, those of each as well, if enough is found of both.
        """
        comparison = comparison_in(question.text) if halves and question.mode != "exact" else None
        if comparison is None:
            found, judged = await self._judged(question, took)
            return _Found.of(question, found, judged)
        searches = [
            self._judged(replace(question, text=half, rewrite=False), StageTimes())
            for half in comparison.halves
        ]
        (found, judged), *others = await asyncio.gather(self._judged(question, took), *searches)
        least, parts = question.min_relevance, [half for _, half in others]
        if not all(half.passages and together(half.passages) >= least for half in parts):
            return _Found.of(question, found, judged)
        judged = merge_halves(judged, parts, least)
        return _Found.of(question, judged, judged)._replace(enough=True)

    async def _judged(self, question: Question, took: StageTimes) -> tuple[Retrieval, Retrieval]:
        """What was found, and the same in its order with its relevance."""
        found = await took.of("retrieve", self._retriever.retrieve(question))
        took.milliseconds |= found.stage_ms
        if not found.passages:
            return found, found
        ranked = await took.of("rerank", self._ranked(question, found))
        started = time.perf_counter()
        judged = self._assess(question.text, ranked, ranked.calibration)
        took.note("relevance", started)
        return found, judged

    async def _ranked(self, question: Question, found: Retrieval) -> Retrieval:
        if question.reranked:
            return await self._reranker.rerank(question, found)
        return with_sentences(question.text, found)  # by them the relevance is judged


async def _next(
    pieces: AsyncGenerator[str | Sources | Usage], question: Question, took: StageTimes
) -> str | Sources | Usage | None:
    """None at the end. The limit is set for each wait: one around them all could strike between them."""
    async with within_deadline(question.deadline, writing_timeout):
        return await took.of("synthesize", anext(pieces, None))


def _sum(one: Usage, other: Usage) -> Usage:
    return replace(
        one,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
    )


class _Found(NamedTuple):
    """judged: all, in their order. enough: whether an answer is worth writing."""

    judged: Retrieval
    trail: Trail
    enough: bool

    @classmethod
    def of(cls, question: Question, found: Retrieval, judged: Retrieval) -> "_Found":
        """With the `top_k` best, no two of the same wording; the best of them must reach the threshold."""
        best = tuple(islice(distinct(judged.passages), question.top_k))
        enough = any(passage.relevance >= question.min_relevance for passage in best)
        return cls(judged, Trail(found.passages, judged.passages, best), enough)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A question with what was found for it."""

    question: Question
    judged: Retrieval
    trail: Trail
    context: Context
    took: StageTimes
    prompt_version: str = ""

    def answer(self, checked: CheckedReply, usage: Usage) -> Answer:
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
