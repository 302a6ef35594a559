"""The relevance of passages: weights that ship, or that a model stores, applied to their features."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from embeddings.lexical.languages import detect_question_languages
from rag.ranking.logits import CERTAIN, logistic
from rag.relevance.features import Described, Features, describe
from rag.types.retrieval import Passage, Retrieval

# Not in what was stored before.
_SINCE_SENTENCES = {"sentence_similarity", "names", "margin", "subject", "defined", "reranked"}
# By how much the logit falls where the document knows nothing of whom or what the question names. No other
# weight was fitted to such questions; the likelihood is flat between 8 and 11 (docs/evaluation.md).
SUBJECT = 9.0
# By how much it rises where a passage says what the thing is that is asked for: too seldom in the data to be
# fitted, and never seen where there was no answer.
DEFINED = 2.0
RERANKED = "reranked_"  # before the names of the weights that count on a reranker's score


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of the features; a weight of 0 leaves one out. A subject that is held changes nothing."""

    intercept: float
    similarity: float
    sentence: float
    coverage: float
    evidence: float
    sentence_similarity: float = 0.0
    names: float = 0.0
    margin: float = 0.0
    subject: float = SUBJECT
    defined: float = DEFINED
    reranked: float = 0.0

    def probability(self, features: Features) -> float:
        return logistic(self.logit(features))

    def logit(self, features: Features) -> float:
        return (
            self.intercept
            + self.similarity * features.similarity
            + self.sentence * features.sentence
            + self.coverage * features.coverage
            + self.evidence * features.evidence
            + self.sentence_similarity * features.sentence_similarity
            + self.names * features.names
            + self.margin * features.margin
            + self.subject * (features.subject - 1)
            + self.defined * features.defined
            + self.reranked * features.reranked
        )


# Fitted by benchmarks/evaluation/fit_relevance.py; data, folds and errors in docs/evaluation.md.
FITTED = {
    "all-MiniLM-L6-v2": Calibration(
        intercept=-13.59,
        similarity=3.02,
        sentence=2.20,
        coverage=2.25,
        evidence=2.10,
        sentence_similarity=3.10,
        names=1.01,
        margin=4.67,
    ),
    "multilingual-e5-small": Calibration(
        intercept=-11.90,
        similarity=1.98,
        sentence=2.54,
        coverage=1.77,
        evidence=1.20,
        sentence_similarity=1.56,
        names=1.17,
        margin=5.97,
    ),
}
# For a document in another language than English, asked in its own. Fitted, as FOREIGN, on the half for it of
# benchmarks/evaluation/languages.py; how good they are is in docs/evaluation.md.
OWN_LANGUAGE = {
    "multilingual-e5-small": Calibration(
        intercept=-6.59,
        similarity=2.71,
        sentence=1.09,
        coverage=2.51,
        evidence=0.18,
        sentence_similarity=4.45,
        names=0.01,
        margin=3.38,
    )
}
# For a passage in another language than the question's, where words say little.
FOREIGN = {
    "multilingual-e5-small": Calibration(
        intercept=-4.46,
        similarity=3.24,
        sentence=0.0,
        coverage=0.95,
        evidence=0.29,
        sentence_similarity=6.76,
        names=0.46,
        margin=3.66,
        subject=0.0,
    )
}
# What is added to the logit for the languages of question and document: the cosines of some pairs are lower
# than those of others. So that about 97 of 100 questions that no document answers are refused in both halves,
# and more where that costs hardly a right answer: it keeps silent documents silent.
LEVELS = {
    "multilingual-e5-small": {
        ("ar", "ar"): -1.5,
        ("de", "de"): 0.4,
        ("es", "es"): -0.4,
        ("zh", "zh"): -0.3,
        ("ar", "en"): 0.3,
        ("es", "en"): -0.4,
        ("zh", "en"): -0.2,
        ("en", "ar"): 0.7,
        ("en", "de"): -0.4,
        ("en", "es"): -0.6,
        ("en", "zh"): 1.0,
        ("es", "de"): -0.2,
    }
}
# The same without cosines, for models whose cosines nobody has looked at and for searches by words alone. The
# intercept is 0.25 above the fitted one: two of a question's three words, all that a few chunks can show, are
# then enough.
WORDS_ONLY = Calibration(
    intercept=-11.66, similarity=0.0, sentence=4.85, coverage=3.56, evidence=3.02, names=1.84
)


