"""Orders passages by what they say as a whole and in their best sentence: see rag/ranking/order.py."""

from dataclasses import replace

from rag.ranking.order import scale_of, strength
from rag.ranking.sentences import score_passage, terms_by_language
from rag.types.question import Question
from rag.types.retrieval import Retrieval

DEPTH = 40  # how many are scored
KEPT = 20  # how many are handed on, at least


class SentenceReranker:
    """Needs no model: the sentences' vectors were made with their chunk's and compared in the search."""

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        passages = retrieval.passages[: max(DEPTH, question.top_k)]
        terms = terms_by_language(question.text, retrieval)
        scale = scale_of(retrieval.model_name, passages, retrieval.calibration)
        scored = []
        for passage in passages:
            own = terms[passage.language]
            sentences = score_passage(passage, own)
            scored.append((strength(passage, sentences, own, scale), sentences, passage))
        scored.sort(key=lambda entry: -entry[0])  # stable: ties keep the fused order
        kept = scored[: max(KEPT, 2 * question.top_k)]  # of equal texts, all but one go later
        ranked = (p._replace(score=score, rerank_score=score, sentences=s) for score, s, p in kept)
        return replace(retrieval, passages=tuple(ranked), reranker="sentence", scale=scale)
