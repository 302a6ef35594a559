"""The figures of a ranking and of a set, against values worked out by hand."""

import math

import pytest

from rag.evaluation.metrics import GradedRanking, hit, mean, ndcg, percentile, recall, reciprocal_rank
from rag.relevance.reliability import wilson

THIRD = GradedRanking((0.0, 0.0, 1.0, 0.0))
NOWHERE = GradedRanking((0.0,) * 10)
GRADED = GradedRanking((3.0, 0.0, 1.0), (3.0, 2.0, 1.0))  # the target of grade 2 was not found


def test_one_target_in_the_third_place() -> None:
    assert (hit(THIRD, 2), hit(THIRD, 3), recall(THIRD, 3)) == (0, 1, 1)
    assert reciprocal_rank(THIRD) == pytest.approx(1 / 3)
    assert ndcg(THIRD) == 0.5  # 1 / log2(4)


def test_what_is_not_found_counts_nothing() -> None:
    assert [f(NOWHERE, 10) for f in (hit, recall, reciprocal_rank, ndcg)] == [0, 0, 0, 0]
    assert ndcg(GradedRanking((), ())) == recall(GradedRanking((), ()), 5) == 0


def test_grades_of_several_targets() -> None:
    assert recall(GRADED, 1) == pytest.approx(1 / 3)
    assert recall(GRADED, 10) == pytest.approx(2 / 3)
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert ndcg(GRADED) == pytest.approx((3 + 1 / 2) / ideal)
    assert ndcg(GRADED, 1) == 1.0


def test_a_relevant_result_after_the_cut_is_none() -> None:
    late = GradedRanking((*[0.0] * 10, 1.0))
    assert (hit(late, 10), hit(late, 11), reciprocal_rank(late, 10), ndcg(late, 10)) == (0, 1, 0, 0)


def test_means_and_percentiles() -> None:
    assert mean([1, 0, 1, 1]) == 0.75
    assert mean([]) is percentile([], 0.5) is None
    assert percentile([4, 1, 3, 2], 0.5) == 2.5
    assert percentile([10, 20, 30], 0.95) == pytest.approx(29)


def test_wilson_intervals() -> None:
    low, high = wilson(98, 100) or (0, 0)
    assert (round(low, 3), round(high, 3)) == (0.930, 0.994)
    assert wilson(0, 0) is None
    assert wilson(0, 10) == (0, pytest.approx(0.278, abs=0.001))
    assert wilson(10, 10) == (pytest.approx(0.722, abs=0.001), pytest.approx(1))
