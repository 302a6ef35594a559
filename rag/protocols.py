"""The exchangeable parts of answering."""

from collections.abc import Sequence
from typing import Protocol

from rag.types import Passage, Question, Retrieval, Synthesis


class Retriever(Protocol):
    """Role RETRIEVER."""

    async def retrieve(self, question: Question) -> Retrieval:
        """Passages of the question's collections, best first, at most what reranking needs.

        Holds no database connection when it returns. Raises RetrievalFailed (the question could not be
        embedded, or the search failed), DatabaseUnavailable.
        """
        ...


class Reranker(Protocol):
    """Role RERANKER: a new order and `score`; pure computation or one model call."""

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval: ...


class Synthesizer(Protocol):
    """Role SYNTHESIZER: passages -> text with `[n]` markers."""

    async def synthesize(self, question: Question, context: Sequence[Passage]) -> Synthesis:
        """`[n]` names context[n - 1]. Raises SynthesisFailed, SynthesisTimeout."""
        ...
