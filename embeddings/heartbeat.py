"""Says at intervals that a worker still has its batch in hand."""

import logging
from threading import Event, Thread
from types import TracebackType
from uuid import UUID

from django.db import connection

from embeddings import queue
from knowlex.common.database import with_retries
from knowlex.common.errors import DatabaseUnavailable

INTERVAL_S = 3.0
log = logging.getLogger(__name__)


class Heartbeat:
    """Renews the lease while the block runs, in a thread with a database connection of its own.

    A lease that could not be renewed in time ends; what was embedded under it is then thrown away.
    """

    def __init__(self, lease: UUID) -> None:
        self._lease = lease
        self._done = Event()
        self._thread = Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join(5)

    def _beat(self) -> None:
        try:
            while not self._done.wait(INTERVAL_S):
                self._renew()
        finally:
            connection.close()

    def _renew(self) -> None:
        try:
            with_retries(lambda: queue.renew(self._lease))
        except DatabaseUnavailable:
            log.warning("a lease could not be renewed")
