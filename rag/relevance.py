"""How probable it is that a passage helps to answer a question. Plain Python.

A logistic model of four numbers a passage, none of them negative in weight: more of the question in a passage
never makes it less relevant. Where it was fitted and how well it does: docs/evaluation.md.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from rag.sentences import Terms, analysis_of, question_terms, words_of, worth
from rag.types import Passage, Retrieval, SentenceScore

SAME_TEXT = 1e-4  # cosine distance; float32 sums of one text differ by less
CERTAIN = 0.999
ENOUGH = 4.0  # idf of a word in one of some fifty chunks


@dataclass(frozen=True, slots=True)
class Features:
    """similarity: cosine of passage and question, at least 0. sentence: share of the question's idf mass that
    the best sentence holds, see `worth`. coverage: the share that the passage with its title and headings
    holds. evidence: ln(1 + the mass it holds), so that one common word is little proof; a word counts at most
    `ENOUGH`, or else a large collection, where rare words weigh more, would need less proof than a small one.
    """

    similarity: float
    sentence: float
    coverage: float
    evidence: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of the features; a weight of 0 leaves one out."""

    intercept: float
    similarity: float
    sentence: float
    coverage: float
    evidence: float

    def probability(self, features: Features) -> float:
        logit = (
            self.intercept
            + self.similarity * features.similarity
            + self.sentence * features.sentence
            + self.coverage * features.coverage
            + self.evidence * features.evidence
        )
        return 0.5 + 0.5 * math.tanh(logit / 2)  # the logistic function, without overflow


# Fitted by benchmarks/evaluation/fit_relevance.py; data, folds and errors in docs/evaluation.md.
FITTED = {
    "all-MiniLM-L6-v2": Calibration(
        intercept=-10.54, similarity=6.22, sentence=3.91, coverage=3.55, evidence=2.31
    ),
}
# The same without the cosine, for models whose cosines nobody has looked at. The intercept is 0.25 above the
# fitted one: two of a question's three words, all that a few chunks can show, are then enough.
WORDS_ONLY = Calibration(intercept=-10.90, similarity=0.0, sentence=4.97, coverage=4.27, evidence=3.21)


def assess(question_text: str, retrieval: Retrieval, calibration: Mapping[str, Any] | None) -> Retrieval:
    """The retrieval with `relevance` filled in, order kept. The passages' sentences must be scored.

    calibration: the weights stored with the embedding model, by the names of `Calibration`; None takes those
    that ship for `retrieval.model_name`, or words alone. Unusable ones count as None.
    """
    weights = weights_for(retrieval.model_name, calibration)
    terms = question_terms(question_text, retrieval.idf)
    passages = tuple(
        replace(passage, relevance=_relevance(passage, terms, weights)) for passage in retrieval.passages
    )
    return replace(retrieval, passages=passages)


def weights_for(model_name: str, calibration: Mapping[str, Any] | None) -> Calibration:
    return _stored(calibration) or FITTED.get(model_name, WORDS_ONLY)


def features_of(passage: Passage, sentences: Sequence[SentenceScore], terms: Terms) -> Features:
    """sentences: of the passage, scored for the question that the terms are of."""
    held = terms.words & analysis_of(passage.content).words
    if len(held) < len(terms.words):
        held |= terms.words & words_of(f"{passage.title} {passage.chapter} {passage.section}")
    return Features(
        similarity=0.0 if passage.distance is None else max(0.0, 1.0 - passage.distance),
        sentence=max(map(worth, sentences), default=0.0),
        coverage=terms.coverage(held),
        evidence=math.log1p(terms.mass_in(held, at_most=ENOUGH)),
    )


def _relevance(passage: Passage, terms: Terms, weights: Calibration) -> float:
    same = passage.distance is not None and passage.distance <= SAME_TEXT
    if same and terms.words <= analysis_of(passage.content).words:
        return CERTAIN
    return weights.probability(features_of(passage, passage.sentences, terms))


def _stored(calibration: Mapping[str, Any] | None) -> Calibration | None:
    values = {field.name: (calibration or {}).get(field.name) for field in fields(Calibration)}
    usable = {
        name: float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and math.isfinite(value)
    }
    return Calibration(**usable) if len(usable) == len(values) else None
