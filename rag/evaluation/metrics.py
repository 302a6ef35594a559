"""How good a ranking, and a set of answers, is: the usual figures. Plain Python.

A ranking comes as `Ranked`, what `judging.ranked` makes of the passages that were found for a question. All
figures of one question lie in [0, 1], higher is better; those of a set are their means.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GradedRanking:
    """A ranking by grades. gains: the grade of each result, 0 for an irrelevant one; each target counts once.

    ideal: the grades of all targets, best first: what a perfect ranking would begin with. Where only the
    place of the answer is known there is one target, of grade 1, which the first relevant passage holds.
    """

    gains: tuple[float, ...]
    ideal: tuple[float, ...] = (1.0,)

    @property
    def rank(self) -> int:
        """Return the rank of the first relevant result, from 1; 0 if there is none."""
        return next((rank for rank, gain in enumerate(self.gains, start=1) if gain > 0), 0)


def hit(ranked: GradedRanking, k: int) -> float:
    """Compute hit@k (success@k): 1 if one of the first k results is relevant, else 0."""
    return float(0 < ranked.rank <= k)


def recall(ranked: GradedRanking, k: int) -> float:
    """Compute recall@k: the share of the relevant targets that stand among the first k results.

    |relevant ∩ first k| / |relevant|; equals hit@k where there is one target. 0 without any target.
    Source: Manning, Raghavan, Schütze, Introduction to Information Retrieval, 8.3.
    """
    found = sum(gain > 0 for gain in ranked.gains[:k])
    return found / len(ranked.ideal) if ranked.ideal else 0.0


def reciprocal_rank(ranked: GradedRanking, k: int = 10) -> float:
    """Compute RR@k: 1 / rank of the first relevant result, 0 if it comes after k; its mean is MRR@k.

    Source: Voorhees, The TREC-8 Question Answering Track Report, 1999.
    """
    return 1 / ranked.rank if hit(ranked, k) else 0.0


def ndcg(ranked: GradedRanking, k: int = 10) -> float:
    """Compute nDCG@k: DCG of the ranking over that of the ideal one; DCG@k = sum of grade / log2(1 + rank).

    With grades themselves as gains, as trec_eval and BEIR take them, not 2^grade - 1.
    Source: Järvelin, Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002.
    """
    best = _dcg(ranked.ideal, k)
    return _dcg(ranked.gains, k) / best if best else 0.0


def mean(values: Iterable[float]) -> float | None:
    """Compute the mean; None of nothing."""
    held = list(values)
    return math.fsum(held) / len(held) if held else None


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return the value below which this share [0, 1] lies, interpolated; None of nothing.

    Definition 7 of Hyndman and Fan, 1996; NumPy's default.
    """
    if not values:
        return None
    ordered, place = sorted(values), (len(values) - 1) * share
    low, high = math.floor(place), math.ceil(place)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _dcg(grades: Sequence[float], k: int) -> float:
    return math.fsum(grade / math.log2(1 + rank) for rank, grade in enumerate(grades[:k], start=1))
