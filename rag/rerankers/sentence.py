"""Passages in the order of their relevance, which is that of their best sentence for the most part."""

from dataclasses import replace

from rag.relevance import features_of, weights_for
from rag.sentences import question_terms, score_passage
from rag.types import Question, Retrieval

DEPTH = 40  # how many are scored
KEPT = 20  # how many are handed on, at least


class SentenceReranker:
    """A chunk is as good as its best sentence: see docs/evaluation.md for what that gains.

    The score is the relevance that the threshold will look at. A sentence counts by its words: its cosine
    would cost a model run.
    """

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        terms = question_terms(question.text, retrieval.idf)
        weights = weights_for(retrieval.model_name, retrieval.calibration)
        scored = []
        for passage in retrieval.passages[: max(DEPTH, question.top_k)]:
            sentences = score_passage(passage, terms)
            score = weights.probability(features_of(passage, sentences, terms))
            scored.append((score, sentences, passage))
        scored.sort(key=lambda entry: -entry[0])  # stable: ties keep the fused order
        kept = scored[: max(KEPT, 2 * question.top_k)]  # of equal texts, all but one go later
        passages = (
            replace(passage, score=score, rerank_score=score, sentences=s) for score, s, passage in kept
        )
        return replace(retrieval, passages=tuple(passages), reranker="sentence")
