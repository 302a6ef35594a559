"""One ranking out of the plain search's and those of the variants. Plain Python."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

# The plain ranking weighs as much as all the others together, and each phrasing half of the hypothetical
# answer: what the question itself finds first stays first unless they agree on something else.
# Of a variant only the first DEPTH count: further down stands what any words would bring.
DEPTH = 10
PLAIN_WEIGHT, HYPOTHETICAL_WEIGHT, PHRASING_WEIGHT = 1.0, 0.4, 0.2


class Ranking(NamedTuple):
    """ids: best first."""

    weight: float
    ids: Sequence[UUID]


def fused(rankings: Sequence[Ranking], *, rrf_k: int) -> dict[UUID, float]:
    """Reciprocal rank fusion: weight / (k + rank), summed over the rankings that hold the id, rank from 1.

    Best first; ties keep the order of first appearance, the plain ranking's first.
    """
    scores: dict[UUID, float] = {}
    for weight, ids in rankings:
        for rank, id_ in enumerate(ids, start=1):
            scores[id_] = scores.get(id_, 0.0) + weight / (rrf_k + rank)
    return dict(sorted(scores.items(), key=lambda scored: -scored[1]))
