"""One suite for the Protocol ClaimJudge, over all that there are; the rest of each: tests/citations."""

from pathlib import Path

import pytest

from rag.citations.judge import WordJudge
from rag.judges.nli import NliJudge
from rag.protocols import ClaimJudge
from rag.types.claims import Claim
from rag.types.context import Block
from tests.citations.nli_model import make_nli_model

TOWER = Block("The tower in Paris stands 330 metres tall. It is painted brown every seven years.", (), "en")
BREAD = Block("Bread bakes for an hour in a hot oven.", (), "en")


@pytest.fixture(scope="module")
def entailing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that takes everything for entailed: nothing false may be supported even so."""
    return make_nli_model(tmp_path_factory.mktemp("nli"), biases=(0, 0, 6))


@pytest.fixture(params=["words", "nli"])
def judge(request: pytest.FixtureRequest, entailing: Path) -> ClaimJudge:
    return NliJudge(model=str(entailing), timeout_s=30) if request.param == "nli" else WordJudge()


async def test_what_stands_word_for_word_is_exact_and_found(judge: ClaimJudge):
    judgement = await judge.judge(Claim("The tower in Paris stands 330 metres tall.", (1,)), [TOWER])
    (finding,) = judgement.findings
    assert (judgement.support, judgement.missing) == ("exact", ())
    assert TOWER.content[finding.start : finding.end] == "The tower in Paris stands 330 metres tall."


async def test_a_block_that_does_not_say_it_gives_way_to_one_that_does(judge: ClaimJudge):
    claim = Claim("It is painted brown every seven years.", (1,))
    (finding,) = (await judge.judge(claim, [BREAD, TOWER])).findings
    assert (finding.block, finding.support) == (2, "exact")
    assert TOWER.content[finding.start : finding.end] == "It is painted brown every seven years."


async def test_a_claim_that_cites_nothing_is_looked_for_everywhere(judge: ClaimJudge):
    (finding,) = (await judge.judge(Claim("It is painted brown every seven years."), [BREAD, TOWER])).findings
    assert (finding.block, finding.support) == (2, "exact")


@pytest.mark.parametrize(
    ("claim", "missing"),
    [
        ("The tower in Paris stands 331 metres tall.", "331 metres"),
        ("The tower in London stands 330 metres tall.", "London"),
        ("The tower in Paris stands 330 feet tall.", "330 feet"),
        ("The tower in Paris does not stand 330 metres tall.", "not"),
        ("It is painted brown every eight years.", "eight years"),
    ],
)
async def test_an_altered_fact_is_contradicted(judge: ClaimJudge, claim: str, missing: str):
    judgement = await judge.judge(Claim(claim, (1,)), [TOWER, BREAD])
    assert (judgement.findings, judgement.missing) == ((), (missing,))


async def test_without_blocks_nothing_is_found(judge: ClaimJudge):
    judgement = await judge.judge(Claim("The tower stands tall.", (1,)), [])
    assert (judgement.findings, judgement.support, judgement.is_verified) == ((), None, False)
