"""The weights of the fusion, as the README says them."""

from uuid import UUID

import pytest

from rag.retrievers.widened import HYPOTHETICAL_WEIGHT, PHRASING_WEIGHT, PLAIN_WEIGHT, Ranking, fuse_rankings

A, B, C = (UUID(int=n) for n in (1, 2, 3))


def test_each_ranking_adds_its_weight_over_k_plus_rank():
    scores = fuse_rankings([Ranking(1.0, [A, B]), Ranking(0.5, [C, A])], rrf_k=60)
    assert scores == {
        A: pytest.approx(1 / 61 + 0.5 / 62),
        B: pytest.approx(1 / 62),
        C: pytest.approx(0.5 / 61),
    }
    assert list(scores) == [A, B, C]


def test_all_variants_together_weigh_as_much_as_the_question():
    variants = [Ranking(HYPOTHETICAL_WEIGHT, [B])] + [Ranking(PHRASING_WEIGHT, [B])] * 3
    scores = fuse_rankings([Ranking(PLAIN_WEIGHT, [A]), *variants], rrf_k=60)
    assert scores[A] == pytest.approx(scores[B])
    assert next(iter(scores)) == A
    assert list(fuse_rankings([Ranking(PLAIN_WEIGHT, [A]), *variants[1:]], rrf_k=60)) == [A, B]
