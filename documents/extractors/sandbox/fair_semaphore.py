"""A semaphore that serves its waiters in order, for a limited number of processes."""

import threading
from collections import deque


class FairSemaphore:
    """A semaphore without barging.

    Threading.Semaphore lets a newcomer overtake a thread that was just woken.
    """

    def __init__(self, permits: int) -> None:
        self._lock = threading.Lock()
        self._free = permits
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, timeout_s: float) -> bool:
        """Wait for a permit; False if none came free in time."""
        with self._lock:
            if self._free and not self._waiting:
                self._free -= 1
                return True
            woken = threading.Event()
            self._waiting.append(woken)
        if woken.wait(timeout_s):
            return True
        with self._lock:
            if woken.is_set():  # the permit came at the last moment
                return True
            self._waiting.remove(woken)
            return False

    def release(self) -> None:
        """Pass the permit to the thread that has waited longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1
