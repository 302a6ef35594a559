"""The door of the work queue: a task says that there is work, PostgreSQL says which."""

import logging
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import redis.exceptions
from celery import current_app, shared_task
from kombu import Connection
from kombu.exceptions import OperationalError

from documents.access import FULL
from embeddings import services
from knowlex.common.errors import BrokerUnavailable

BROKER_ERRORS = (OperationalError, redis.exceptions.RedisError, OSError)
log = logging.getLogger(__name__)


@shared_task(name="embeddings.embed_batch", acks_late=True)
def embed_batch(batch_id: str) -> int:
    """Embed one batch. Safe to deliver twice: what is done, or in other hands, is not taken again."""
    return services.embed_batch(UUID(batch_id))


def enqueue(batch_ids: Sequence[UUID]) -> None:
    """One hint for each batch, over one fresh connection. Raises BrokerUnavailable, some perhaps sent."""
    if not batch_ids:
        return
    try:
        with current_app.connection_for_write() as connection:
            _publish(connection, batch_ids)
    except BROKER_ERRORS as exc:
        raise BrokerUnavailable("The message broker cannot be reached; the work stays queued.") from exc


def enqueue_lost(batch_ids: Sequence[UUID]) -> int:
    """Hints for those batches for which none can be waiting in the queue; returns how many were sent."""
    if not batch_ids:
        return 0
    try:
        with current_app.connection_for_write() as connection:
            name = current_app.conf.task_default_queue
            channel: Any = connection.default_channel  # the stubs do not know what every channel can do
            waiting = channel.queue_declare(queue=name).message_count
            lost = batch_ids[waiting:]
            _publish(connection, lost)
    except BROKER_ERRORS as exc:
        raise BrokerUnavailable("The message broker cannot be reached; the work stays queued.") from exc
    return len(lost)


def request_and_enqueue(document_id: UUID | None = None) -> int:
    """Ask with full access, and tell the workers, but do not wait; returns how many chunks were asked for.

    A broker that is down delays the work until the sweep finds it, and is no error.
    """
    requested = services.request_embeddings(document_id, access=FULL)
    try:
        enqueue(requested.batches)
    except BrokerUnavailable:
        log.warning("the broker is down; the sweep will queue the work")
    return requested.requested


def _publish(connection: Connection, batch_ids: Sequence[UUID]) -> None:
    with current_app.amqp.Producer(connection) as producer:
        for batch_id in batch_ids:
            embed_batch.apply_async((str(batch_id),), producer=producer, retry=False)
