"""A search widened by variants of its question; what they find is judged by the question itself."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

import psycopg

from embeddings.search.dense import SearchModel, embed_passage, embed_question
from embeddings.types import Vector
from embeddings.vectors.binary import vector_parameter
from knowlex.base.errors import KnowlexError, RetrievalFailed
from knowlex.db.pool import fetch_all
from rag.deadlines import StageTimes
from rag.retrievers import statements
from rag.retrievers.filtering import read_parameters
from rag.retrievers.hybrid import HybridRetriever, make_retrieval, passage_of, usable_model, word_parameters
from rag.retrievers.scope import Scope
from rag.types.question import Question, Variant
from rag.types.retrieval import Passage, Retrieval

# The plain ranking weighs as much as all the others together, and each phrasing half of the hypothetical
# answer: what the question itself finds first stays first unless they agree on something else.
# Of a variant only the first DEPTH count: further down stands what any words would bring.
DEPTH = 10
PLAIN_WEIGHT, HYPOTHETICAL_WEIGHT, PHRASING_WEIGHT = 1.0, 0.4, 0.2


class Ranking(NamedTuple):
    """ids: best first."""

    weight: float
    ids: Sequence[UUID]


def fuse_rankings(rankings: Sequence[Ranking], *, rrf_k: int) -> dict[UUID, float]:
    """Fuse by reciprocal rank: weight / (k + rank), summed over the rankings that hold the id, rank from 1.

    Best first; ties keep the order of first appearance, the plain ranking's first.
    """
    scores: dict[UUID, float] = {}
    for weight, ids in rankings:
        for rank, id_ in enumerate(ids, start=1):
            scores[id_] = scores.get(id_, 0.0) + weight / (rrf_k + rank)
    return dict(sorted(scores.items(), key=lambda scored: -scored[1]))


log = logging.getLogger(__name__)
MORE = 10  # passages at most, besides those that the plain search found
WIDENING_S = 3.0  # the variants' vectors and rankings; with them later, the plain result goes on alone
FAILURES = (KnowlexError, psycopg.Error, TimeoutError)


@dataclass(frozen=True, slots=True)
class _PlainSearch:
    """The plain search of a question, and what it was made with."""

    question: Question
    scope: Scope
    model: SearchModel
    vector: Vector
    found: Retrieval


class WidenedRetriever(HybridRetriever):
    """A retriever that adds what the variants of a question find; `retrieve` is the plain search."""

    async def retrieve_widened(self, question: Question, variants: Awaitable[Sequence[Variant]]) -> Retrieval:
        """Return the plain search's passages and up to MORE others, best first by the fused ranking.

        variants: written meanwhile; no connection is held while they are waited for. Where nothing can be
        found they are not. Raises as `retrieve`: for what the plain search alone would raise.
        """
        try:
            plain = await self._search_plainly(question)
        except psycopg.Error as exc:
            log.error("search failed", extra={"error": type(exc).__name__})
            raise RetrievalFailed("The search failed.") from exc
        if plain is None:
            return Retrieval(())
        given = await variants
        try:
            async with asyncio.timeout(question.spare(WIDENING_S)):
                return await self._widen(plain, given)
        except FAILURES as exc:
            log.warning("search not widened", extra={"error": type(exc).__name__})
            return replace(plain.found, rewriting="failed")

    async def _search_plainly(self, question: Question) -> _PlainSearch | None:
        """Search for the question itself; return None where there is nothing to be found."""
        scope = await self._scopes.of(question)
        model = usable_model(scope) if scope else None
        if scope is None or model is None:
            return None
        stages = StageTimes()
        vector = await stages.of("embed", embed_question(question.text, model, state=question.state))
        rows = await self._fetch_by_meaning(question, scope, model, vector, stages)
        found = replace(make_retrieval(rows, scope, vector), stage_ms=stages.milliseconds)
        return _PlainSearch(question, scope, model, vector, found)

    async def _widen(self, plain: _PlainSearch, variants: Sequence[Variant]) -> Retrieval:
        rankings = await asyncio.gather(*(self._rank_variant(plain, variant) for variant in variants))
        found = [ranking for ranking in rankings if ranking is not None]
        if not found:
            return replace(plain.found, rewriting="failed")
        first = Ranking(PLAIN_WEIGHT, [passage.chunk_id for passage in plain.found.passages])
        scores = fuse_rankings([first, *found], rrf_k=self._rrf_k)
        new = [chunk_id for chunk_id in scores if chunk_id not in set(first.ids)][:MORE]
        others = await self._rate_chunks(plain, {chunk_id: scores[chunk_id] for chunk_id in new})
        passages = [
            passage._replace(score=scores[passage.chunk_id], fused_score=scores[passage.chunk_id])
            for passage in (*plain.found.passages, *others)
        ]
        passages.sort(key=lambda passage: -passage.score)
        return replace(plain.found, passages=tuple(passages), rewriting="done")

    async def _rank_variant(self, plain: _PlainSearch, variant: Variant) -> Ranking | None:
        """Search for a variant; return None if that fails."""
        try:
            if variant.hypothetical:
                return await self._rank_hypothetical(plain, variant.text)
            found = await self.retrieve(replace(plain.question, text=variant.text, state=""))
        except FAILURES as exc:
            log.warning("variant not searched for", extra={"error": type(exc).__name__})
            return None
        return Ranking(PHRASING_WEIGHT, [passage.chunk_id for passage in found.passages[:DEPTH]])

    async def _rank_hypothetical(self, plain: _PlainSearch, text: str) -> Ranking:
        vector = await embed_passage(text, plain.model)
        question = replace(plain.question, mode="dense")
        rows = await self._fetch_by_meaning(question, plain.scope, plain.model, vector, StageTimes())
        return Ranking(HYPOTHETICAL_WEIGHT, [row["chunk_id"] for row in rows[:DEPTH]])

    async def _rate_chunks(self, plain: _PlainSearch, scores: dict[UUID, float]) -> list[Passage]:
        """Return those of the chunks that are still there as passages, rated by the question itself."""
        if not scores:
            return []
        given = {
            "ids": list(scores),
            "scores": list(scores.values()),
            "vector": vector_parameter(plain.vector),
            **read_parameters(plain.question),
        }
        rows = await fetch_all(
            statements.rate_chunks(plain.model),
            given | word_parameters(plain.scope),
            reader=plain.question.principals,
        )
        return [passage_of(row) for row in rows]
