"""How probable it is that a passage helps to answer a question. Plain Python."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from embeddings.lexical.languages import detect_question_languages
from rag.relevance.calibration import (
    FOREIGN,
    WORDS_ONLY,
    Calibration,
    logistic,
    reranked_weights,
    weights_for,
)
from rag.relevance.features import Described, describe
from rag.types.retrieval import Passage, Retrieval

SAME_TEXT = 1e-4  # cosine distance; float32 sums of one text differ by less
CERTAIN = 0.999
SUREST = 6.9  # logit of .999: how much two judges can outweigh each other


def assess(question_text: str, retrieval: Retrieval, calibration: Mapping[str, Any] | None) -> Retrieval:
    """The retrieval with `relevance` and `sentences` filled in, order kept.

    calibration: the weights stored with the embedding model, by the names of `Calibration`; None takes those
    that ship for `retrieval.model_name`, or words alone. Unusable ones count as None.

    Where a model reranked (`retrieval.rerank_model`), its probability is a feature by weights that were
    fitted to the scores of this very model. Without such weights the logits of both, none surer than .999,
    are averaged: the more either says, the more is told, and one alone does not decide.
    """
    weighed = _Weights.of(retrieval, calibration)
    asked = detect_question_languages(question_text)
    judged = []
    for described in describe(question_text, retrieval):
        passage = described.passage
        relevance = weighed.relevance(described, _is_other(asked, passage))
        judged.append(passage.but(relevance=relevance, sentences=described.sentences))
    return replace(retrieval, passages=tuple(judged))


@dataclass(frozen=True, slots=True)
class _Weights:
    """usual: without a reranker's score; foreign: in another language; reranked: fitted to the score."""

    usual: Calibration
    foreign: Calibration | None
    reranked: Calibration | None

    @classmethod
    def of(cls, retrieval: Retrieval, calibration: Mapping[str, Any] | None) -> "_Weights":
        usual = weights_for(retrieval.model_name, calibration)
        if all(passage.distance is None for passage in retrieval.passages):
            return cls(WORDS_ONLY, FOREIGN.get(retrieval.model_name), None)
        reranked = reranked_weights(retrieval.rerank_model, calibration)
        return cls(usual, FOREIGN.get(retrieval.model_name), reranked)

    def relevance(self, described: Described, is_foreign: bool) -> float:
        distance = described.passage.distance
        if distance is not None and distance <= SAME_TEXT and described.whole:
            return CERTAIN
        logit = self.usual.logit(described.features)
        if self.foreign and is_foreign:
            logit = max(logit, self.foreign.logit(described.features))
        elif self.reranked and described.is_scored:
            return self.reranked.probability(described.features)
        if described.is_scored:
            logit = (min(max(logit, -SUREST), SUREST) + described.features.reranked) / 2
        return logistic(logit)


def is_foreign(question_text: str, passage: Passage) -> bool:
    """Whether the question seems to be in another language than the passage; False where it is unclear."""
    return _is_other(detect_question_languages(question_text), passage)


def _is_other(asked: tuple[str, ...], passage: Passage) -> bool:
    """asked: the languages that the question may be in."""
    return bool(asked) and (passage.language or "en") not in asked
