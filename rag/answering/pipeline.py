"""Question -> answer: the only place where the order of the stages is written. Plain Python, async."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from knowlex.base.errors import KnowlexError, SynthesisFailed
from rag.citations.checker import CheckedReply, Checker
from rag.context.assembly import ContextMaker
from rag.context.selection import (
    as_sure_as_together,
    distinct,
    merge_halves,
    merge_rest,
    most_relevant,
    stand_apart,
    tell_apart,
    together,
)
from rag.deadlines import StageTimes, search_timeout, within_deadline, writing_timeout
from rag.named_documents import documents_named_in, names_in
from rag.protocols import (
    Accounting,
    CitingAgain,
    ClaimJudge,
    Completing,
    Correcting,
    Narrowing,
    Prompting,
    Reading,
    Reranker,
    Respelling,
    Retriever,
    Synthesizer,
    can,
)
from rag.question_forms import Comparison, comparison_in, question_without_frame
from rag.ranking.sentences import with_sentences
from rag.types.answer import Answer, Event, Reason, Sources, Started, Synthesis, Usage
from rag.types.context import Context, Half, Place, Room
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval, SearchResult, Trail

log = logging.getLogger(__name__)
LEAST_S = 1.0  # of the deadline, for a second reply to be worth asking for
WITHIN_S = 2.0  # for a second search, which an answer can do without

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
            question = await self._respell(question)
            judged, trail, *_ = await self._find_passages(
                question, stages, further=self._may_look_further(question)
            )
        result = SearchResult(
            question,
            trail.passages,
            judged.model_name,
            stages.milliseconds,
            judged.reranker,
            judged.rewriting,
        )
        return result, trail

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
            usage = _add_usage(usage, more)
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
            usage = _add_usage(usage, more)
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

        Where there is nothing relevant, the question is asked without who asks it; and where a word is one
        letter off, as it may be meant.
        """
        async with within_deadline(question.deadline, search_timeout):
            question = await self._respell(question)
        prepared = await self._prepare_as_asked(question)
        if prepared.context or question.mode == "exact":
            return prepared
        alone = question_without_frame(question.text)
        if alone is not None:
            question = _as_meant(question, alone)
            again = await self._prepare_as_asked(question)
            if again.context:
                return again
        if not can(self._retriever, Correcting):
            return prepared
        async with within_deadline(question.deadline, search_timeout):
            meant = await self._retriever.suggest(question, sure=True)
        if meant is None:
            return prepared
        again = await self._prepare_as_asked(_as_meant(question, meant))
        return again if again.context else prepared

    async def _prepare_as_asked(self, question: Question) -> "_PreparedQuestion":
        stages = StageTimes()
        async with within_deadline(question.deadline, search_timeout):
            found = await self._find_passages(question, stages, further=self._may_look_further(question))
            if found.judged.passages and not found.halves and can(self._synthesizer, Reading):
                reading = self._synthesizer.read_passages(question, found.judged)
                found = found.judged_anew(question, await stages.of("relevance", reading))
            room, version = self._prompt_needs(question)
            making = self._contexts.context(
                question, found.judged, found.trail.passages, room, enough=found.enough
            )
            context = await stages.of("context", making)
            context = replace(context, halves=found.halves, named=found.judged.named)
        return _PreparedQuestion(
            question, found.judged, found.trail, context, stages, version if context else ""
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

    async def _find_passages(
        self, question: Question, stages: StageTimes, *, further: bool
    ) -> "_FoundPassages":
        """Find the question's passages.

        Where it is of two things, search for each as well, and use that if both are found: in different
        documents, or by whom may look further, as two things that are compared. Where the question only
        names both, this is tried if it finds nothing by itself, or where they are what two documents are
        about: there one that is found is told alone.

        further: whether passages may be shown that do not reach the threshold by themselves.
        """
        found, judged = await self._judge_passages(question, stages)
        two = None if question.mode == "exact" else comparison_in(question.text)
        if two is None:
            return await self._find_whole(question, found, judged, stages)
        named = await self._names_two_documents(question, two, judged)
        whole = None
        if not (two.compared or two.asks_twice or named):
            whole = await self._find_whole(question, found, judged, stages)
            if whole.enough:
                return whole
        both = await self._find_both(question, two, judged, named=named, further=further)
        if both is not None:
            return both
        if two.compared:
            return _FoundPassages.of(question, found, judged)
        return whole or await self._find_whole(question, found, judged, stages)

    async def _find_whole(
        self, question: Question, found: Retrieval, judged: Retrieval, stages: StageTimes
    ) -> "_FoundPassages":
        return _FoundPassages.of(question, *await self._look_within_named(question, found, judged, stages))

    async def _find_both(
        self, question: Question, two: Comparison, judged: Retrieval, *, named: bool, further: bool
    ) -> "_FoundPassages | None":
        """Search for each of two things; None where not enough is found. named: whether each is what another
        document is about: there one that is found is told alone.
        """
        asked = [replace(question, text=half, rewrite=False) for half in two.halves]
        halves = await asyncio.gather(*map(self._find_half, asked))
        if two.bare:
            halves = [as_sure_as_together(half) for half in halves]
        sure = together if further else most_relevant
        found_for = [sure(half.passages) >= question.min_relevance for half in halves]
        apart = named or two.asks_twice or stand_apart(halves)
        enough = all(found_for) or (named and not two.compared and any(found_for))
        if not enough or not (apart or (further and two.compared)):
            return None
        among = replace(judged, passages=()) if named else judged
        merged = merge_halves(among, halves, question.min_relevance)
        both = _FoundPassages.of(question, merged, merged)._replace(enough=True)
        if not apart:
            return both
        told = tell_apart(two, halves, question.min_relevance)
        return both._replace(
            halves=tuple(half for half, is_found in zip(told, found_for, strict=True) if is_found)
        )

    async def _names_two_documents(self, question: Question, two: Comparison, judged: Retrieval) -> bool:
        """Return whether each of two things is what another document is about."""
        if not can(self._retriever, Narrowing) or judged.reranker != "sentence":
            return False
        names = [names_in(half, judged) for half in two.halves]
        if not all(names):
            return False
        try:
            sayings = await self._retriever.find_sayings(question, frozenset[str]().union(*names))
        except KnowlexError as exc:
            log.warning("not known whether two documents are named", extra={"error": type(exc).__name__})
            return False
        one, other = (
            documents_named_in(half, judged, [saying for saying in sayings if saying.lexeme in own])
            for half, own in zip(two.halves, names, strict=True)
        )
        return one is not None and other is not None and one.ids.isdisjoint(other.ids)

    async def _find_half(self, question: Question) -> Retrieval:
        """Return what is found for one of two things, as for a question by itself."""
        stages = StageTimes()
        found, judged = await self._judge_passages(question, stages)
        _, judged = await self._look_within_named(question, found, judged, stages)
        if judged.passages and can(self._synthesizer, Reading):
            return await self._synthesizer.read_passages(question, judged)
        return judged

    async def _look_within_named(
        self, question: Question, found: Retrieval, judged: Retrieval, stages: StageTimes
    ) -> tuple[Retrieval, Retrieval]:
        """Search a document that the question names for the rest of the question, too: all that the document
        says is about its name, so that the name hides which passage answers.

        Not where a model reranks, which would have to be asked twice.
        """
        if judged.reranker != "sentence" or not can(self._retriever, Narrowing):
            return found, judged
        names = names_in(question.text, judged)
        if not names:
            return found, judged
        try:
            async with asyncio.timeout(question.spare(WITHIN_S)):
                sayings = await stages.of("retrieve", self._retriever.find_sayings(question, names))
                named = documents_named_in(question.text, judged, sayings)
                if named is None:
                    return found, judged
                rest = replace(question, text=named.rest)
                within = await stages.of("retrieve", self._retriever.retrieve_within(rest, named.ids))
        except (KnowlexError, TimeoutError) as exc:
            log.warning("not searched within a document", extra={"error": type(exc).__name__})
            return found, judged
        merged = merge_rest(judged, await self._judge_found(rest, within, stages), named)
        known = {passage.chunk_id for passage in judged.passages}
        new = [passage for passage in merged.passages if passage.chunk_id not in known]
        distances = await stages.of("retrieve", self._distances_of(new, question, found))
        passages = tuple(
            one if one.chunk_id in known else one._replace(distance=distances[one.chunk_id])
            for one in merged.passages
            if one.chunk_id in known or one.chunk_id in distances
        )
        new = [one for one in passages if one.chunk_id not in known]
        return replace(found, passages=(*found.passages, *new)), replace(merged, passages=passages)

    async def _distances_of(
        self, passages: Sequence[Passage], question: Question, found: Retrieval
    ) -> dict[UUID, float | None]:
        """Return the distances to the question of passages that were found for another text, by chunk; of
        those that can be looked up now.
        """
        if not passages or not can(self._retriever, Completing):
            return {}
        places = [Place(passage.document_id, passage.chunk_index) for passage in passages]
        looked_up = await self._retriever.neighbours(question, found, places)
        return {passage.chunk_id: passage.distance for passage in looked_up}

    async def _judge_passages(self, question: Question, stages: StageTimes) -> tuple[Retrieval, Retrieval]:
        """Return what was found, and the same reranked, with its relevance."""
        found = await stages.of("retrieve", self._retriever.retrieve(question))
        stages.milliseconds |= found.stage_ms
        return found, await self._judge_found(question, found, stages)

    async def _judge_found(self, question: Question, found: Retrieval, stages: StageTimes) -> Retrieval:
        if not found.passages:
            return found
        ranked = await stages.of("rerank", self._order_passages(question, found))
        started = time.perf_counter()
        judged = self._assess(question.text, ranked, ranked.calibration)
        stages.note("relevance", started)
        return judged

    async def _order_passages(self, question: Question, found: Retrieval) -> Retrieval:
        if question.reranked:
            return await self._reranker.rerank(question, found)
        return with_sentences(question.text, found)  # the relevance is judged by the sentences


def _as_meant(question: Question, text: str) -> Question:
    return replace(question, text=text, original=question.original or question.text)


async def _next_piece(
    pieces: AsyncGenerator[str | Sources | Usage], question: Question, stages: StageTimes
) -> str | Sources | Usage | None:
    """Return the next piece, None at the end.

    The limit is set for each wait: one around them all could strike between them.
    """
    async with within_deadline(question.deadline, writing_timeout):
        return await stages.of("synthesize", anext(pieces, None))


def _add_usage(first: Usage, second: Usage) -> Usage:
    return replace(
        first,
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
    )


class _FoundPassages(NamedTuple):
    """The passages of a question. judged: all, in order. enough: whether an answer is worth writing.
    halves: as `Context` has them.
    """

    judged: Retrieval
    trail: Trail
    enough: bool
    halves: tuple[Half, ...] = ()

    @classmethod
    def of(cls, question: Question, found: Retrieval, judged: Retrieval) -> "_FoundPassages":
        """Choose the `top_k` best, no two of the same wording; one of them must reach the threshold."""
        best = tuple(islice(distinct(judged.passages), question.top_k))
        enough = any(passage.relevance >= question.min_relevance for passage in best)
        return cls(judged, Trail(found.passages, judged.passages, best), enough)

    def judged_anew(self, question: Question, judged: Retrieval) -> "_FoundPassages":
        """Return the same passages by the relevance that they have now. What was enough for two things stays
        enough.
        """
        anew = _FoundPassages.of(question, judged, judged)
        trail = replace(anew.trail, found=self.trail.found)
        enough = anew.enough or (self.enough and judged.named is None)
        return anew._replace(trail=trail, enough=enough, halves=self.halves)


@dataclass(frozen=True, slots=True)
class _PreparedQuestion:
    """A question with what was found for it."""

    question: Question
    judged: Retrieval
    trail: Trail
    context: Context
    stages: StageTimes
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
