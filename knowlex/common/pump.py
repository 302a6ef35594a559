"""What an async generator makes, handed over one by one to somebody who cannot wait for ever."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Generic, TypeVar

T = TypeVar("T")
ROOM = 256  # that may wait for a slow taker; then the maker waits


class TakerTooSlow(Exception):
    """Nobody took what was made for too long."""


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class Pump(Generic[T]):
    """Runs the generator in one task of its own: its time limits and its clean-up hold, whoever takes when.

    Must be closed: that cancels the task and closes the generator.
    patience_s: for a taker; after it the generator is closed, and the end is TakerTooSlow.
    """

    def __init__(self, items: AsyncGenerator[T], *, room: int = ROOM, patience_s: float) -> None:
        self._queue: asyncio.Queue[T | _End] = asyncio.Queue()
        self._room, self._patience_s = asyncio.Semaphore(room), patience_s
        self._task = asyncio.create_task(self._run(items))

    async def next(self) -> T:
        """Raises StopAsyncIteration at the end, or what the generator raised. Safe to cancel."""
        item = await self._queue.get()
        if isinstance(item, _End):
            self._queue.put_nowait(item)  # for whoever asks again
            raise item.error or StopAsyncIteration
        self._room.release()
        return item

    async def aclose(self) -> None:
        """Returns when the generator is closed; what that raises is nobody's any more."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self, items: AsyncGenerator[T]) -> None:
        error: BaseException | None = TakerTooSlow()  # if we are cancelled there is nobody left to tell
        try:
            async with aclosing(items):
                async for item in items:
                    await self._wait_for_room()
                    self._queue.put_nowait(item)
            error = None
        except Exception as exc:  # noqa: BLE001 - told to whoever takes
            error = exc
        finally:
            self._queue.put_nowait(_End(error))

    async def _wait_for_room(self) -> None:
        if not self._room.locked():
            await self._room.acquire()  # at once
            return
        try:
            async with asyncio.timeout(self._patience_s):
                await self._room.acquire()
        except TimeoutError as exc:
            raise TakerTooSlow from exc
