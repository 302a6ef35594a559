"""What rerankers that ask a model have in common: its errors, its time limit, the order by its scores."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from rag.local_models import Limit, ModelFailed
from rag.rerankers.sentence import SentenceReranker
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval

DEPTH = 20  # passages that the model reads, or as many as are asked for


class ModelReranker(ABC):
    """The sentence reranker chooses what the model reads; where that fails or is slow, its order stays.

    name: in the answer of a search. model: the same with which model it is: scores of one tell nothing about
    those of another. timeout_s: of one call; see `Limit` for what follows from being slow.
    """

    name: str
    model: str

    def __init__(self, *, timeout_s: float) -> None:
        self._first, self.limit = SentenceReranker(), Limit(timeout_s)

    @abstractmethod
    async def state(self) -> str:
        """Return the state; see `ModelBacked`."""

    @abstractmethod
    def check(self) -> None:
        """Check the model; see `ModelBacked`."""

    @abstractmethod
    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return for each text how probable it is that it helps to answer, [0, 1]. Raises RerankFailed."""

    async def aclose(self) -> None:  # noqa: B027
        """Close this event loop's connections, if there are any."""

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        ranked = await self._first.rerank(question, retrieval)
        read = ranked.passages[: max(DEPTH, question.top_k)]
        if not read:
            return ranked
        texts = [passage.content for passage in read]
        scores = await self.limit.call(
            lambda: self.scores(question.text, texts), within_s=question.spare(math.inf)
        )
        if scores is None:
            return ranked
        return replace(
            ranked,
            passages=_ordered(ranked.passages, scores),
            reranker=self.name,
            rerank_model=self.model,
            scale=None,
        )


def _ordered(passages: Sequence[Passage], scores: Sequence[float]) -> tuple[Passage, ...]:
    """Order the read ones by the model's scores, the others in their order behind them."""
    read = [p._replace(score=s, rerank_score=s) for p, s in zip(passages, scores, strict=False)]
    read.sort(key=lambda passage: -passage.score)  # stable: ties keep the order before
    worst = read[-1].score
    rest = [p._replace(score=min(worst, p.score), rerank_score=None) for p in passages[len(read) :]]
    return (*read, *rest)


def sigmoid(logit: float) -> float:
    """Return it without overflow, telling logits far below 0 apart, which the hyperbolic tangent does not."""
    small = math.exp(-abs(logit))
    return 1 / (1 + small) if logit >= 0 else small / (1 + small)


class RerankFailed(ModelFailed):
    """The passages keep the order that they had."""
