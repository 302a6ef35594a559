"""A broker that goes away and comes back ends no worker."""

import logging
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from celery import concurrency
from django.conf import settings
from kombu import Connection, Exchange, Queue
from kombu.asynchronous import Hub as KombuHub
from kombu.common import ignore_errors

from knowlex.broker import broker_options, broker_url
from knowlex.celery_overrides import Pool
from knowlex.embedded.services import EmbeddedValkey


class Hub:
    def __init__(self) -> None:
        self.watched: list[int] = []

    def add_reader(self, descriptor: int, *_: Any) -> None:
        os.fstat(descriptor)  # open, or this raises
        self.watched.append(descriptor)


def test_a_child_that_was_untracked_is_tracked_again():
    assert concurrency.get_implementation(settings.CELERY_WORKER_POOL).Pool is Pool
    reading, writing = os.pipe()
    ended = SimpleNamespace(_popen=SimpleNamespace(sentinel=reading), _sentinel_poll=None)
    hub = Hub()
    Pool.__new__(Pool)._track_child_process(ended, hub)
    assert hub.watched == [ended._sentinel_poll]
    for descriptor in (reading, writing, ended._sentinel_poll):
        os.close(descriptor)


def test_a_connection_that_broke_is_closed_twice_and_its_tasks_acknowledged(tmp_path: Path):
    """As a worker does it: Consumer.on_connection_error_after_connected, and tasks that end later.

    It has a channel for tasks, and one for broadcast commands, which fails to close first.
    """
    broker = EmbeddedValkey(tmp_path)
    broker.start()
    broker.wait_ready()
    url = f"unix://{broker.socket}"
    connection = Connection(broker_url(url), transport_options=broker_options(url)[1])
    hub, taken = KombuHub(), list[Any]()
    queue = Queue("tasks", channel=connection.default_channel)
    queue.declare()
    with connection.Producer() as producer:
        producer.publish({}, routing_key="tasks")
    consumer = connection.Consumer([queue], callbacks=[lambda _body, message: taken.append(message)])
    consumer.consume()
    commands = Queue("commands", Exchange("everybody", type="fanout"), auto_delete=True)
    connection.Consumer([commands], channel=connection.channel()).consume()
    connection.register_with_event_loop(hub)
    loop = hub.create_loop()
    while not taken:
        next(loop)
    next(loop)  # so that it asks for the next one

    broker.part.stop(at_once=True)
    connection.collect()
    ignore_errors(connection, connection.close)
    taken[0].ack_log_error(logging.getLogger("kombu"), connection.connection_errors)

    with pytest.raises(connection.connection_errors):
        taken[0].ack()
