"""The admin shows sets, runs, figures and the picture; a summary's figures against values by hand."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from rag.evaluation.outcomes import Outcome
from rag.evaluation.runner import summarise_run
from rag.evaluation.summary import bootstrap, compare_outcomes, summarise, summarise_groups
from rag.evaluation.types import Case
from rag.models import Evaluation, EvaluationResult, QuestionSet, SetQuestion
from rag.relevance.reliability import bins, calibration_error

HOSTILE = "<script>alert(1)</script>"


def outcome(right: float, told: float = 0.9) -> Outcome:
    values = {"hit@1": right, "ndcg@10": right / 2, "answer_accuracy": right, "false_abstention": 1 - right}
    return Outcome(values=values, judged=[(told, right == 1)], latency_ms=10.0 + right)


def test_figures_of_a_set():
    summary = summarise([outcome(1), outcome(1), outcome(0), Outcome(error="broken")])

    assert (summary["questions"], summary["errors"]) == (4, 1)
    assert summary["metrics"]["hit@1"] == {"value": 0.6667, "low": 0.2077, "high": 0.9385, "n": 3}
    assert summary["metrics"]["ndcg@10"]["value"] == 0.3333
    assert summary["metrics"]["latency_p50_ms"]["value"] == 11
    assert summary["calibration_error"] == pytest.approx(0.2333, abs=1e-4)
    assert "page_right" not in summary["metrics"]


def abstained(share: float) -> Outcome:
    return Outcome(values={"abstention_on_unanswerable": share})


ASKED = [  # a case, and what became of it
    (Case("1", "?", document="a.pdf", tags=("manual", "short")), outcome(1)),
    (Case("2", "?", document="b.pdf", tags=("manual",), lang="de", document_lang="en"), outcome(0)),
    (Case("3", "?", document="a.pdf", answerable=False, tags=("manual",)), abstained(0)),
    (Case("4", "?", answerable=False), abstained(1)),
]


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("tag", {"all": 4, "": 1, "manual": 3, "short": 1}),
        ("document", {"all": 4, "": 1, "a.pdf": 2, "b.pdf": 1}),
        ("lang", {"all": 4, "de of en": 1, "en": 3}),
    ],
)
def test_figures_by_group(by: str, groups: dict[str, int]):
    found = summarise_groups(*zip(*ASKED, strict=True), by=by)

    assert {name: one["questions"] for name, one in found.items()} == groups
    assert list(found) == list(groups)


def test_abstention_on_silent_questions_is_told_apart_from_that_on_absent_ones():
    found = summarise_groups(*zip(*ASKED, strict=True), by="tag")
    shares = {
        name: {
            metric: figure["value"] for metric, figure in one["metrics"].items() if "abstention_on" in metric
        }
        for name, one in found.items()
    }

    silent, absent = {"abstention_on_silent": 0.0}, {"abstention_on_absent": 1.0}
    assert shares == {
        "all": {"abstention_on_unanswerable": 0.5, **silent, **absent},
        "": {"abstention_on_unanswerable": 1.0, **absent},
        "manual": {"abstention_on_unanswerable": 0.0, **silent},
        "short": {},
    }


def test_differences_pair_the_same_questions():
    first, second = [outcome(0)] * 10 + [Outcome(error="broken")], [outcome(1)] * 5 + [outcome(0)] * 6
    found = compare_outcomes(first, second)

    assert {"difference": 0.5, "better": 5, "worse": 0, "equal": 5, "n": 10}.items() <= found["hit@1"].items()
    assert 0 < found["hit@1"]["low"] < 0.5 < found["hit@1"]["high"]
    assert (found["false_abstention"]["difference"], found["false_abstention"]["better"]) == (-0.5, 5)
    assert found == compare_outcomes(first, second)


def test_a_bootstrap_of_equal_values_has_no_width():
    assert bootstrap([0.25] * 50) == (0.25, 0.25)
    assert bootstrap([1.0]) is None


def test_bins_of_reliability():
    told, true = [0.05, 0.07, 0.95, 1.0], [False, True, True, True]
    low, high = bins(told, true)

    assert (low.low, low.count, low.told, low.true) == (0.0, 2, 0.06, 0.5)
    assert (high.high, high.count, high.told, high.true) == (1.0, 2, 0.975, 1.0)
    assert calibration_error(told, true) == pytest.approx((2 * 0.44 + 2 * 0.025) / 4)


@pytest.mark.django_db
def test_the_admin_shows_sets_and_evaluations():
    client = Client()
    client.force_login(User.objects.create(username="admin", is_staff=True, is_superuser=True))
    held = QuestionSet.objects.create(name=HOSTILE, question_count=1)
    SetQuestion.objects.create(question_set=held, position=0, key="a", question=HOSTILE, answers=[HOSTILE])
    run = Evaluation.objects.create(
        question_set=held,
        collection_ids=[uuid4()],
        configurations=[{"name": HOSTILE, "settings": {"mode": "dense"}}, {"name": "b", "settings": {}}],
        status="completed",
        total=1,
        done=1,
        summary=summarise_run([[outcome(1)], [outcome(0)]]),
    )
    EvaluationResult.objects.create(evaluation=run, position=0, configuration=0, answer=HOSTILE, values={})

    pages = {
        "": "Question sets",
        "questionset/": "script",
        f"questionset/{held.id}/change/": "script",
        f"setquestion/?question_set__id__exact={held.id}": "script",
        "evaluation/": "completed",
        f"evaluation/{run.id}/change/": "nDCG",
        f"evaluationresult/?evaluation__id__exact={run.id}": "script",
        f"evaluation/{run.id}/plot.svg": "hit@1",
    }
    for page, words in pages.items():
        shown = client.get(f"/admin/rag/{page}").content.decode()
        assert words.lower() in shown.lower(), page
        assert HOSTILE not in shown, page
    shown = client.get(f"/admin/rag/evaluationresult/?evaluation__id__exact={run.id}").content.decode()
    assert shown.count("&lt;script&gt;") == 3  # the question, its configuration, its answer
    shown = client.get(f"/admin/rag/evaluation/{run.id}/change/").content.decode()
    assert "mode=dense" in shown
    assert "the server&#x27;s settings" in shown
    assert client.post(f"/admin/rag/questionset/{held.id}/delete/", {"post": "yes"}).status_code == 302
    assert not Evaluation.objects.exists()
