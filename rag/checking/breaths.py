"""Long work on an event loop, with pauses in which everybody else has a turn. Plain Python."""

import asyncio
import time

AT_ONCE_S = 0.02


class Breaths:
    """Of one piece of work. A reply of 32,000 characters takes a second or two to check."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    async def take(self) -> None:
        """To be called now and then; a deadline that is over strikes here, too."""
        if time.perf_counter() - self._began > AT_ONCE_S:
            await asyncio.sleep(0)
            self._began = time.perf_counter()
