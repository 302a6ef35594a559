"""Faithfulness: found out by workers after the answer, once each, whatever happens to them meanwhile."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test.utils import CaptureQueriesContext

from documents.models import Chunk, Document
from rag.memory import judging
from rag.memory.recorder import Recorder, record
from rag.models import Response
from tests.memory.asking import UNKNOWN, Library
from tests.memory.making import FACT, answer_of, passages_of, record_of, stored_document, unanswered
from tests.support.api import assert_now
from tests.support.waiting import wait_until

HALF_TRUE = f"{FACT[:-1]} [1]. It was chosen by Napoleon in Paris."


def test_a_new_answer_is_judged_by_itself(library: Library):
    answered, none = library.ask(), library.ask(UNKNOWN)
    library.rate(answered["query_id"], rating="thumbs_up")

    told = wait_until(lambda: _judged(library, answered["query_id"]), what="a judged answer")

    assert told["faithfulness_score"] == 1
    assert_now(told["faithfulness_judged_at"])
    assert told["quality"] == {
        "faithfulness": 1.0, "answer_relevance": None, "relevance": answered["relevance"],
        "feedback": "thumbs_up",
    }  # fmt: skip
    assert library.listed() == [none["query_id"], answered["query_id"]]
    assert library.explained(none["query_id"])["quality"]["faithfulness"] is None


def _judged(library: Library, query_id: str) -> dict[str, Any] | None:
    told = library.explained(query_id)
    return told if told["faithfulness_judged_at"] else None


async def test_the_score_is_the_share_of_claims_that_the_passages_support(recording: Recorder):
    good, half = await _recorded(recording, f"{FACT[:-1]} [1].", HALF_TRUE)
    record(record_of(unanswered()))
    await recording.flush()

    assert await _judge() == 2

    assert await _scores(good, half) == [1.0, 0.5]
    assert await _judge() == 0


async def test_two_workers_do_not_judge_the_same_answers(recording: Recorder):
    ids = await _recorded(recording, *(f"{FACT[:-1]} [1]. Copy {n}." for n in range(5)))

    first, second = await sync_to_async(judging._claimed)(), await sync_to_async(judging._claimed)()

    assert ({id_ for id_, _ in first}, second) == (set(ids), [])


async def test_what_a_dead_worker_held_is_judged_when_its_time_is_over(recording: Recorder):
    held = await _recorded(recording, HALF_TRUE, f"{FACT[:-1]} [1].")
    await sync_to_async(judging._claimed)()
    assert await sync_to_async(judging.turns_due)() == 0
    await _time_passes()

    assert await sync_to_async(judging.turns_due)() == 1
    assert await _judge() == 2

    assert await _scores(*held) == [0.5, 1.0]


async def test_what_ends_its_worker_each_time_is_left_unjudged_and_holds_up_nobody(recording: Recorder):
    poison, *_ = await _recorded(recording, HALF_TRUE)
    for _ in range(judging.MAX_ATTEMPTS):
        assert [id_ for id_, _ in await sync_to_async(judging._claimed)()] == [poison]
        await _time_passes()
    other, *_ = await _recorded(recording, f"{FACT[:-1]} [1].")

    assert await _judge() == 1

    assert await _scores(poison, other) == [None, 1.0]


async def test_one_that_cannot_be_judged_is_none_and_the_others_are(
    recording: Recorder, monkeypatch: pytest.MonkeyPatch
):
    bad, good = await _recorded(recording, HALF_TRUE, f"{FACT[:-1]} [1].")
    honest = judging.judge_one

    async def judge_one(answer: str, blocks: Any) -> Any:
        if answer == HALF_TRUE:
            raise RuntimeError("no judge for this")
        return await honest(answer, blocks)

    monkeypatch.setattr(judging, "judge_one", judge_one)
    assert await _judge() == 2

    assert await _scores(bad, good) == [None, 1.0]


async def test_what_there_is_no_time_for_is_given_back(recording: Recorder):
    first, second = await _recorded(recording, f"{FACT[:-1]} [1].", HALF_TRUE)
    answers = await sync_to_async(judging._claimed)()

    assert await sync_to_async(judging._judge)(answers, 0.0) == 1

    assert await Response.objects.filter(faithfulness_judged_at=None).acount() == 1
    assert await _judge() == 1
    assert await _scores(first, second) == [1.0, 0.5]


async def test_an_answer_whose_document_was_replaced_has_no_score(recording: Recorder):
    document = await sync_to_async(stored_document)()
    replaced, *_ = await _recorded(recording, HALF_TRUE, document=document)
    await Chunk.objects.filter(document=document).adelete()

    assert await _judge() == 1

    assert await _scores(replaced) == [None]


async def test_a_document_deleted_while_its_answer_is_judged_leaves_nothing(recording: Recorder):
    document = await sync_to_async(stored_document)()
    gone, *_ = await _recorded(recording, HALF_TRUE, document=document)
    answers = await sync_to_async(judging._claimed)()
    await Document.objects.filter(id=document.id).adelete()

    await sync_to_async(judging._judge)(answers, float("inf"))

    response = await Response.objects.aget(query=gone)
    assert (response.answer, response.quotes_gone) == ("", True)
    assert (response.faithfulness_score, response.faithfulness_judged_at) == (None, None)
    assert await sync_to_async(judging.turns_due)() == 0


async def test_a_batch_is_as_many_statements_however_many_answers(recording: Recorder):
    await _recorded(recording, HALF_TRUE)
    one = await _statements()
    await _recorded(recording, *(f"{FACT[:-1]} [1]. Copy {n}." for n in range(20)))

    assert await _statements() == one


@sync_to_async
def _statements() -> int:
    with CaptureQueriesContext(connection) as seen:
        judging._judge(judging._claimed(), float("inf"))
    return len(seen)


async def _recorded(recording: Recorder, *texts: str, document: Document | None = None) -> list[UUID]:
    """Answers with these texts, in their order, of one document."""
    passages = await sync_to_async(passages_of)(document or await sync_to_async(stored_document)())
    records = [record_of(answer_of(*passages, text=text)) for text in texts]
    for one in records:
        record(one)
    await recording.flush()
    return [one.query_id for one in records]


async def _judge() -> int:
    return int(await sync_to_async(judging.judge_some)())


async def _scores(*ids: UUID) -> list[float | None]:
    """All of them judged."""
    found = {r.query_id: r async for r in Response.objects.filter(query__in=ids)}
    assert all(one.faithfulness_judged_at for one in found.values())
    return [found[id_].faithfulness_score for id_ in ids]


async def _time_passes() -> None:
    await Response.objects.filter(judging_until__isnull=False).aupdate(
        judging_until=datetime.now(UTC) - timedelta(seconds=1)
    )
