"""The Celery app. The queue carries hints only; what is to be done stands in PostgreSQL."""

import logging
import os
import signal
from contextlib import suppress
from typing import Any

from celery import Celery
from celery.signals import worker_process_init, worker_ready

from knowlex.embedded.parts import die_with_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "knowlex.settings")

app = Celery("knowlex")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_process_init.connect
def _end_with_main_process(**_: Any) -> None:
    """A child whose main process was killed would else finish its task as an orphan."""
    die_with_parent(signal.SIGKILL, parent=os.getppid())()


@worker_ready.connect
def _tell_up(**_: Any) -> None:
    """`up` waits for a byte on this pipe before it calls Knowlex ready."""
    descriptor = os.environ.pop("KNOWLEX_READY_FD", "")
    if descriptor.isdigit():
        with suppress(OSError):
            os.write(int(descriptor), b"1")
            os.close(int(descriptor))
    logging.getLogger(__name__).info("workers ready")
