"""Single flight: of equal uploads at the same time one does the work, the others wait for its outcome."""

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
        self.done = Event()
        self.error: KnowlexError | None = None


class SingleFlight(Generic[T]):
    """One piece of work per key at a time in this process; between processes the database decides."""

    def __init__(self) -> None:
        self._calls: dict[Hashable, _Call] = {}
        self._lock = Lock()

    def run(self, key: Hashable, work: Callable[[], T]) -> T:
        """Run `work()`, unless the same is under way: then wait for it.

        If that found the document unreadable, or something out of reach, so it is for us: twenty in a row
        must not each wait their time for the same refusal. If it stored the document, our `work` will see.
        After any other failure one of those who waited tries next.
        """
        while True:
            call = self._join(key)
            if call is None:
                return self._execute(key, work)
            if not call.done.wait(WAIT_S):
                raise DependencyUnavailable("The same file is still being read.", retry_after_s=30)
            if isinstance(call.error, SHARED):
                raise copy(call.error)
            if call.error is None or isinstance(call.error, Duplicate):
                return work()

    def _join(self, key: Hashable) -> _Call | None:
        """Return the call to wait for; None if there was none, so that the caller's begins."""
        with self._lock:
            call = self._calls.get(key)
            if call is None:
                self._calls[key] = _Call()
            return call

    def _execute(self, key: Hashable, work: Callable[[], T]) -> T:
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
                call = self._calls.pop(key)
            call.error = error
            call.done.set()
