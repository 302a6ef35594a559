"""How far the claims of answers could be checked, over a run."""

from rag.evaluation.outcomes import Outcome, measure_answer
from rag.evaluation.summary import compare_outcomes, summarise
from rag.evaluation.types import Case
from rag.types.answer import Usage, Verification
from tests.history.making import answer_of, unanswered
from tests.rag.factory import passage

CASE = Case(key="1", question="What is true?", answers=("Fact",))


def outcome(**found: int) -> Outcome:
    return measure_answer(CASE, answer_of(passage(1), verification=Verification(**found)), (), 5.0)


def test_the_shares_of_a_run_are_the_means_of_its_answers_with_claims() -> None:
    silent = measure_answer(CASE, unanswered(), (), 5.0)
    run = [outcome(exact=1, supported=1), outcome(unverified=2, contradicted=1, uncited=1), silent]

    metrics = summarise(run)["metrics"]

    shares = {name: (metrics[name]["value"], metrics[name]["n"]) for name in metrics if "claims" in name}
    assert shares == {
        "claims_verified": (0.5, 2),
        "claims_contradicted": (0.125, 2),
        "claims_uncited": (0.125, 2),
    }


def test_faithfulness_is_that_of_stored_answers_and_an_extractive_one_has_none() -> None:
    quoting = answer_of(passage(1), verification=Verification(exact=1), usage=Usage(0, 0, "extractive"))
    run = [
        outcome(exact=1, unverified=1),
        outcome(contradicted=1),
        measure_answer(CASE, quoting, (), 5.0, 0.25),
    ]

    metrics = summarise(run)["metrics"]

    assert (metrics["faithfulness"]["value"], metrics["faithfulness"]["n"]) == (0.375, 2)
    assert (metrics["answer_relevance"]["value"], metrics["answer_relevance"]["n"]) == (0.25, 1)
    assert metrics["claims_verified"]["n"] == 2


def test_fewer_contradicted_claims_are_better() -> None:
    change = compare_outcomes([outcome(contradicted=1)], [outcome(exact=1)])

    assert [change[name]["better"] for name in ("claims_verified", "claims_contradicted")] == [1, 1]
