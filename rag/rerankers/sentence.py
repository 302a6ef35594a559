"""Passages in the order of their best sentence."""

from dataclasses import replace

from rag.sentences import Terms, question_terms, score_sentences, worth
from rag.types import Passage, Question, Retrieval

RANK_PENALTY = 0.005  # of a passage for each place further down in the fused ranking
DEPTH = 40  # how many are scored
KEPT = 20  # how many are handed on, at least


class SentenceReranker:
    """A chunk is as good as its best sentence: see docs/evaluation.md for what that gains.

    Words only: a sentence's cosine would cost a model run each, and the fused rank brings in the chunk's own.
    """

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        terms = question_terms(question.text, retrieval.idf)
        candidates = retrieval.passages[: max(DEPTH, question.top_k)]
        scored = [_scored(passage, rank, terms) for rank, passage in enumerate(candidates)]
        scored.sort(key=lambda passage: -passage.score)  # stable: ties keep the fused order
        return replace(
            retrieval, passages=tuple(scored[: max(KEPT, 2 * question.top_k)])
        )  # equal texts go later


def _scored(passage: Passage, rank: int, terms: Terms) -> Passage:
    sentences = score_sentences(passage.content, terms)
    best = max(map(worth, sentences), default=0.0)
    return replace(passage, score=best - RANK_PENALTY * rank, sentences=sentences)
