"""This worker's part in reading documents: none while it does not see their files, so that others do it.

Else it would use up the hints that are meant for them. It goes on by itself when the files are there.
"""

import logging
import time

from celery import Celery
from django.conf import settings

from documents import reach

EVERY_S = 15.0
log = logging.getLogger(__name__)


class Reading:
    """Of one worker, from its main process. hostname: as Celery knows it."""

    def __init__(self, app: Celery, hostname: str) -> None:
        self._app, self._hostname = app, hostname
        self._on, self._due = True, 0.0

    def keep(self) -> None:
        """Look, from time to time, whether the files are in reach. Raises DatabaseUnavailable."""
        if time.monotonic() < self._due or not self._is_wanted():
            return
        self._due = time.monotonic() + EVERY_S
        on = not reach.elsewhere()
        if not on:
            log.error("this worker reads no documents", extra={"reason": reach.SHARE})
        if on != self._on:
            self._turn(on=on)

    def _is_wanted(self) -> bool:
        """Not in a worker that was started with other queues only (-Q)."""
        return not self._on or settings.INGEST_QUEUE in self._app.amqp.queues.consume_from

    def _turn(self, *, on: bool) -> None:
        control = self._app.control
        turn = control.add_consumer if on else control.cancel_consumer
        turn(settings.INGEST_QUEUE, destination=[self._hostname])
        log.warning("this worker reads documents" if on else "this worker leaves documents to others")
        self._on = on
