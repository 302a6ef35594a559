"""A worker's work in this process, for commands that wait for it while no worker is alive."""

import time
from collections.abc import Callable

from embeddings import services
from embeddings.external import delivery
from knowlex.base.errors import KnowlexError
from knowlex.runtime import liveness

LOOK_FOR_WORKERS_S = 1.0


class LocalWorker:
    """on_alone: called once, when no worker is alive and the work is done here. read_next: reads a document
    that waits, and returns something true if there was one; None to read none.
    """

    def __init__(self, on_alone: Callable[[], None], read_next: Callable[[], object] | None = None) -> None:
        self._on_alone, self._read_next, self._has_told = on_alone, read_next, False
        self._alive_count, self._looked_at = 1, float("-inf")

    def work_or_wait(self, seconds: float) -> None:
        """Work for about so long; wait as long where workers are alive, or nothing is to be done."""
        ends = time.monotonic() + seconds
        if not self.work():
            time.sleep(seconds)
        while time.monotonic() < ends and self.work():
            pass

    def work(self) -> bool:
        """Do what a worker would do next; return False where one is alive, or nothing is to be done."""
        if not self._is_alone():
            return False
        try:
            if services.work_once() or (self._read_next and self._read_next()) or delivery.deliver_once():
                return True
            batches, unread = services.sweep()
            return bool(batches) or bool(self._read_next and unread)
        except KnowlexError:
            return False  # recorded, or tried again at the next look

    def _is_alone(self) -> bool:
        if time.monotonic() - self._looked_at > LOOK_FOR_WORKERS_S:
            self._alive_count, self._looked_at = liveness.count_alive_now(), time.monotonic()
        if not self._alive_count and not self._has_told:
            self._has_told = True
            self._on_alone()
        return not self._alive_count
