"""Question -> answer: the only place where the order of the stages is written. Plain Python, async."""

import logging
import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from knowlex.base.errors import SynthesisFailed
from rag.answering.finding import Assess, PassageFinder, least_to_read
from rag.citations.checker import CheckedReply, Checker
from rag.context.assembly import ContextMaker
from rag.conversation.messages import questions_in
from rag.deadlines import StageTimes, search_timeout, within_deadline, writing_timeout
from rag.protocols import (
    Accounting,
    CitingAgain,
    ClaimJudge,
    Completing,
    Correcting,
    Prompting,
    Reading,
    Reranker,
    Respelling,
    Retriever,
    Synthesizer,
    can,
)
from rag.question_forms import question_without_frame
from rag.types.answer import Answer, Event, Reason, Sources, Started, Synthesis, Usage
from rag.types.context import Context, Room
from rag.types.question import Question
from rag.types.retrieval import Retrieval, SearchResult, Trail

log = logging.getLogger(__name__)
LEAST_S = 1.0  # of the deadline, for a second reply to be worth asking for


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
        self._retriever, self._synthesizer, self._judge = retriever, synthesizer, judge
        self._reading = synthesizer if can(synthesizer, Reading) else None
        self._finder = PassageFinder(retriever, reranker, assess)
        neighbours = retriever if can(retriever, Completing) else None
        self._contexts = contexts or ContextMaker(beside=neighbours)

    async def search(self, question: Question) -> SearchResult:
        """Retrieval alone: what `answer` would choose from, with nothing withheld for its relevance.

        Raises RetrievalFailed, DatabaseUnavailable.
        """
        result, _ = await self.traced_search(question)
        return result

    async def traced_search(self, question: Question) -> tuple[SearchResult, Trail]:
        """Search, and return what was there at each stage besides."""
        stages = StageTimes()
        async with within_deadline(question.deadline, search_timeout):
            searched = await self._respell(_ways_to_ask(question)[0])
            further = self._may_look_further(searched)
            judged, trail, *_ = await self._finder.find(searched, stages, further=further)
        result = SearchResult(
            _as_asked(searched),
            trail.passages,
            judged.model_name,
            stages.milliseconds,
            judged.reranker,
            judged.rewriting,
        )
        if searched.message and not trail.asked:
            trail = replace(trail, asked=searched.text)
        return result, trail if further else replace(trail, near=frozenset())

    def least_relevance(self, question: Question) -> float:
        """Return what the best passage must reach for an answer to be written."""
        return least_to_read(question) if self._may_look_further(question) else question.min_relevance

    async def answer(self, question: Question) -> Answer:
        """Answer the question; "not enough information" is an answer, too.

        Raises RetrievalFailed, SynthesisFailed, DatabaseUnavailable.
        """
        prepared = await self._prepare(question)
        if not prepared.context:
            return await self._abstain(prepared)
        async with within_deadline(question.deadline, writing_timeout):
            writing = self._synthesizer.synthesize(prepared.question, prepared.context)
            synthesis = await prepared.stages.of("synthesize", writing)
            checked = await self._check_reply(prepared, synthesis)
        usage = synthesis.usage
        if checked.unmarked:
            reply = synthesis.text or "".join(piece for piece in synthesis.pieces if isinstance(piece, str))
            checked, more = await self._ask_for_markers(prepared, checked, reply)
            usage = usage.plus(more)
        return prepared.answer(checked, usage)

    async def stream(self, question: Question) -> AsyncGenerator[Event]:
        """Answer the question, yielding the text as the model writes it.

        Raises as `answer`, also in the middle.
        """
        prepared = await self._prepare(question)
        if not prepared.context:
            yield await self._abstain(prepared)
            return
        yield Started(prepared.question, prepared.context.passages)
        checker, stages, reply = self._make_checker(prepared), prepared.stages, list[str]()
        usage: Usage | None = None
        async with aclosing(self._synthesizer.stream(prepared.question, prepared.context)) as pieces:
            while (piece := await _next_piece(pieces, question, stages)) is not None:
                if isinstance(piece, Usage):
                    usage = piece
                    continue
                if isinstance(piece, str):
                    reply.append(piece)
                async with within_deadline(question.deadline, writing_timeout):
                    feeding = checker.feed(piece) if isinstance(piece, str) else checker.close(piece)
                    if shown := await stages.of("check", feeding):
                        yield shown
        if usage is None:
            raise SynthesisFailed("The chat model broke off its reply.")
        async with within_deadline(question.deadline, writing_timeout):
            first = checked = await stages.of("check", checker.finish())
        if checked.unmarked:
            checked, more = await self._ask_for_markers(prepared, checked, "".join(reply))
            usage = usage.plus(more)
        if checked is first and checked.rest:
            yield checked.rest
        yield prepared.answer(checked, usage)

    def _make_checker(self, prepared: "_PreparedQuestion") -> Checker:
        return Checker(
            prepared.context, self._judge, question=prepared.question.text, strict=self._verified_only
        )

    async def _check_reply(self, prepared: "_PreparedQuestion", synthesis: Synthesis) -> CheckedReply:
        return await prepared.stages.of("check", self._make_checker(prepared).whole(synthesis))

    async def _ask_for_markers(
        self, prepared: "_PreparedQuestion", checked: CheckedReply, reply: str
    ) -> tuple[CheckedReply, Usage]:
        """Ask the model for the markers that its reply lacks; return the checked second reply and its usage.

        checked: the first reply; it stays where there is no time, or where the second reply fails.
        """
        question, context = prepared.question, prepared.context
        if not can(self._synthesizer, CitingAgain) or question.within(math.inf) < LEAST_S:
            return checked, Usage()
        try:
            async with within_deadline(question.deadline, writing_timeout):
                asking = self._synthesizer.cite_again(question, context, reply)
                synthesis = await prepared.stages.of("synthesize", asking)
                return await self._check_reply(prepared, synthesis), synthesis.usage
        except SynthesisFailed as exc:
            log.warning("not asked for markers", extra={"error": type(exc).__name__})
            return checked, Usage()

    async def _prepare(self, question: Question) -> "_PreparedQuestion":
        """Find the passages and make the context: all that comes before the model.

        Where there is nothing relevant, the question is asked without what is said around it and who asks
        it; and where a word is one letter off, as it may be meant. Where there is not enough then either, a
        chat model is asked with what was found at first, if it is worth that.
        """
        first, *others = _ways_to_ask(question)
        async with within_deadline(question.deadline, search_timeout):
            question = await self._respell(first)
        prepared = await self._prepare_as_asked(question)
        if prepared.enough or question.mode == "exact":
            return prepared
        for way in others:
            async with within_deadline(question.deadline, search_timeout):
                question = await self._respell(way)
            again = await self._prepare_as_asked(question)
            if again.enough:
                return again
        alone = question_without_frame(question.text)
        if alone is not None:
            question = _as_meant(question, alone)
            again = await self._prepare_as_asked(question)
            if again.enough:
                return again
        if not can(self._retriever, Correcting):
            return prepared
        async with within_deadline(question.deadline, search_timeout):
            meant = await self._retriever.suggest(question, sure=True)
        if meant is None:
            return prepared
        again = await self._prepare_as_asked(_as_meant(question, meant))
        return again if again.enough else prepared

    async def _prepare_as_asked(self, question: Question) -> "_PreparedQuestion":
        stages = StageTimes()
        async with within_deadline(question.deadline, search_timeout):
            further = self._may_look_further(question)
            found = await self._finder.find(question, stages, further=further, reading=self._reading)
            if found.judged.passages and not found.halves and self._reading:
                reading = self._reading.read_passages(question, found.judged)
                found = found.judged_anew(question, await stages.of("relevance", reading))
            room, version = self._prompt_needs(question)
            enough = found.enough or (further and found.to_read)
            passages = found.trail.passages
            making = self._contexts.context(question, found.judged, passages, room, enough=enough)
            context = await stages.of("context", making)
            context = replace(context, halves=found.halves, named=found.judged.named)
        enough = found.enough and bool(context)
        return _PreparedQuestion(
            question, found.judged, found.trail, context, stages, enough, version if context else ""
        )

    async def _respell(self, question: Question) -> Question:
        """Return the question with its compounds as the documents write them."""
        if question.mode == "exact" or not can(self._retriever, Respelling):
            return question
        meant = await self._retriever.respell(question)
        return question if meant is None else _as_meant(question, meant)

    def _prompt_needs(self, question: Question) -> tuple[Room | None, str]:
        """Return what a model needs besides the blocks, and its prompt's version; (None, "") without one."""
        if can(self._synthesizer, Prompting):
            return self._synthesizer.room(question), self._synthesizer.prompt_version
        return None, ""

    def _may_look_further(self, question: Question) -> bool:
        return self._contexts.looks_further(question, self._prompt_needs(question)[0])

    async def _abstain(self, prepared: "_PreparedQuestion") -> Answer:
        usage = Usage(model=self._synthesizer.model_name)
        return prepared.answer(CheckedReply("", "", reason=await self._find_reason(prepared)), usage)

    async def _find_reason(self, prepared: "_PreparedQuestion") -> Reason:
        """Return why there is no context; only now, as it takes one more statement."""
        if prepared.trail.passages:
            return "below_threshold"
        if not can(self._retriever, Accounting):
            return "no_documents"
        async with within_deadline(prepared.question.deadline, search_timeout):
            return await self._retriever.why_nothing(prepared.question)


