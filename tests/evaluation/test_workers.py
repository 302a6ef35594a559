"""A worker that dies in the middle of an evaluation costs seconds, and no question counts twice."""

from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from knowlex.db.leases import LeaseLost
from rag.evaluation import queue, runner
from rag.models import Evaluation, EvaluationResult, QuestionSet, SetQuestion
from tests.evaluation.sets import ended, evaluate, lighthouses, line, read, uploaded
from tests.provider import Provider
from tests.support.stack import Stack

QUESTIONS = 8


@pytest.mark.slow
def test_a_killed_child_delays_its_evaluation_and_nothing_else(provider_server: Stack, provider: Provider):
    client = provider_server.client
    lighthouses(client)
    uploaded(client, *(line(n) for n in range(QUESTIONS)), collection="Lighthouses")
    provider.hold(on="embeddings")
    run = evaluate(client, question_set="lights", answers=True)
    provider.wait_held(count=1)
    assert read(client, run)["status"] == "running"

    for child in provider_server.worker_children():
        child.kill()
    provider.release()
    body = ended(client, run)

    assert (body["status"], body["progress"]["done"]) == ("completed", QUESTIONS)
    assert [one["position"] for one in body["results"]] == list(range(QUESTIONS))
    assert body["configurations"][0]["errors"] == 0


def test_a_deleted_evaluation_ends_where_it_is(provider_server: Stack, provider: Provider):
    client = provider_server.client
    lighthouses(client)
    uploaded(client, line(1), collection="Lighthouses")
    provider.hold(on="embeddings")
    run = evaluate(client, question_set="lights")
    provider.wait_held(count=1)

    assert client.delete(f"/v1/evaluations/{run}").status_code == 200
    provider.release()
    again = ended(client, evaluate(client, question_set="lights"))

    assert again["status"] == "completed"
    assert provider_server.count("rag_evaluationresult") == 1


@pytest.fixture
def run(db: None) -> Evaluation:
    held = QuestionSet.objects.create(name="two", question_count=2)
    SetQuestion.objects.bulk_create(
        SetQuestion(question_set=held, position=n, key=str(n), question=f"Question {n}?", document="x")
        for n in range(2)
    )
    configurations = [{"name": "default", "settings": {}}]
    return Evaluation.objects.create(
        question_set=held, collection_ids=[uuid4()], configurations=configurations, total=2
    )


def expire() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE rag_evaluation SET leased_until = now() - interval '1 second'")


def test_what_ends_its_worker_five_times_is_given_up(run: Evaluation):
    for _ in range(queue.MAX_ATTEMPTS):
        assert queue.claim(uuid4()) == run
        assert queue.claim(uuid4()) is None  # somebody has it in hand
        expire()

    assert not runner.run_turn()
    run.refresh_from_db()
    assert (run.status, run.error, run.lease) == ("failed", queue.GAVE_UP, None)


def test_a_lease_that_was_lost_stores_nothing(run: Evaluation):
    old, new = uuid4(), uuid4()
    queue.claim(old)
    expire()
    queue.claim(new)

    with pytest.raises(LeaseLost):
        queue.record_progress(run.id, old, before=0, after=1)
    assert queue.record_progress(run.id, new, before=0, after=1)
    assert not queue.record_progress(run.id, new, before=0, after=1)  # only the reply was lost
    run.refresh_from_db()
    assert (run.done, run.attempts) == (1, 0)


def test_the_one_that_waited_longest_has_its_turn(run: Evaluation):
    other = Evaluation.objects.create(
        question_set=run.question_set,
        collection_ids=run.collection_ids,
        configurations=run.configurations,
        total=2,
        taken_at=timezone.now(),
    )

    assert queue.count_due() == 2
    lease = uuid4()
    assert queue.claim(lease) == run
    queue.release(run.id, lease)
    assert queue.claim(uuid4()) == other
    assert EvaluationResult.objects.count() == 0
