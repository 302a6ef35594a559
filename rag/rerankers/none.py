"""A reranker that keeps the fused order."""

from rag.ranking.sentences import with_sentences
from rag.types.question import Question
from rag.types.retrieval import Retrieval


class KeepOrder:
    """Nothing is ranked anew; sentences are scored all the same, since relevance is judged by them."""

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        return with_sentences(question.text, retrieval)
