"""Makes the calibration that an embedding model stores, from labelled pairs. Plain Python."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from embeddings.protocols import Embedder
from knowlex.base.errors import InvalidInput
from rag.ranking.logits import logit_of
from rag.relevance.assessment import RERANKED, level_of
from rag.relevance.fitting import (
    Labelled,
    Pair,
    area_under_curve,
    described_pairs,
    fit,
    fit_level,
    unseen_chances,
)
from rag.relevance.reliability import calibration_error
from rag.rerankers.by_model import ModelReranker

FEWEST = 50  # pairs of each label; fewer say little about eight numbers
FEWEST_QUESTIONS = 10  # of each kind


def calibrate(
    labelled: Sequence[Labelled], embedder: Embedder, reranker: ModelReranker | None = None, *, source: str
) -> dict[str, Any]:
    """Return the weights by name, and "fitted_at", "pairs", "relevant", "source", "calibration_error", "auc",
    "base" and "spread", by a user's own pairs.

    Error and area are by weights that had not seen the pairs' questions (8 folds); base and spread are of the
    model's cosines.
    reranker: "reranker" names its model then, and the weights, error and area that count on its scores are
    there once more, as "reranked_...": without its score the others are needed.
    Blocking; raises InvalidInput (too few pairs), ValueError (a fold's other questions have one label only),
    RerankFailed, and as `Embedder.embed`.
    """
    _check_enough([one.relevant for one in labelled])
    pairs, scale = described_pairs(labelled, embedder, reranker)
    found = {
        **_fitted(pairs, {"reranked"}),
        "fitted_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "pairs": len(pairs),
        "relevant": sum(pair.relevant for pair in pairs),
        "source": source,
        "base": round(scale.base, 4),
        "spread": round(scale.spread, 4),
    }
    if reranker:
        reranked = {f"{RERANKED}{name}": value for name, value in _fitted(pairs).items()}
        found |= {"reranker": reranker.model, **reranked}
    return found


def _fitted(pairs: Sequence[Pair], without: Collection[str] = ()) -> dict[str, Any]:
    chances, labels = unseen_chances(pairs, without=without), [pair.relevant for pair in pairs]
    weights = {name: round(value, 3) for name, value in asdict(fit(pairs, without=without)).items()}
    return {
        **weights,
        "calibration_error": round(calibration_error(chances, labels), 3),
        "auc": round(area_under_curve(chances, labels), 3),
    }


def level_by_questions(
    judged: Sequence[tuple[float, bool]], before: Mapping[str, Any] | None, *, source: str
) -> dict[str, Any]:
    """Return `before` with the "level" that fits the questions, and what these were.

    judged: the relevance of each question's best passage by `before`, and whether a passage answers it.
    Raises InvalidInput (too few questions).
    """
    answered = [is_answered for _, is_answered in judged]
    if min(sum(answered), len(answered) - sum(answered)) < FEWEST_QUESTIONS:
        raise InvalidInput(
            f"At least {FEWEST_QUESTIONS} questions whose answer is found and {FEWEST_QUESTIONS} that "
            f"nothing answers are needed; there are {sum(answered)} and {len(answered) - sum(answered)}."
        )
    logits = [logit_of(relevance) - level_of(before) for relevance, _ in judged]
    return {
        **(before or {}),
        "level": round(fit_level(logits, answered), 3),
        "fitted_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "questions": len(answered),
        "answered": sum(answered),
        "source": source,
    }


def _check_enough(labels: Sequence[bool]) -> None:
    relevant = sum(labels)
    if min(relevant, len(labels) - relevant) < FEWEST:
        raise InvalidInput(
            f"At least {FEWEST} relevant and {FEWEST} irrelevant pairs are needed; "
            f"there are {relevant} and {len(labels) - relevant}."
        )