def reranked_weights(rerank_model: str, calibration: Mapping[str, Any] | None) -> Calibration | None:
    """Return those stored for this model's scores; None for another's, and for no model at all."""
    if not calibration or not rerank_model or calibration.get("reranker") != rerank_model:
        return None
    return _stored({k.removeprefix(RERANKED): v for k, v in calibration.items() if k.startswith(RERANKED)})


def weights_for(model_name: str, calibration: Mapping[str, Any] | None) -> Calibration:
    return _stored(calibration) or FITTED.get(model_name, WORDS_ONLY)


def level_of(calibration: Mapping[str, Any] | None) -> float:
    level = (calibration or {}).get("level", 0.0)
    return float(level) if isinstance(level, int | float) and math.isfinite(level) else 0.0


def _stored(calibration: Mapping[str, Any] | None) -> Calibration | None:
    if not calibration:
        return None
    values = {field.name: calibration.get(field.name) for field in fields(Calibration)}
    usable = {
        name: float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and math.isfinite(value)
    }
    missing = values.keys() - usable.keys()
    return None if missing - (_SINCE_SENTENCES - calibration.keys()) else Calibration(**usable)


SAME_TEXT = 1e-4  # cosine distance; float32 sums of one text differ by less
SUREST = 6.9  # logit of .999: how much two judges can outweigh each other


def assess(question_text: str, retrieval: Retrieval, calibration: Mapping[str, Any] | None) -> Retrieval:
    """Return the retrieval with `relevance` and `sentences` filled in, order kept.

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
        relevance = weighed.relevance(described, asked)
        judged.append(passage._replace(relevance=relevance, sentences=described.sentences))
    return replace(retrieval, passages=tuple(judged))


@dataclass(frozen=True, slots=True)
class _Weights:
    """usual: without a reranker's score; own: for a document in another language than English; foreign: for
    one in another than the question's; levels: by both; reranked: fitted to the score; level: of this
    installation (`fitting.fit_level`).
    """

    usual: Calibration
    own: Calibration | None
    foreign: Calibration | None
    levels: Mapping[tuple[str, str], float]
    reranked: Calibration | None
    level: float = 0.0

    @classmethod
    def of(cls, retrieval: Retrieval, calibration: Mapping[str, Any] | None) -> "_Weights":
        name = retrieval.model_name
        usual, foreign, levels = weights_for(name, calibration), FOREIGN.get(name), LEVELS.get(name, {})
        if all(passage.distance is None for passage in retrieval.passages):
            return cls(WORDS_ONLY, None, foreign, levels, None)
        own = OWN_LANGUAGE.get(name) if usual == FITTED.get(name) else None
        reranked = reranked_weights(retrieval.rerank_model, calibration)
        return cls(usual, own, foreign, levels, reranked, level_of(calibration))

    def relevance(self, described: Described, asked: tuple[str, ...]) -> float:
        passage = described.passage
        if passage.distance is not None and passage.distance <= SAME_TEXT and described.whole:
            return CERTAIN
        return logistic(self._logit(described, asked) + self.level)

    def _logit(self, described: Described, asked: tuple[str, ...]) -> float:
        passage, features = described.passage, described.features
        language, is_foreign = passage.language or "en", _is_other(asked, passage)
        if self.foreign and is_foreign:
            level = next(
                (self.levels[pair] for code in asked if (pair := (code, language)) in self.levels), 0.0
            )
            logit = max(self.usual.logit(features), self.foreign.logit(features) + level)
        elif self.reranked and described.is_scored:
            return self.reranked.logit(features)
        elif self.own and language != "en":
            logit = self.own.logit(features) + self.levels.get((language, language), 0.0)
        else:
            logit = self.usual.logit(features)
        if described.is_scored:
            logit = (min(max(logit, -SUREST), SUREST) + features.reranked) / 2
        return logit


def is_foreign(question_text: str, passage: Passage) -> bool:
    """Return whether the question seems to be in another language than the passage; False where it is
    unclear.
    """
    return _is_other(detect_question_languages(question_text), passage)


def _is_other(asked: tuple[str, ...], passage: Passage) -> bool:
    """Return whether the passage is in none of `asked`, the languages that the question may be in."""
    return bool(asked) and (passage.language or "en") not in asked
