"""The Celery tasks of the app: a task says that there is work, PostgreSQL says which."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import redis.exceptions
from celery import current_app, shared_task
from django.conf import settings
from kombu import Connection
from kombu.exceptions import OperationalError

from documents.access import FULL
from embeddings import services
from embeddings.external import delivery
from embeddings.external.configuration import configured_store
from embeddings.ingest import documents, sync
from knowlex.base.errors import BrokerUnavailable
from knowlex.db.threads import with_retries

BROKER_ERRORS = (OperationalError, redis.exceptions.RedisError, OSError)
MAX_HINTS = 1000  # the sweep sends more when these are used up
log = logging.getLogger(__name__)


@shared_task(name="embeddings.embed_batch", acks_late=True)
def embed_batch(batch_id: str) -> int:
    """Embed one batch. Safe to deliver twice: what is done, or in other hands, is not taken again."""
    return services.embed_batch(UUID(batch_id))


@shared_task(name="embeddings.ingest_next", acks_late=True)
def ingest_next() -> None:
    """Read the most urgent document of all jobs. Safe to deliver twice, late, or without need."""
    batches = documents.run_next()
    with tolerate_lost_hint():
        enqueue(batches)


@shared_task(name="embeddings.sync_next", acks_late=True)
def sync_next() -> None:
    """Go on with the source that has waited longest, for some seconds. Safe to deliver twice, late, or
    without need.
    """
    outcome = sync.run_turn()
    with tolerate_lost_hint():
        enqueue_ingest(outcome.documents)
        if outcome.is_more:
            send_hint(sync_next)


@shared_task(name="embeddings.ship_next", acks_late=True)
def deliver_next() -> None:
    """Deliver some batches of the outbox. Safe to deliver twice, late, or without need."""
    if delivery.deliver_for_a_turn():
        with tolerate_lost_hint():
            send_hint(deliver_next)


def enqueue(batch_ids: Sequence[UUID]) -> None:
    """Send one hint for each batch, over one fresh connection. Raises BrokerUnavailable, some perhaps
    sent.
    """
    if batch_ids:
        with _connection() as connection:
            _publish(connection, embed_batch, [(str(batch_id),) for batch_id in batch_ids])


def enqueue_ingest(item_count: int) -> None:
    """Send one hint a document. Raises BrokerUnavailable: the sweep finds the documents all the same."""
    if item_count > 0:
        with _connection() as connection:
            _publish(connection, ingest_next, [()] * min(item_count, MAX_HINTS))


def enqueue_lost(batch_ids: Sequence[UUID]) -> int:
    """Send hints for batches for which none can be waiting in the queue; return how many were sent."""
    hints = [(str(batch_id),) for batch_id in batch_ids]
    return _publish_lost(embed_batch, hints, settings.CELERY_TASK_DEFAULT_QUEUE) if hints else 0


def enqueue_lost_ingest(item_count: int) -> int:
    """Send the same for documents that wait to be read."""
    hints: list[tuple[str, ...]] = [()] * min(item_count, MAX_HINTS)
    return _publish_lost(ingest_next, hints, settings.INGEST_QUEUE) if hints else 0


def enqueue_lost_deliveries() -> int:
    """Send the same for the outbox: a few at a time, so that embedding goes on under a crowd."""
    return send_lost_hints(deliver_next, delivery.count_due_turns(), settings.SHIPPING_QUEUE)


def enqueue_lost_syncs() -> int:
    """Let the sources run whose time has come, and send the same for runs that nobody holds."""
    return send_lost_hints(sync_next, with_retries(sync.start_due), settings.SYNC_QUEUE)


def hint_sync() -> None:
    """Tell a worker that a source is to run; the hint may be lost."""
    with tolerate_lost_hint():
        send_hint(sync_next)


def hint_delivery() -> None:
    """Send a hint after a change that the external store is to hear of; it may be lost."""
    if configured_store():
        with tolerate_lost_hint():
            send_hint(deliver_next)


def send_hint(task: Any) -> None:
    """Send one hint without arguments for a task of an app above. Raises BrokerUnavailable."""
    with _connection() as connection:
        _publish(connection, task, [()])


def send_lost_hints(task: Any, count: int, queue: str) -> int:
    """Send as many as are missing from the task's queue for so much work; return how many were sent."""
    hints: list[tuple[str, ...]] = [()] * min(count, MAX_HINTS)
    return _publish_lost(task, hints, queue) if hints else 0


def request_and_enqueue(document_id: UUID | None = None) -> int:
    """Ask with full access, and tell the workers, but do not wait; returns how many chunks were asked for.

    A broker that is down delays the work until the sweep finds it, and is no error.
    """
    requested = services.request_embeddings(document_id, access=FULL)
    with tolerate_lost_hint():
        enqueue(requested.batches)
    return requested.requested


@contextmanager
def tolerate_lost_hint() -> Iterator[None]:
    """Allow a hint to be lost: the work is on record, and the workers' sweep finds it."""
    try:
        yield
    except BrokerUnavailable:
        log.warning("the broker is down; the sweep will queue the work")


@contextmanager
def _connection() -> Iterator[Connection]:
    """Yield a fresh one. Raises BrokerUnavailable, also for what fails inside."""
    try:
        with current_app.connection_for_write() as connection:
            yield connection
    except BROKER_ERRORS as exc:
        raise BrokerUnavailable("The message broker cannot be reached; the work stays queued.") from exc


def _publish_lost(task: Any, hints: Sequence[tuple[str, ...]], queue: str) -> int:
    with _connection() as connection:
        channel: Any = connection.default_channel  # the stubs do not know what every channel can do
        lost = hints[channel.queue_declare(queue=queue).message_count :]
        _publish(connection, task, lost)
    return len(lost)


def _publish(connection: Connection, task: Any, hints: Sequence[tuple[str, ...]]) -> None:
    with current_app.amqp.Producer(connection) as producer:
        for arguments in hints:
            task.apply_async(arguments, producer=producer, retry=False)
