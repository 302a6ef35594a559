"""Turns at the database's few connections, for a crowd on one event loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

from knowlex.base.errors import DatabaseUnavailable


class Turns:
    """At most `places` at once, first come, first served; one waits at most `wait_s` for a turn.

    When the database goes, those who waited meanwhile are told at once: finding out takes seconds, and would
    add up from turn to turn.
    """

    def __init__(self, places: int, wait_s: float) -> None:
        self._free = asyncio.Semaphore(places)
        self._wait_s = wait_s
        self._failed_at = float("-inf")

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Raises DatabaseUnavailable, and notes it when the work inside does."""
        if self._free.locked():
            await self._wait()
        else:
            await self._free.acquire()  # at once
        try:
            yield
        except DatabaseUnavailable:
            self._failed_at = monotonic()
            raise
        finally:
            self._free.release()

    async def _wait(self) -> None:
        came = monotonic()
        try:
            async with asyncio.timeout(self._wait_s):
                await self._free.acquire()
        except TimeoutError:
            raise DatabaseUnavailable("The database is busy.", retry_after_s=5) from None
        if self._failed_at >= came:
            self._free.release()
            raise DatabaseUnavailable("The database cannot be reached.", retry_after_s=5)
