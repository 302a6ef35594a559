"""How faithful an answer is: one number of what was found of its claims."""

import pytest

from rag.types.claims import Verdict, faithfulness

HALF = {"supported": 1, "unverified": 2, "contradicted": 1}


def test_verified_claims_count_and_contradicted_and_uncited_ones_do_not() -> None:
    assert faithfulness({"exact": 1, "supported": 1}) == 1
    assert faithfulness({"exact": 1, "contradicted": 1}) == 0.5
    assert faithfulness({"supported": 1, "uncited": 3}) == 0.25
    assert faithfulness({"contradicted": 2}) == 0


@pytest.mark.parametrize(
    ("verdicts", "share"),
    [
        ((), 0.5),  # nobody has read them: half each
        (("supported",), 0.625),
        (("supported", "supported"), 0.75),
        (("supported", "contradicted"), 0.5),
        (("unverified", "unverified"), 0.25),
    ],
)
def test_an_unverified_claim_counts_by_the_model_that_read_it(
    verdicts: tuple[Verdict, ...], share: float
) -> None:
    assert faithfulness(HALF, verdicts) == share


def test_an_answer_that_claims_nothing_or_was_never_counted_has_none() -> None:
    assert faithfulness({"exact": 0, "uncited": 0}) is None
    assert faithfulness({}) is None
