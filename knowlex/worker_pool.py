"""Celery's pool of processes, without an end that a broker's restart can give a worker.

A child that ends while the broker is away is untracked by setting its descriptor to None; when the
connection is there again, all children are tracked anew, and Celery 5.7 dies of that None
(celery/celery#9250 is of the kind; tests/faults/test_worker_pool.py).
"""

from typing import Any

from celery.concurrency import asynpool, prefork


class Pool(asynpool.AsynPool):
    def _track_child_process(self, proc: Any, hub: Any) -> None:
        if getattr(proc, "_sentinel_poll", 0) is None:
            del proc._sentinel_poll  # so that it is opened again, and the end of the child noticed
        super()._track_child_process(proc, hub)  # type: ignore[misc]  # the stubs do not know it


class TaskPool(prefork.TaskPool):
    Pool = Pool
