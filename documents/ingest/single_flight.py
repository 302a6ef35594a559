"""Equal uploads at the same time: one does the work, the others wait for how it ends."""

from collections.abc import Callable, Hashable
from copy import copy
from threading import Event, Lock
from typing import Generic, TypeVar

from knowlex.base.errors import DependencyUnavailable, Duplicate, KnowlexError, UnreadableDocument

T = TypeVar("T")
SHARED = (UnreadableDocument, DependencyUnavailable)
WAIT_S = 300.0  # far beyond what an extraction may take


class _Call:
    def __init__(self) -> None:
        self.landed = Event()
        self.error: KnowlexError | None = None


class SingleFlight(Generic[T]):
    """One piece of work per key at a time in this process; between processes the database decides."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Call] = {}
        self._lock = Lock()

    def run(self, key: Hashable, work: Callable[[], T]) -> T:
        """`work()`, unless the same is under way: then wait.

        If that found the document unreadable, or something out of reach, so it is for us: twenty in a row
        must not each wait their time for the same refusal. If it stored the document, our `work` will see.
        After any other failure one of those who waited tries next.
        """
        while True:
            flight = self._board(key)
            if flight is None:
                return self._fly(key, work)
            if not flight.landed.wait(WAIT_S):
                raise DependencyUnavailable("The same file is still being read.", retry_after_s=30)
            if isinstance(flight.error, SHARED):
                raise copy(flight.error)
            if flight.error is None or isinstance(flight.error, Duplicate):
                return work()

    def _board(self, key: Hashable) -> _Call | None:
        """The flight to wait for, or None: ours is the one."""
        with self._lock:
            flight = self._flights.get(key)
            if flight is None:
                self._flights[key] = _Call()
            return flight

    def _fly(self, key: Hashable, work: Callable[[], T]) -> T:
        error: KnowlexError | None = KnowlexError("not finished")
        try:
            result = work()
            error = None
            return result
        except KnowlexError as exc:
            error = exc
            raise
        finally:
            with self._lock:
                flight = self._flights.pop(key)
            flight.error = error
            flight.landed.set()
