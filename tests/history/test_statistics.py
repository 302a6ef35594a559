from datetime import UTC, datetime, timedelta

from asgiref.sync import sync_to_async

from documents.access import FULL
from rag.admin.quality_page import find_worst_answers
from rag.history.feedback import FeedbackInput, give_feedback, identify_caller
from rag.history.recorder import Recorder, record_query
from rag.history.records import CLIENT_LEFT
from rag.history.statistics import fetch_days, fetch_outcomes
from rag.models import Query, Response
from tests.history.making import answer_of, passages_of, record_of, stored_document, unanswered


async def test_days_tell_what_was_asked_how_fast_and_how_well(recording: Recorder):
    (passage,) = await sync_to_async(passages_of)(await sync_to_async(stored_document)())
    good, slow, cached, old = (
        record_of(answer_of(passage), latency_ms=ms, cached=ms == 1) for ms in (100, 300, 1, 50)
    )
    none, failed = record_of(unanswered(), latency_ms=200), record_of(None, error="SYNTHESIS_FAILED")
    left = record_of(None, error=CLIENT_LEFT)
    for one in (good, slow, cached, old, none, failed, left):
        record_query(one)
    await recording.flush()
    await _say_and_judge(good.query_id, "thumbs_up", 1.0)
    await _say_and_judge(slow.query_id, "thumbs_down", 0.5)
    await Query.objects.filter(id=old.query_id).aupdate(created_at=datetime.now(UTC) - timedelta(days=2))

    earlier, yesterday, today = await sync_to_async(fetch_days)(3)

    assert today.day == datetime.now(UTC).date() == yesterday.day + timedelta(days=1)
    assert (today.questions, today.answered, today.failed, today.cached) == (6, 3, 1, 1)
    assert (today.median_ms, today.p95_ms) == (200, 290)
    assert (today.thumbs_up, today.thumbs_down, today.faithfulness, today.judged) == (1, 1, 0.75, 2)
    assert (today.input_tokens, today.output_tokens) == (360, 27)
    assert (yesterday.questions, yesterday.median_ms, yesterday.faithfulness) == (0, None, None)
    assert (earlier.questions, earlier.median_ms) == (1, 50)
    outcomes = await sync_to_async(fetch_outcomes)(3)
    assert outcomes[today.day] == {"answered": 2, "cached": 1, "below_threshold": 1, "failed": 1, "left": 1}
    assert outcomes[earlier.day] == {"answered": 1}
    worst = await sync_to_async(find_worst_answers)(3)
    assert [query.id for query in worst] == [slow.query_id]


@sync_to_async
def _say_and_judge(query_id: object, rating: str, score: float) -> None:
    give_feedback(query_id, FeedbackInput(rating), access=FULL, caller=identify_caller(FULL, "127.0.0.1"))
    Response.objects.filter(query=query_id).update(faithfulness_score=score)
