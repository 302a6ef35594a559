"""One suite for the Protocol ClaimJudge, over all that there are; what each does of its own: tests/checking,
tests/service.
"""

from pathlib import Path

import pytest

from rag.citations.judge import WordJudge
from rag.judges.nli import NliJudge
from rag.protocols import ClaimJudge
from rag.service.judging import SummaryJudge
from rag.types import Block
from tests.citations.nli_model import make_nli_model

TOWER = Block("The tower in Paris stands 330 metres tall. It is painted brown every seven years.", (), "en")
BREAD = Block("Bread bakes for an hour in a hot oven.", (), "en")


@pytest.fixture(scope="module")
def entailing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that takes everything for entailed: nothing false may get through even so."""
    return make_nli_model(tmp_path_factory.mktemp("nli"), biases=(0, 0, 6))


@pytest.fixture(params=["words", "summaries", "nli"])
def judge(request: pytest.FixtureRequest, entailing: Path) -> ClaimJudge:
    if request.param == "nli":
        return NliJudge(model=str(entailing), timeout_s=30)
    return WordJudge() if request.param == "words" else SummaryJudge()


async def test_what_stands_word_for_word_is_exact_and_found(judge: ClaimJudge):
    (verdict,) = await judge.judge("The tower in Paris stands 330 metres tall.", [TOWER])
    assert verdict.support == "exact"
    assert TOWER.content[verdict.start : verdict.end] == "The tower in Paris stands 330 metres tall."
    assert verdict.share == 1.0


async def test_each_text_has_a_verdict_in_the_order_of_the_texts(judge: ClaimJudge):
    bread, tower = await judge.judge("It is painted brown every seven years.", [BREAD, TOWER])
    assert (tower.support, tower.share > bread.share) == ("exact", True)
    assert TOWER.content[tower.start : tower.end] == "It is painted brown every seven years."


@pytest.mark.parametrize(
    "claim",
    [
        "The tower in Paris stands 331 metres tall.",
        "The tower in London stands 330 metres tall.",
        "The tower in Paris stands 330 feet tall.",
        "The tower in Paris does not stand 330 metres tall.",
        "It is painted brown every eight years.",
    ],
)
async def test_an_altered_fact_is_supported_by_nothing(judge: ClaimJudge, claim: str):
    assert [verdict.support for verdict in await judge.judge(claim, [TOWER, BREAD])] == [None, None]


async def test_nothing_to_look_at_is_no_verdict(judge: ClaimJudge):
    assert await judge.judge("The tower stands 330 metres tall.", []) == []
