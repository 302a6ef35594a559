"""How much of an answer its passages support."""

import pytest

from rag.citations.faithfulness import Faithfulness, claims_in, faithfulness
from rag.citations.judge import WordJudge
from rag.types import Block

BLOCKS = (
    Block("The tower is 330 metres tall. It was finished in 1889.", (), "en"),
    Block("Its painters use 60 tonnes of paint every seven years.", (), "en"),
)


async def judged(answer: str, blocks: tuple[Block, ...] = BLOCKS) -> Faithfulness:
    return await faithfulness(answer, blocks, WordJudge())


async def test_the_share_of_the_claims_that_any_passage_supports() -> None:
    answer = (
        "The tower is 330 metres tall [1]. It was finished in 1890. [1]"
        " Its painters use 60 tonnes of paint every seven years [2]."
    )
    found = await judged(answer)
    assert found.claims == 3
    assert found.share == pytest.approx(2 / 3)
    assert found.unsupported == ("It was finished in 1890.",)


async def test_what_is_only_unverified_is_not_supported() -> None:
    found = await judged("Every few years 60 tonnes of paint are needed [2].")
    assert (found.share, found.unsupported) == (0, ("Every few years 60 tonnes of paint are needed.",))


async def test_an_answer_that_claims_nothing_has_no_share() -> None:
    assert (await judged("Yes. Here it is:")).share is None
    assert (await judged("", ())).share is None


async def test_without_passages_nothing_is_supported() -> None:
    assert (await judged("The tower is 330 metres tall.", ())).share == 0


async def test_items_of_a_list_are_claims_of_their_own() -> None:
    answer = "Of the tower:\n- The tower is 330 metres tall [1]\n- It was finished in 1889 [1]"
    assert list(claims_in(answer)) == ["- The tower is 330 metres tall", "- It was finished in 1889"]
    assert (await judged(answer)).share == 1
