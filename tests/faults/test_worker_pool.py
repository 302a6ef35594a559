"""A child process that ends while the broker is away must not end its worker when the broker is back."""

import os
from types import SimpleNamespace
from typing import Any

from celery import concurrency
from django.conf import settings

from knowlex.worker_pool import Pool


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
