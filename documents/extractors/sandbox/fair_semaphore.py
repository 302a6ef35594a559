"""Taking turns at a limited number of processes, first come, first served."""

import threading
from collections import deque


class Turns:
    """A semaphore that is fair: threading's lets a newcomer overtake whoever was just woken."""

    def __init__(self, places: int) -> None:
        self._lock = threading.Lock()
        self._free = places
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, timeout_s: float) -> bool:
        with self._lock:
            if self._free and not self._waiting:
                self._free -= 1
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(timeout_s):
            return True
        with self._lock:
            if mine.is_set():  # handed over at the last moment
                return True
            self._waiting.remove(mine)
            return False

    def release(self) -> None:
        """Hands the place to who has waited longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1
