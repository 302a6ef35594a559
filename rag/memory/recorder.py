"""Queries on their way into the database: handed over in no time, written in batches, at most a second later
(those of a conversation that goes on at once).

The answer never waits for its record, and never fails with it. While the database is away, records wait.
"""

import asyncio
import logging
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import psycopg
from django.conf import settings

from knowlex.common.errors import DatabaseUnavailable
from knowlex.common.per_loop import PerLoop
from rag.memory.records import Record, Row, row_of
from rag.memory.writing import write

log = logging.getLogger(__name__)

EVERY_S = 0.25
AT_ONCE = 100
MAX_WAITING = 4000  # about 8 kB each
FLUSH_S = 3.0


@dataclass(slots=True)
class Totals:
    """Of this process, since it began. lost: dropped for want of room, or that could not be stored."""

    written: int = 0
    lost: int = 0


totals = Totals()


class Recorder:
    """Of one event loop. away: the last try to write failed, so nobody waits for the next."""

    def __init__(self) -> None:
        self._waiting: deque[Row] = deque()
        self._writing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._awaited = asyncio.Event()
        self.away = False

    def add(self, record: Record) -> None:
        """Costs a reference; it is made small as soon as the loop has nothing more urgent in hand."""
        asyncio.get_running_loop().call_soon(self._take, record)

    def holds(self, query_id: UUID) -> bool:
        return any(row.query_id == query_id for row in tuple(self._waiting))

    async def flush(self) -> None:
        """Write what waits; it waits on if the database cannot be reached. What is being written is, then."""
        await asyncio.sleep(0)  # for what was handed over just now
        async with self._writing:
            while self._waiting:
                batch = [self._waiting[n] for n in range(min(AT_ONCE, len(self._waiting)))]
                if not await self._written(batch):
                    return
                self._forget(batch)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self.flush()
        if self._waiting:
            self._lose(len(self._waiting), "the database is away")

    def _take(self, record: Record) -> None:
        try:
            self._waiting.append(row_of(record))
        except Exception as exc:  # noqa: BLE001  # its answer is on its way, and the next record is another
            self._lose(1, type(exc).__name__)
            return
        if len(self._waiting) > MAX_WAITING:
            self._waiting.popleft()
            self._lose(1, "too many wait")
        if record.conversation_id != str(record.query_id):
            self._awaited.set()  # the next question of the conversation may come to another web server
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._flush_later())

    async def _flush_later(self) -> None:
        while self._waiting:
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY_S):
                    await self._awaited.wait()
            self._awaited.clear()
            await self.flush()

    async def _written(self, batch: list[Row]) -> bool:
        """False if the database cannot be reached."""
        try:
            await write(batch)
        except DatabaseUnavailable:
            self.away = True
            log.warning("queries not recorded yet", extra={"waiting": len(self._waiting)})
            return False
        except psycopg.Error as exc:
            return await self._written_one_by_one(batch, exc)
        self.away = False
        totals.written += len(batch)
        return True

    async def _written_one_by_one(self, batch: list[Row], exc: psycopg.Error) -> bool:
        """One that the database refuses is no reason to lose the others."""
        if len(batch) == 1:
            self._lose(1, type(exc).__name__)
            return True
        return all([await self._written([row]) for row in batch])

    def _forget(self, batch: list[Row]) -> None:
        """The oldest may have been dropped meanwhile."""
        written = {row.query_id for row in batch}
        while self._waiting and self._waiting[0].query_id in written:
            self._waiting.popleft()

    def _lose(self, count: int, reason: str) -> None:
        totals.lost += count
        log.error("queries lost", extra={"count": count, "reason": reason})


recorder: PerLoop[Recorder] = PerLoop(Recorder)


def record(asked: Record) -> None:
    """Have it written down, unless the settings say that nothing is. From an event loop; never raises."""
    if settings.QUERY_LOG:
        recorder.get().add(asked)


def flush_everywhere() -> None:
    """From a thread: who reads after an answer finds its query. Waits no longer than FLUSH_S."""
    until = time.monotonic() + FLUSH_S
    for loop, one in recorder.everywhere():
        if loop.is_running() and not one.away:
            with suppress(TimeoutError):
                flushing = asyncio.run_coroutine_threadsafe(one.flush(), loop)
                flushing.result(max(0.0, until - time.monotonic()))


async def flush_here() -> None:
    """The same from an event loop, for the queries that were answered on it."""
    if not recorder.get().away:
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_S):
                await recorder.get().flush()


def waits(query_id: UUID) -> bool:
    """Whether it is known here and not written yet."""
    return any(one.holds(query_id) for _, one in recorder.everywhere())
