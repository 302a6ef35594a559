"""How much of an answer its passages support."""

import pytest

from rag.checking.faithfulness import claims_in, faithfulness
from rag.types import Block

BLOCKS = (
    Block("The tower is 330 metres tall. It was finished in 1889.", (), "en"),
    Block("Its painters use 60 tonnes of paint every seven years.", (), "en"),
)


def test_the_share_of_the_claims_that_any_passage_supports() -> None:
    answer = (
        "The tower is 330 metres tall [1]. It was finished in 1890. [1] Painters use 60 tonnes of paint [2]."
    )
    found = faithfulness(answer, BLOCKS)
    assert found.claims == 3
    assert found.share == pytest.approx(2 / 3)
    assert found.unsupported == ("It was finished in 1890.",)


def test_an_answer_that_claims_nothing_has_no_share() -> None:
    assert faithfulness("Yes. Here it is:", BLOCKS).share is None
    assert faithfulness("", ()).share is None


def test_without_passages_nothing_is_supported() -> None:
    assert faithfulness("The tower is 330 metres tall.", ()).share == 0


def test_items_of_a_list_are_claims_of_their_own() -> None:
    answer = "The tower:\n- is 330 metres tall [1]\n- was finished in 1889 [1]"
    assert list(claims_in(answer)) == ["- is 330 metres tall", "- was finished in 1889"]
    assert faithfulness(answer, BLOCKS).share == 1
