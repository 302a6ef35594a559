"""How good answers are: found out by workers afterwards, once each, whatever happens to them meanwhile."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test.utils import CaptureQueriesContext

from documents.models import Chunk, Document
from embeddings.active_model import active_model
from embeddings.embedders.on_cpu import OnCpuEmbedder
from rag.history import answer_quality
from rag.history.recorder import Recorder, record_query
from rag.models import Citation, Response
from rag.types.answer import Citation as Claim
from rag.types.answer import Usage, Verification
from tests.history.asking import UNKNOWN, Library
from tests.history.making import FACT, answer_of, passages_of, record_of, stored_document, unanswered
from tests.provider import Provider
from tests.rag.factory import question
from tests.support.api import assert_now
from tests.support.waiting import wait_until

KNOWS = "Quellenwort opens the vault."
TEXT = f"{FACT[:-1]} [1]. {KNOWS[:-1]} [1]. It is old."
AFTER_FACT = len(FACT) + len(" [1] ")
STATES = Verification(exact=1, unverified=1, uncited=1)
CLAIMS = (
    Claim(1, 0, len(FACT), 0, len(FACT) - 1, "exact"),
    Claim(1, 0, len(FACT), AFTER_FACT, AFTER_FACT + len(KNOWS) - 1, "unverified"),
)
PROOF = "the secret word of the vault is Quellenwort"


@pytest.fixture
def reading(provider: Provider, settings: Any) -> Provider:
    """A chat model reads what the check could not verify."""
    part = {
        "class": "rag.judges.chat.openai_judge",
        "options": {"api_key": "k", "base_url": provider.openai_url, "model_name": "reader-1"},
    }
    settings.KNOWLEX = settings.KNOWLEX | {"ANSWER_READER": part}
    provider.rule("schema_ignored", on="chat")  # else the provider makes claims of what it says
    return provider


def verdicts(*said: tuple[int, str, str], relevance: float = 0.9) -> str:
    claims = [{"claim": n, "verdict": verdict, "quote": quote} for n, verdict, quote in said]
    return json.dumps({"claims": claims, "relevance": relevance})


def test_a_new_answer_is_judged_by_itself(library: Library):
    answered, none = library.ask(), library.ask(UNKNOWN)
    library.rate(answered["query_id"], rating="thumbs_up")

    told = wait_until(lambda: _judged(library, answered["query_id"]), what="a judged answer")

    assert told["faithfulness_score"] is None  # an extractive answer quotes its passages
    assert_now(told["faithfulness_judged_at"])
    quality = told["quality"]
    assert (quality["faithfulness"], quality["feedback"]) == (None, "thumbs_up")
    assert quality["answer_relevance"] > 0.9
    assert library.listed() == [none["query_id"], answered["query_id"]]
    assert library.explained(none["query_id"])["quality"]["answer_relevance"] is None


def _judged(library: Library, query_id: str) -> dict[str, Any] | None:
    told = library.explained(query_id)
    return told if told["faithfulness_judged_at"] else None


async def test_faithfulness_is_told_by_the_states_of_the_claims(recording: Recorder):
    good, half, old = await _recorded(
        recording, Verification(exact=2), Verification(supported=1, contradicted=1), Verification()
    )
    record_query(record_of(unanswered()))
    await recording.flush()

    assert await _judge() == 3

    assert await _scores(good, half, old) == [1.0, 0.5, None]
    assert await _judge() == 0


async def test_an_extractive_answer_has_no_faithfulness(recording: Recorder):
    one, *_ = await _recorded(recording, Verification(exact=1), usage=Usage(0, 0, "extractive"))

    assert await _judge() == 1

    assert await _scores(one) == [None]


async def test_an_answer_to_another_question_is_less_relevant(recording: Recorder):
    right, *_ = await _recorded(recording, STATES)
    wrong, *_ = await _recorded(recording, STATES, question=question("How tall is the lighthouse of Juist?"))

    await _judge()

    found = {r.query_id: r.answer_relevance async for r in Response.objects.all()}
    assert found[right] > 0.7
    assert found[wrong] < 0.1


async def test_what_the_search_has_compared_is_not_embedded_again(
    recording: Recorder, monkeypatch: pytest.MonkeyPatch
):
    document = await sync_to_async(stored_document)()
    (found,) = await sync_to_async(passages_of)(document)
    active = await sync_to_async(active_model)()

    async def judged_relevance(similarity: float, model_name: str) -> float | None:
        compared = found._replace(bounds=((0, len(FACT)),), similarities=(similarity,))
        one = record_of(answer_of(compared, verification=STATES, model_name=model_name))
        record_query(one)
        await recording.flush()
        assert await _judge() == 1
        return (await Response.objects.aget(query=one.query_id)).answer_relevance

    near_as_other_model = await judged_relevance(0.0, "another-model")
    embedded = list[str]()
    monkeypatch.setattr(OnCpuEmbedder, "embed", lambda self, texts: embedded.extend(texts))
    near, far = await judged_relevance(0.8, active.name), await judged_relevance(0.0, active.name)

    assert embedded == []
    assert near is not None
    assert far is not None
    assert near_as_other_model is not None
    assert near > far + 0.05
    assert near_as_other_model > far  # embedded: its 0 is on another scale


async def test_a_model_reads_what_could_not_be_verified(recording: Recorder, reading: Provider):
    reading.says(verdicts((1, "supported", PROOF), relevance=0.0))
    one, *_ = await _recorded(recording, STATES)

    assert await _judge() == 1

    first, second = [c async for c in Citation.objects.order_by("position")]
    assert (first.verdict, first.judged_by) == ("", "")
    assert (second.support, second.verdict, second.judged_by) == ("unverified", "supported", "reader-1")
    assert await _scores(one) == [pytest.approx(2 / 3)]
    assert (await Response.objects.aget()).answer_relevance < 0.5  # the mean of its 0 and our figure
    (call,) = reading.calls("chat")
    assert KNOWS[:-1] in call.prompt.user
    assert FACT in call.prompt.user


async def test_what_needs_no_model_is_not_sent_to_it(recording: Recorder, reading: Provider):
    await _recorded(recording, Verification(exact=1), citations=CLAIMS[:1])

    assert await _judge() == 1

    assert reading.calls("chat") == []


async def test_while_the_model_is_away_the_figures_stand_without_it_and_it_is_asked_again(
    recording: Recorder, reading: Provider
):
    _is_away(reading)
    one, *_ = await _recorded(recording, STATES)

    assert await _judge() == 1
    before = await Response.objects.aget(query=one)
    assert (before.faithfulness_score, before.faithfulness_judged_at) == (0.5, None)
    assert before.judging_until is not None
    assert before.judging_until > datetime.now(UTC) + timedelta(seconds=50)
    reading.forget_rules()
    reading.rule("schema_ignored", on="chat")
    reading.says(verdicts((1, "supported", PROOF)))
    assert await _judge() == 0
    await _time_passes()
    assert await _judge() == 1

    assert await _scores(one) == [pytest.approx(2 / 3)]


async def test_a_model_that_stays_away_is_given_up(recording: Recorder, reading: Provider):
    _is_away(reading)
    one, *_ = await _recorded(recording, STATES)

    for _ in range(answer_quality.MAX_ATTEMPTS):
        assert await _judge() == 1
        await _time_passes()

    assert await _judge() == 0
    assert await _scores(one) == [0.5]


async def test_two_workers_do_not_judge_the_same_answers(recording: Recorder):
    ids = await _recorded(recording, *[STATES] * 5)

    first, second = (
        await sync_to_async(answer_quality._claim_answers)(),
        await sync_to_async(answer_quality._claim_answers)(),
    )

    assert ({one.query_id for one in first}, second) == (set(ids), [])


async def test_what_a_dead_worker_held_is_judged_when_its_time_is_over(recording: Recorder):
    held = await _recorded(recording, STATES, Verification(exact=1))
    await sync_to_async(answer_quality._claim_answers)()
    assert await sync_to_async(answer_quality.count_due_turns)() == 0
    await _time_passes()

    assert await sync_to_async(answer_quality.count_due_turns)() == 1
    assert await _judge() == 2

    assert await _scores(*held) == [0.5, 1.0]


async def test_what_ends_its_worker_each_time_is_left_unjudged_and_holds_up_nobody(recording: Recorder):
    poison, *_ = await _recorded(recording, STATES)
    for _ in range(answer_quality.MAX_ATTEMPTS):
        assert [one.query_id for one in await sync_to_async(answer_quality._claim_answers)()] == [poison]
        await _time_passes()
    other, *_ = await _recorded(recording, Verification(exact=1))

    assert await _judge() == 1

    assert await _scores(poison, other) == [None, 1.0]


async def test_what_there_is_no_time_for_is_given_back(recording: Recorder):
    first, second = await _recorded(recording, Verification(exact=1), STATES)
    answers = await sync_to_async(answer_quality._claim_answers)()

    assert await sync_to_async(answer_quality._judge_batch)(answers, 0.0) == 1

    assert await Response.objects.filter(faithfulness_judged_at=None).acount() == 1
    assert await _judge() == 1
    assert await _scores(first, second) == [1.0, 0.5]


async def test_an_answer_whose_document_was_replaced_is_judged_by_its_quotes(recording: Recorder):
    document = await sync_to_async(stored_document)()
    replaced, *_ = await _recorded(recording, STATES, document=document)
    await Chunk.objects.filter(document=document).adelete()

    assert await _judge() == 1

    assert await _scores(replaced) == [0.5]
    assert (await Response.objects.aget()).answer_relevance is not None


async def test_a_document_deleted_while_its_answer_is_judged_leaves_nothing(recording: Recorder):
    document = await sync_to_async(stored_document)()
    gone, *_ = await _recorded(recording, STATES, document=document)
    answers = await sync_to_async(answer_quality._claim_answers)()
    await Document.objects.filter(id=document.id).adelete()

    await sync_to_async(answer_quality._judge_batch)(answers, float("inf"))

    response = await Response.objects.aget(query=gone)
    assert (response.answer, response.quotes_gone) == ("", True)
    assert (response.faithfulness_score, response.faithfulness_judged_at) == (None, None)
    assert await sync_to_async(answer_quality.count_due_turns)() == 0


async def test_a_batch_is_as_many_statements_however_many_answers(recording: Recorder):
    await _recorded(recording, STATES)
    await _statements()  # the first one finds the embedding model
    await _recorded(recording, STATES)
    one = await _statements()
    await _recorded(recording, *[STATES] * 20)

    assert await _statements() == one


def _is_away(provider: Provider) -> None:
    provider.forget_rules()
    provider.rule("status", status=401, on="chat")


@sync_to_async
def _statements() -> int:
    with CaptureQueriesContext(connection) as seen:
        answer_quality._judge_batch(answer_quality._claim_answers(), float("inf"))
    return len(seen)


async def _recorded(
    recording: Recorder, *counts: Verification, document: Document | None = None, **fields: Any
) -> list[UUID]:
    """Answers whose claims have these states, in their order, of one document."""
    passages = await sync_to_async(passages_of)(document or await sync_to_async(stored_document)())
    given = {"text": TEXT, "citations": CLAIMS} | fields
    records = [record_of(answer_of(*passages, verification=found, **given)) for found in counts]
    for one in records:
        record_query(one)
    await recording.flush()
    return [one.query_id for one in records]


async def _judge() -> int:
    return int(await sync_to_async(answer_quality.judge_answers)())


async def _scores(*ids: UUID) -> list[float | None]:
    """All of them judged."""
    found = {r.query_id: r async for r in Response.objects.filter(query__in=ids)}
    assert all(one.faithfulness_judged_at for one in found.values())
    return [found[id_].faithfulness_score for id_ in ids]


async def _time_passes() -> None:
    await Response.objects.filter(judging_until__isnull=False).aupdate(
        judging_until=datetime.now(UTC) - timedelta(seconds=1)
    )
