"""The door of the work queue for evaluations and webhooks.

A task says that there is work, PostgreSQL says which.
Workers import this by themselves, and look with every sweep for evaluations in nobody's hand, answers that
nobody has judged, messages that are due, and old questions.
"""

from celery import shared_task
from django.conf import settings

from documents import webhooks
from embeddings.sweeper import add_sweep_work
from embeddings.tasks import send_hint, send_lost_hints, tolerate_lost_hint
from knowlex.db.threads import with_retries
from knowlex.runtime.threads import run_nicely
from rag.evaluation import queue, runner
from rag.history import answer_quality, queries


@shared_task(name="rag.evaluate_next", acks_late=True)
def evaluate_next() -> None:
    """Run the evaluation that has waited longest for some seconds. Safe to deliver twice, late, or
    without need.
    """
    if runner.run_turn():
        enqueue_evaluation()


def enqueue_evaluation() -> None:
    """Tell a worker. A broker that is down delays the work until the sweep finds it, and is no error."""
    with tolerate_lost_hint():
        send_hint(evaluate_next)


@shared_task(name="rag.judge_answers", acks_late=True)
def judge_answers() -> None:
    """Judge new answers for some seconds. Safe to deliver twice, or without need."""
    run_nicely(answer_quality.judge_answers)


@shared_task(name="rag.deliver_webhook", acks_late=True)
def deliver_webhook() -> None:
    """Send the message that is due longest. Safe to deliver twice, late, or without need."""
    if webhooks.deliver_next() and with_retries(webhooks.count_due):
        with tolerate_lost_hint():
            send_hint(deliver_webhook)


def sweep_webhooks() -> int:
    """Note the end of jobs, and send hints for messages that are due and in nobody's hand."""
    webhooks.publish_ended_jobs()
    return send_lost_hints(deliver_webhook, with_retries(webhooks.count_due), settings.WEBHOOK_QUEUE)


def sweep_answers() -> int:
    """Send hints for new answers: whoever answers a question does not wait for a broker."""
    return send_lost_hints(
        judge_answers, with_retries(answer_quality.count_due_turns), settings.JUDGING_QUEUE
    )


def sweep_queries() -> int:
    """Delete past questions whose time is over."""
    return queries.delete_old_queries()


def sweep() -> int:
    """Send hints for runs that nobody holds, after a worker died or the broker lost its queue."""
    return send_lost_hints(evaluate_next, with_retries(queue.count_due), settings.EVALUATION_QUEUE)


add_sweep_work(sweep)
add_sweep_work(sweep_answers)
add_sweep_work(sweep_queries)
add_sweep_work(sweep_webhooks)
