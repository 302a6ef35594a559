"""A model of one's own judges claims; numbers, names and negations stay the words' business."""

from pathlib import Path
from threading import Event

import pytest
from django.core.exceptions import ImproperlyConfigured

from knowlex.environment import read_environment
from rag.answering import lifecycle
from rag.citations.judge import WordJudge
from rag.judges.nli import NliJudge
from rag.local_models import ModelFailed
from rag.protocols import ClaimJudge, ModelBacked
from rag.types.claims import Claim
from rag.types.context import Block
from tests.citations.nli_model import make_nli_model

TOWER = Block("The tower in Paris stands 330 metres tall and is painted brown every seven years.", (), "en")
PARAPHRASE = "Every seven years the tower is recoloured brown."  # words do not know "recoloured"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_nli_model(tmp_path_factory.mktemp("nli"), biases=(0, 0, 6))


@pytest.fixture
def judge(folder: Path) -> NliJudge:
    return NliJudge(model=str(folder), timeout_s=30)


async def state(judge: ClaimJudge, claim: str, *blocks: Block) -> str | None:
    return (await judge.judge(Claim(claim, (1,)), blocks or (TOWER,))).support


async def test_the_model_supports_what_the_words_leave_unverified(judge: NliJudge) -> None:
    plain, told = await state(WordJudge(), PARAPHRASE), await judge.judge(Claim(PARAPHRASE, (1,)), [TOWER])
    (finding,) = told.findings
    assert [plain, finding.support] == ["unverified", "supported"]
    assert TOWER.content[finding.start : finding.end] == TOWER.content


@pytest.mark.parametrize(
    "claim",
    [
        "Every eight years the tower is painted brown.",
        "The tower in London stands 330 metres tall.",
        "The tower in Paris does not stand 330 metres tall and is painted brown every seven years.",
        'Every seven years the tower is painted "dark brown".',
    ],
)
async def test_no_model_saves_an_altered_fact(judge: NliJudge, claim: str) -> None:
    judgement = await judge.judge(Claim(claim, (1,)), [TOWER])
    assert judgement.missing
    assert judgement.support is None


async def test_what_the_model_sees_contradicted_is_so_unless_it_stands_word_for_word(tmp_path: Path) -> None:
    judge = NliJudge(model=str(make_nli_model(tmp_path, biases=(50, 0, 0))), timeout_s=30)
    assert (await judge.judge(Claim(PARAPHRASE, (1,)), [TOWER])).missing == (PARAPHRASE,)
    assert await state(judge, TOWER.content) == "exact"


async def test_a_model_that_fails_or_is_slow_leaves_the_state_of_the_words(
    judge: NliJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ModelFailed("no memory")

    monkeypatch.setattr(judge, "_chances", fails)
    assert await state(judge, PARAPHRASE) == "unverified"

    never = Event()
    slow = NliJudge(model=str(judge._folder), timeout_s=0.05)
    monkeypatch.setattr(slow, "_chances", lambda pairs, stop: stop.wait(20) or never.is_set())
    assert await state(slow, PARAPHRASE) == "unverified"


async def test_it_is_backed_by_a_model_that_is_checked_at_the_start(judge: NliJudge) -> None:
    assert isinstance(judge, ModelBacked)
    judge.check()
    assert await judge.state() == "loaded"


@pytest.mark.parametrize("labels", [{"0": "yes", "1": "no", "2": "maybe"}, {"0": "entailment"}])
def test_a_model_without_the_labels_is_refused(tmp_path: Path, labels: dict[str, str]) -> None:
    make_nli_model(tmp_path, labels=labels)
    with pytest.raises(ValueError, match="entailment and contradiction"):
        NliJudge(model=str(tmp_path))


def test_a_model_with_other_outputs_is_refused_by_the_variables_name(tmp_path: Path, settings) -> None:  # type: ignore[no-untyped-def]
    folder = make_nli_model(tmp_path, labels={"0": "contradiction", "1": "entailment"})
    part = {"class": f"{NliJudge.__module__}.NliJudge", "options": {"model": str(folder)}}
    settings.KNOWLEX = settings.KNOWLEX | {"CLAIM_JUDGE": part}
    with pytest.raises(ImproperlyConfigured, match=r"KNOWLEX_CLAIM_JUDGE_MODEL: .*3 numbers"):
        lifecycle.ensure_claim_judge_works()


def test_the_environment_must_name_its_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KNOWLEX_CLAIM_JUDGE", "nli")
    monkeypatch.setenv("KNOWLEX_CLAIM_JUDGE_MODEL", str(tmp_path / "nowhere"))
    with pytest.raises(ImproperlyConfigured, match="KNOWLEX_CLAIM_JUDGE_MODEL: must name the folder"):
        read_environment()