def _ways_to_ask(question: Question) -> list[Question]:
    """Return the question in the ways in which it is searched for, one after another."""
    ways = () if question.mode == "exact" else questions_in(question.text)
    return [replace(question, text=way, message=question.text) for way in ways] or [question]


def _as_asked(question: Question) -> Question:
    """Return the question as it was asked; where it was changed besides, as it is understood."""
    return replace(question, text=question.text if question.original else question.asked, message="")


def _as_meant(question: Question, text: str) -> Question:
    return replace(question, text=text, original=question.original or question.asked)


async def _next_piece(
    pieces: AsyncGenerator[str | Sources | Usage], question: Question, stages: StageTimes
) -> str | Sources | Usage | None:
    """Return the next piece, None at the end.

    The limit is set for each wait: one around them all could strike between them.
    """
    async with within_deadline(question.deadline, writing_timeout):
        return await stages.of("synthesize", anext(pieces, None))


@dataclass(frozen=True, slots=True)
class _PreparedQuestion:
    """A question with what was found for it. enough: whether that reaches the threshold."""

    question: Question
    judged: Retrieval
    trail: Trail
    context: Context
    stages: StageTimes
    enough: bool
    prompt_version: str = ""

    def answer(self, checked: CheckedReply, usage: Usage) -> Answer:
        passages = self.trail.passages
        return Answer(
            question=_as_asked(self.question),
            answered=checked.reason is None,
            text=checked.text,
            context=self.context.passages,
            cited=checked.cited,
            retrieved=len(passages),
            confidence=max((p.relevance for p in passages), default=0.0),
            usage=usage,
            stage_ms=self.stages.milliseconds,
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
