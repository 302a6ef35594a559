"""Claims of answers, counted by what was found of them."""

from knowlex.runtime.metrics import REGISTRY
from rag.metrics import count_answer
from rag.types.answer import Verification
from tests.history.making import answer_of, unanswered
from tests.rag.factory import passage


def counted() -> dict[str, float]:
    states = ("exact", "supported", "unverified", "contradicted", "uncited")
    return {one: REGISTRY.get_sample_value("knowlex_claims_total", {"state": one}) or 0.0 for one in states}


def test_each_claim_counts_once_as_what_it_was_found_to_be():
    before = counted()
    found = Verification(exact=2, unverified=1, contradicted=3)

    count_answer(answer_of(passage(1), verification=found), face="platform", cached=False, latency_ms=1)
    count_answer(unanswered(), face="platform", cached=False, latency_ms=1)

    more = {state: count - before[state] for state, count in counted().items()}
    assert more == {"exact": 2, "supported": 0, "unverified": 1, "contradicted": 3, "uncited": 0}
