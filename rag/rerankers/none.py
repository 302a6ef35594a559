"""The fused order as it is."""

from rag.sentences import with_sentences
from rag.types import Question, Retrieval


class KeepOrder:
    """Nothing is ranked anew; sentences are scored all the same, since relevance is judged by them."""

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        return with_sentences(question.text, retrieval)
