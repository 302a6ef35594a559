"""How far a past answer was checked, as /v1/queries and a replay tell it."""

from typing import Any

from asgiref.sync import sync_to_async

from documents.access import FULL
from rag.answering.ask import AskResult, Caller
from rag.answering.replay import replay
from rag.api.v1.explanations import explained_body
from rag.history.queries import get_query
from rag.history.recorder import Recorder, record_query
from rag.history.records import QueryRecord
from rag.models import Citation, Response
from rag.types.answer import Citation as Claim
from rag.types.answer import Contradiction, Verification
from rag.types.question import Question
from tests.history.making import FACT, answer_of, passages_of, record_of, stored_document, unanswered

TEXT = "The secret word is Quellenwort [1]. It is 90 years old."
COUNTS = {"exact": 0, "supported": 0, "unverified": 1, "contradicted": 1, "uncited": 0}


async def checked(recording: Recorder) -> QueryRecord:
    document = await sync_to_async(stored_document)()
    one = record_of(
        answer_of(
            *(await sync_to_async(passages_of)(document)),
            text=TEXT,
            citations=(Claim(1, 0, len(FACT), 0, 30, "unverified"),),
            contradicted=(Contradiction(36, len(TEXT) - 1, ("90 years",)),),
            verification=Verification(**COUNTS),
        )
    )
    record_query(one)
    await recording.flush()
    return one


@sync_to_async
def shown(one: QueryRecord) -> dict[str, Any]:
    return explained_body(get_query(one.query_id, access=FULL)).model_dump()


async def test_states_contradictions_and_counts_are_shown(recording: Recorder):
    told = await shown(await checked(recording))

    (citation,) = told["citations"]
    assert (citation["support"], citation["verdict"], citation["judged_by"]) == ("unverified", None, None)
    assert (citation["document_name"], citation["title"]) == ("vault.md", "vault")
    (claim,) = told["contradicted"]
    assert (claim["text"], claim["missing"]) == ("It is 90 years old", ["90 years"])
    assert told["answer"][claim["answer_start"] : claim["answer_end"]] == claim["text"]
    assert told["verification"] == COUNTS
    assert told["quality"]["answer_relevance"] is None


async def test_what_a_model_says_later_is_shown_beside_what_was_found_at_once(recording: Recorder):
    one = await checked(recording)
    await Citation.objects.aupdate(verdict="contradicted", judged_by="chatty-1")
    await Response.objects.aupdate(answer_relevance=0.25)

    told = await shown(one)

    (citation,) = told["citations"]
    assert citation["support"] == "unverified"
    assert (citation["verdict"], citation["judged_by"]) == ("contradicted", "chatty-1")
    assert told["quality"]["answer_relevance"] == 0.25


async def test_of_an_answer_of_an_earlier_release_it_is_not_known(recording: Recorder):
    one = await checked(recording)
    await Response.objects.aupdate(verification={}, contradicted=[])

    told = await shown(one)

    assert (told["verification"], told["contradicted"]) == (None, [])
    assert told["answer"] == TEXT


async def test_of_a_question_that_failed_or_was_not_answered_nothing_is_told(recording: Recorder):
    failed, silent = record_of(None, error="SYNTHESIS_FAILED"), record_of(unanswered())
    for one in (failed, silent):
        record_query(one)
    await recording.flush()

    told = [await shown(one) for one in (failed, silent)]

    assert [one["verification"] for one in told] == [None, dict.fromkeys(COUNTS, 0)]
    assert [one["contradicted"] for one in told] == [[], []]


async def test_a_replay_tells_whether_as_many_claims_were_found_to_be_what(recording: Recorder):
    one = await checked(recording)
    answer = one.answer

    async def again(question: Question, asker: Caller) -> AskResult:
        assert answer is not None
        return AskResult(answer, asker.query_id, "", cached=False, latency_ms=1, pages=(None,))

    same = await replay(one.query_id, access=FULL, ask=again)
    await Response.objects.aupdate(verification={**COUNTS, "unverified": 0, "exact": 1})
    other = await replay(one.query_id, access=FULL, ask=again)
    await Response.objects.aupdate(verification={})
    unknown = await replay(one.query_id, access=FULL, ask=again)

    assert (same.same_answer, same.same_verification, same.verification_before) == (True, True, COUNTS)
    assert (other.same_verification, other.verification_before["exact"]) == (False, 1)
    assert (unknown.same_verification, unknown.verification_before) == (None, None)
