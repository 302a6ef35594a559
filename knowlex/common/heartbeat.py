"""Says at intervals that a worker still has its piece of work in hand."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType

from django.db import connection

from knowlex.common.database import with_retries
from knowlex.common.errors import DatabaseUnavailable

INTERVAL_S = 3.0
log = logging.getLogger(__name__)


class Heartbeat:
    """Calls `renew` while the block runs, in a thread with a database connection of its own.

    A lease that could not be renewed in time ends; what was done under it is then thrown away.
    """

    def __init__(self, renew: Callable[[], object]) -> None:
        self._renew_lease = renew
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
            with_retries(self._renew_lease)
        except DatabaseUnavailable:
            log.warning("a lease could not be renewed")
