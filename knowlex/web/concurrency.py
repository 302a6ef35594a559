"""Uploads must not crowd out everybody else: how many are received at once, and how many have a thread."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from knowlex.base.errors import DependencyUnavailable

RECEIVED = 64  # bodies of megabytes, which lie on disk meanwhile
SERVED = 24  # of the threads for sync views; the others stay free for short requests
WAIT_S = 30.0
RETRY_AFTER_S = 5


class Uploads:
    """Of one process, on its event loop."""

    def __init__(self, received: int = RECEIVED, served: int = SERVED, wait_s: float = WAIT_S) -> None:
        self._room, self._wait_s = received, wait_s
        self._free = asyncio.Semaphore(served)

    @asynccontextmanager
    async def received(self) -> AsyncIterator[None]:
        """From before the body is read to the answer. Raises DependencyUnavailable if there are too many."""
        if not self._room:
            raise _crowded()
        self._room -= 1
        try:
            yield
        finally:
            self._room += 1

    @asynccontextmanager
    async def served(self) -> AsyncIterator[None]:
        """Waits on the loop, not in a thread. Raises DependencyUnavailable if it takes too long."""
        try:
            async with asyncio.timeout(self._wait_s):
                await self._free.acquire()
        except TimeoutError:
            raise _crowded() from None
        try:
            yield
        finally:
            self._free.release()


def _crowded() -> DependencyUnavailable:
    return DependencyUnavailable("The server is busy with other uploads.", retry_after_s=RETRY_AFTER_S)
