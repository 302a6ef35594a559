"""How far the claims of answers could be checked, over a run."""

from rag.evaluation.outcomes import Outcome, of_answer
from rag.evaluation.summary import differences, summarise
from rag.evaluation.types import Case
from rag.types import Verification
from tests.memory.making import answer_of, unanswered
from tests.rag.factory import passage

CASE = Case(key="1", question="What is true?", answers=("Fact",))


def outcome(**found: int) -> Outcome:
    return of_answer(CASE, answer_of(passage(1), verification=Verification(**found)), (), 5.0)


def test_the_shares_of_a_run_are_the_means_of_its_answers_with_claims() -> None:
    silent = of_answer(CASE, unanswered(), (), 5.0)
    run = [outcome(exact=1, supported=1), outcome(unverified=2, contradicted=1, uncited=1), silent]

    metrics = summarise(run)["metrics"]

    shares = {name: (metrics[name]["value"], metrics[name]["n"]) for name in metrics if "claims" in name}
    assert shares == {
        "claims_verified": (0.5, 2),
        "claims_contradicted": (0.125, 2),
        "claims_uncited": (0.125, 2),
    }


def test_fewer_contradicted_claims_are_better() -> None:
    change = differences([outcome(contradicted=1)], [outcome(exact=1)])

    assert [change[name]["better"] for name in ("claims_verified", "claims_contradicted")] == [1, 1]
