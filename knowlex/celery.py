"""The Celery app. The queue carries hints only; what is to be done stands in PostgreSQL."""

import gc
import os
import signal
from socket import gethostname
from threading import Event, Thread
from typing import Any

from celery import Celery
from celery.signals import (
    task_prerun,
    worker_before_create_process,
    worker_process_init,
    worker_ready,
    worker_shutdown,
)
from django.conf import settings
from django.db import close_old_connections

from knowlex.base.readiness import report_ready
from knowlex.embedded.processes import die_with_parent
from knowlex.runtime import liveness

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "knowlex.settings")
# Those of Django import all views, which a worker does not serve.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")
gc.set_threshold(50_000, 20, 50)  # what is imported stays: see knowlex/asgi.py

app = Celery("knowlex")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

_ending = Event()


@worker_before_create_process.connect
def _share_memory(**_: Any) -> None:
    """Let children share what is loaded by now: their collector would write into every page of it."""
    gc.freeze()


@worker_process_init.connect
def _end_with_main_process(**_: Any) -> None:
    """Keep a child whose main process was killed from finishing its task as an orphan."""
    die_with_parent(signal.SIGKILL, parent=os.getppid())()


@task_prerun.connect
def _check_connection(**_: Any) -> None:
    """Keep the connection from task to task as Django does from request to request, if it is still good.

    Celery would close it before and after each: a new one costs 10 ms of CPU, here and in PostgreSQL.
    """
    close_old_connections()


@worker_ready.connect
def _start_heartbeat(**_: Any) -> None:
    """Start it after the children were forked: a thread, and its connection, would not survive that."""
    liveness.beat(*_identity())
    Thread(target=_beat, name="heartbeat", daemon=True).start()
    report_ready()


@worker_shutdown.connect
def _stop_heartbeat(**_: Any) -> None:
    _ending.set()
    liveness.silence(*_identity())


def _beat() -> None:
    while not _ending.wait(liveness.EVERY_S):
        liveness.beat(*_identity())


def _identity() -> tuple[str, int]:
    return f"{gethostname()}:{os.getpid()}", settings.WORKERS
