"""Question -> passages: found, ranked and judged, for each of two things where a question is of two."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from knowlex.base.errors import KnowlexError
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
from rag.deadlines import StageTimes
from rag.named_documents import documents_named_in, names_in, own_name_in, without_own_name
from rag.protocols import Completing, Narrowing, Reading, Reranker, Retriever, can
from rag.question_forms import Comparison, comparison_in
from rag.ranking.logits import logistic, logit_of
from rag.ranking.order import SCALES
from rag.ranking.sentences import with_sentences
from rag.types.context import Half, Place
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval, Saying, Trail

log = logging.getLogger(__name__)
WITHIN_S = 2.0  # for a second search, which an answer can do without
# By how many logits less a passage may be relevant for a chat model to be asked, which reads for itself, and
# declines: 0.8 becomes 0.05, where of its questions one in two can be answered if four of five can in all.
LENIENCE = 4.33
# Cosine, as all-MiniLM-L6-v2 might give it. Only what is about the same comes so near to a question, even if
# no word of the two is the same: it is asked about that, too.
NEAR = 0.4

Assess = Callable[[str, Retrieval, Mapping[str, Any] | None], Retrieval]


class FoundPassages(NamedTuple):
    """The passages of a question.

    judged: all, in order. enough: whether an answer is worth writing. to_read: whether it is worth asking who
    can read and decline. halves: as `Context` has them.
    """

    judged: Retrieval
    trail: Trail
    enough: bool
    to_read: bool
    halves: tuple[Half, ...] = ()

    @classmethod
    def of(cls, question: Question, found: Retrieval, judged: Retrieval) -> "FoundPassages":
        """Choose the `top_k` best, no two of the same wording; one of them must reach the threshold."""
        best = tuple(islice(distinct(judged.passages), question.top_k))
        relevance = most_relevant(best)
        enough = bool(best) and relevance >= question.min_relevance
        near = _near(judged, best) if question.min_relevance < 1 else frozenset[UUID]()
        to_read = bool(best) and (relevance >= least_to_read(question) or bool(near))
        asked = judged.named.rest if judged.named and not judged.named.ids else ""
        return cls(judged, Trail(found.passages, judged.passages, best, asked, near), enough, to_read)

    def judged_anew(self, question: Question, judged: Retrieval) -> "FoundPassages":
        """Return the same passages by the relevance that they have now. What was enough for two things stays
        enough.
        """
        anew = FoundPassages.of(question, judged, judged)
        trail = replace(anew.trail, found=self.trail.found)
        enough = anew.enough or (self.enough and judged.named is None)
        return anew._replace(trail=trail, enough=enough, halves=self.halves)


def least_to_read(question: Question) -> float:
    """Return the relevance that the best passage must reach for a chat model to be asked."""
    least = question.min_relevance
    return logistic(logit_of(least) - LENIENCE) if 0 < least < 1 else least


def _near(judged: Retrieval, best: Sequence[Passage]) -> frozenset[UUID]:
    """Return which of the best passages are near the question, by a model whose cosines are known."""
    scale = SCALES.get(judged.model_name)
    if scale is None:
        return frozenset()
    factor, shift = scale.line
    known = ((one.chunk_id, one.distance) for one in best)
    return frozenset(
        chunk for chunk, away in known if away is not None and factor * (1 - away) + shift >= NEAR
    )


class PassageFinder:
    """Finds the passages of a question, and judges them.

    assess: fills `relevance` of every passage from the question, the retrieval and the model's calibration.
    """

    def __init__(self, retriever: Retriever, reranker: Reranker, assess: Assess) -> None:
        self._retriever, self._reranker, self._assess = retriever, reranker, assess

    async def find(
        self, question: Question, stages: StageTimes, *, further: bool, reading: Reading | None = None
    ) -> FoundPassages:
        """Find the question's passages.

        Where it is of two things, search for each as well, and use that if both are found: in different
        documents, or by whom may look further, as two things that are compared. Where the question only
        names both, this is tried if it finds nothing by itself, or where they are what two documents are
        about: there one that is found is told alone, as of several questions those that are found.

        further: whether passages may be shown that do not reach the threshold by themselves, as who answers
        reads for itself. reading: what reads the passages of each of two things.
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
        asked = [replace(question, text=half, rewrite=False) for half in two.halves]
        halves = await asyncio.gather(*(self._find_half(half, reading) for half in asked))
        halves = await self._measure_from_whole(question, found, halves, stages)
        both = _combine_halves(question, two, judged, halves, named=named, further=further)
        if both is not None:
            return both
        if two.compared:
            whole = FoundPassages.of(question, found, judged)
        else:
            whole = whole or await self._find_whole(question, found, judged, stages)
        if whole.enough or not further:
            return whole
        asked_less = replace(question, min_relevance=least_to_read(question))
        both = _combine_halves(asked_less, two, judged, halves, named=named, further=further)
        return whole if both is None else both._replace(enough=False)

    async def _find_whole(
        self, question: Question, found: Retrieval, judged: Retrieval, stages: StageTimes
    ) -> FoundPassages:
        return FoundPassages.of(question, *await self._look_within_named(question, found, judged, stages))

    async def _names_two_documents(self, question: Question, two: Comparison, judged: Retrieval) -> bool:
        """Return whether each of two things is what another document is about."""
        if not can(self._retriever, Narrowing) or judged.reranker != "sentence" or len(two.halves) > 2:
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

    async def _find_half(self, question: Question, reading: Reading | None) -> Retrieval:
        """Return what is found for one of two things, as for a question by itself."""
        stages = StageTimes()
        found, judged = await self._judge_passages(question, stages)
        _, judged = await self._look_within_named(question, found, judged, stages)
        return await reading.read_passages(question, judged) if judged.passages and reading else judged

    async def _measure_from_whole(
        self, question: Question, found: Retrieval, halves: Sequence[Retrieval], stages: StageTimes
    ) -> list[Retrieval]:
        """Return what was found for each of two things with its distances to the whole question."""
        away = {passage.chunk_id: passage.distance for passage in found.passages}
        new = [one for half in halves for one in half.passages if one.chunk_id not in away]
        away |= await stages.of("retrieve", self._distances_of(new, question, found))
        return [
            replace(
                half,
                passages=tuple(
                    one._replace(distance=away.get(one.chunk_id, one.distance)) for one in half.passages
                ),
            )
            for half in halves
        ]

    async def _look_within_named(
        self, question: Question, found: Retrieval, judged: Retrieval, stages: StageTimes
    ) -> tuple[Retrieval, Retrieval]:
        """Search a document that the question names for the rest of the question, too: all that the document
        says is about its name, so that the name hides which passage answers.

        Not where a model reranks, which would have to be asked twice.
        """
        if judged.reranker != "sentence" or not can(self._retriever, Narrowing):
            return found, judged
        names, own = names_in(question.text, judged), own_name_in(question.text, judged)
        if not (names or own):
            return found, judged
        try:
            async with asyncio.timeout(question.spare(WITHIN_S)):
                sayings = await stages.of("retrieve", self._retriever.find_sayings(question, names | own))
                of_names = [one for one in sayings if one.lexeme in names]
                named = documents_named_in(question.text, judged, of_names)
                if named is None:
                    return await self._look_without_own_name(question, found, judged, own, sayings, stages)
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

    async def _look_without_own_name(
        self,
        question: Question,
        found: Retrieval,
        judged: Retrieval,
        own: frozenset[str],
        sayings: Sequence[Saying],
        stages: StageTimes,
    ) -> tuple[Retrieval, Retrieval]:
        """Search for the rest of a question that says whose documents all are."""
        language = judged.passages[0].language
        named = without_own_name(question.text, own, language, sayings) if own else None
        if named is None:
            return found, judged
        rest = replace(question, text=named.rest, rewrite=False)
        found_anew, judged_anew = await self._judge_passages(rest, stages)
        if not judged_anew.passages:
            return found, judged
        return found_anew, replace(judged_anew, named=named, rewriting=found.rewriting)

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


def _combine_halves(
    question: Question,
    two: Comparison,
    whole: Retrieval,
    halves: Sequence[Retrieval],
    *,
    named: bool,
    further: bool,
) -> FoundPassages | None:
    """Return what was found for each of two things together; None where that is not enough.

    whole: what was found for the question. named: whether each thing is what another document is about:
    there one that is found is told alone.
    """
    if two.bare:
        halves = [as_sure_as_together(half) for half in halves]
    sure = together if further else most_relevant
    found_for = [sure(half.passages) >= question.min_relevance for half in halves]
    apart = named or two.asks_twice or stand_apart(halves)
    enough = all(found_for) or ((named or two.asks_twice) and not two.compared and any(found_for))
    if not enough or not (apart or (further and two.compared)):
        return None
    among = replace(whole, passages=()) if named else whole
    merged = merge_halves(among, halves, question.min_relevance)
    both = FoundPassages.of(question, merged, merged)._replace(enough=True, to_read=True)
    if not apart:
        return both
    told = tell_apart(two, halves, question.min_relevance)
    return both._replace(
        halves=tuple(half for half, is_found in zip(told, found_for, strict=True) if is_found)
    )
