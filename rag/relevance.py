"""How probable it is that a passage helps to answer a question. Plain Python.

A logistic model of the numbers in rag/features.py, none of them negative in weight: more of the question in a
passage never makes it less relevant. Where it was fitted and how well it does: docs/evaluation.md.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from embeddings.analysis.asking import asked_in
from rag.features import Described, Features, describe
from rag.types import Passage, Retrieval

SAME_TEXT = 1e-4  # cosine distance; float32 sums of one text differ by less
CERTAIN = 0.999
_SINCE_SENTENCES = {"sentence_similarity", "names", "margin"}  # not in what was stored before


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of the features; a weight of 0 leaves one out."""

    intercept: float
    similarity: float
    sentence: float
    coverage: float
    evidence: float
    sentence_similarity: float = 0.0
    names: float = 0.0
    margin: float = 0.0

    def probability(self, features: Features) -> float:
        logit = (
            self.intercept
            + self.similarity * features.similarity
            + self.sentence * features.sentence
            + self.coverage * features.coverage
            + self.evidence * features.evidence
            + self.sentence_similarity * features.sentence_similarity
            + self.names * features.names
            + self.margin * features.margin
        )
        return 0.5 + 0.5 * math.tanh(logit / 2)  # the logistic function, without overflow


# Fitted by benchmarks/evaluation/fit_relevance.py; data, folds and errors in docs/evaluation.md.
FITTED = {
    "all-MiniLM-L6-v2": Calibration(
        intercept=-13.71,
        similarity=3.05,
        sentence=2.20,
        coverage=2.26,
        evidence=2.11,
        sentence_similarity=3.13,
        names=1.09,
        margin=4.67,
    ),
    "multilingual-e5-small": Calibration(
        intercept=-12.60,
        similarity=1.66,
        sentence=2.05,
        coverage=1.93,
        evidence=1.63,
        sentence_similarity=1.66,
        names=1.36,
        margin=6.11,
    ),
}
# For a passage in another language than the question's, where words say nothing.
FOREIGN = {
    "multilingual-e5-small": Calibration(
        intercept=-1.51,
        similarity=4.08,
        sentence=0.0,
        coverage=0.0,
        evidence=0.0,
        sentence_similarity=4.08,
        margin=0.11,
    )
}
# The same without cosines, for models whose cosines nobody has looked at and for searches by words alone. The
# intercept is 0.25 above the fitted one: two of a question's three words, all that a few chunks can show, are
# then enough.
WORDS_ONLY = Calibration(
    intercept=-11.76, similarity=0.0, sentence=4.87, coverage=3.56, evidence=3.04, names=1.90
)


def assess(question_text: str, retrieval: Retrieval, calibration: Mapping[str, Any] | None) -> Retrieval:
    """The retrieval with `relevance` and `sentences` filled in, order kept.

    calibration: the weights stored with the embedding model, by the names of `Calibration`; None takes those
    that ship for `retrieval.model_name`, or words alone. Unusable ones count as None.
    """
    usual = weights_for(retrieval.model_name, calibration)
    if all(passage.distance is None for passage in retrieval.passages):
        usual = WORDS_ONLY
    foreign = FOREIGN.get(retrieval.model_name)
    judged = []
    for described in describe(question_text, retrieval):
        relevance = _relevance(described, usual)
        if foreign and is_foreign(question_text, described.passage):
            relevance = max(relevance, foreign.probability(described.features))
        judged.append(replace(described.passage, relevance=relevance, sentences=described.sentences))
    return replace(retrieval, passages=tuple(judged))


def weights_for(model_name: str, calibration: Mapping[str, Any] | None) -> Calibration:
    return _stored(calibration) or FITTED.get(model_name, WORDS_ONLY)


def is_foreign(question_text: str, passage: Passage) -> bool:
    """Whether the question seems to be in another language than the passage; False where it is unclear."""
    asked = asked_in(question_text)
    return bool(asked) and (passage.language or "en") not in asked


def _relevance(described: Described, weights: Calibration) -> float:
    distance = described.passage.distance
    if distance is not None and distance <= SAME_TEXT and described.whole:
        return CERTAIN
    return weights.probability(described.features)


def _stored(calibration: Mapping[str, Any] | None) -> Calibration | None:
    given = calibration or {}
    values = {field.name: given.get(field.name) for field in fields(Calibration)}
    usable = {
        name: float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and math.isfinite(value)
    }
    missing = values.keys() - usable.keys()
    return None if missing - (_SINCE_SENTENCES - given.keys()) else Calibration(**usable)
