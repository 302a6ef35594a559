"""Question -> answer: the only place where the order of the stages is written. Plain Python, async."""

import time
from collections.abc import Awaitable, Callable, Mapping
from itertools import islice
from typing import Any, TypeVar

from rag.citations import settle, without_markers
from rag.context import assemble, distinct
from rag.prompts import says_not_found
from rag.protocols import Reranker, Retriever, Synthesizer
from rag.sentences import with_sentences
from rag.types import Answer, Question, Retrieval, SearchResult, Synthesis, Trail, Usage

T = TypeVar("T")
Assess = Callable[[str, Retrieval, Mapping[str, Any] | None], Retrieval]


class Pipeline:
    """retrieve, rerank, judge the relevance, keep what is relevant, synthesize, check the citations.

    assess: fills `relevance` of every passage from the question, the retrieval and the model's calibration.
    """

    def __init__(
        self, retriever: Retriever, reranker: Reranker, assess: Assess, synthesizer: Synthesizer
    ) -> None:
        self._retriever, self._reranker = retriever, reranker
        self._assess, self._synthesizer = assess, synthesizer

    async def search(self, question: Question) -> SearchResult:
        """Retrieval alone: what `answer` would choose from, with nothing withheld for its relevance.

        Raises RetrievalFailed, DatabaseUnavailable.
        """
        result, _ = await self.traced_search(question)
        return result

    async def traced_search(self, question: Question) -> tuple[SearchResult, Trail]:
        """The same with what was there at its stages."""
        took = _Stages()
        judged, trail = await self._passages(question, took)
        result = SearchResult(
            question, trail.passages, judged.model_name, took.milliseconds, judged.reranker, judged.rewriting
        )
        return result, trail

    async def judged(self, question: Question) -> Retrieval:
        """All that reranking handed on, in its order, and what is known of the search. Raises as `search`."""
        judged, _ = await self._passages(question, _Stages())
        return judged

    async def answer(self, question: Question) -> Answer:
        """Raises RetrievalFailed, SynthesisFailed, DatabaseUnavailable; "not enough" is an answer."""
        took = _Stages()
        _, trail = await self._passages(question, took)
        passages = trail.passages
        context = assemble(p for p in passages if p.relevance >= question.min_relevance)
        synthesis = Synthesis("")
        if context:
            synthesis = await took.of("synthesize", self._synthesizer.synthesize(question, context))
        text, cited = _checked(synthesis.text, len(context))
        return Answer(
            question=question,
            answered=bool(cited),
            text=text,
            context=context,
            cited=cited,
            retrieved=len(passages),
            confidence=max((p.relevance for p in passages), default=0.0),
            usage=synthesis.usage if context else Usage(),
            stage_ms=took.milliseconds,
            passages=passages,
        )

    async def _passages(self, question: Question, took: "_Stages") -> tuple[Retrieval, Trail]:
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


def _checked(reply: str, blocks: int) -> tuple[str, tuple[int, ...]]:
    """The reply with valid markers only, and what it cites; ("", ()) if it cites nothing or is a refusal."""
    text, cited = settle(reply, blocks)
    if not cited or says_not_found(without_markers(text)):
        return "", ()
    return text, cited


class _Stages:
    """How long each stage took, in milliseconds."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}

    async def of(self, stage: str, work: Awaitable[T]) -> T:
        started = time.perf_counter()
        result = await work
        self.note(stage, started)
        return result

    def note(self, stage: str, started: float) -> None:
        self.milliseconds[stage] = round((time.perf_counter() - started) * 1000, 3)
