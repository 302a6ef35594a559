"""Weights from labelled pairs."""

import random

import pytest

from rag.relevance.features import Features
from rag.relevance.fitting import COSINES, Pair, fit, fit_level
from rag.relevance.reliability import calibration_error


def pairs(number: int, *, misleading_cosine: bool = False) -> list[Pair]:
    """Relevant pairs hold more of the question; the two kinds overlap a little."""
    rng = random.Random(7)
    made = []
    for n in range(number):
        relevant = n % 3 == 0
        held = min(1.0, max(0.0, rng.gauss(0.75 if relevant else 0.25, 0.15)))
        cosine = rng.gauss(0.3 if relevant and misleading_cosine else 0.5, 0.1)
        made.append(Pair(Features(max(0.0, cosine), held, held, 3 * held), relevant))
    return made


def test_fitted_weights_tell_relevant_pairs_from_others() -> None:
    weights = fit(pairs(300))
    right = [(weights.probability(p.features) > 0.5) == p.relevant for p in pairs(300)]
    assert sum(right) / len(right) > 0.93


def test_what_is_told_comes_true() -> None:
    sample = pairs(600)
    balanced = [p for p in sample if p.relevant] * 2 + [p for p in sample if not p.relevant]
    weights = fit(sample)
    chances = [weights.probability(p.features) for p in balanced]
    assert calibration_error(chances, [p.relevant for p in balanced]) < 0.05


def test_a_weight_that_would_be_negative_is_left_out() -> None:
    weights = fit(pairs(300, misleading_cosine=True))
    assert weights.similarity == 0.0
    assert weights.sentence > 0


def test_the_cosine_can_be_left_out() -> None:
    assert fit(pairs(300), without=COSINES).similarity == 0.0


def test_a_pair_that_counts_twice_is_two_pairs() -> None:
    sample = pairs(60)
    doubled = fit([*sample, *sample])
    assert fit([Pair(p.features, p.relevant, 2.0) for p in sample]).sentence == pytest.approx(
        doubled.sentence
    )


def test_pairs_of_one_kind_cannot_be_fitted() -> None:
    with pytest.raises(ValueError, match="Both"):
        fit([p for p in pairs(30) if p.relevant])


def test_a_level_falls_where_questions_without_an_answer_reach_the_threshold() -> None:
    answered, unanswered = [3.0] * 30, [2.5] * 20  # the default threshold is 1.39
    labels = [True] * 30 + [False] * 20
    level = fit_level([*answered, *unanswered], labels)
    assert level < 0
    assert fit_level([-1.0] * 30 + [-4.0] * 20, labels) > 0  # it rises where all are refused


def test_few_questions_move_a_level_less_than_many() -> None:
    few, many = (fit_level([3.0, 2.5] * n, [True, False] * n) for n in (10, 200))
    assert many < few < 0


def test_a_level_that_fits_stays() -> None:
    logits = [1.39 + step / 10 for step in range(-20, 21)]
    assert fit_level(logits * 2, [True] * 41 + [False] * 41) == pytest.approx(0, abs=0.05)


def test_perfect_chances_have_no_calibration_error() -> None:
    assert calibration_error([0.0, 1.0, 1.0], [False, True, True]) == 0.0
    assert calibration_error([1.0, 1.0], [False, False]) == 1.0
