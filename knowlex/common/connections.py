"""psycopg's connection on an event loop, for many short statements that are the same again and again.

An answer is read by one callback as it comes: psycopg wakes a task, and sets a timer, for each piece of it,
and the server sends one for every 8 kB. And statements go without a cursor (knowlex.common.prepared).
"""

import asyncio
from contextlib import suppress
from typing import Any, Generic

import psycopg
from psycopg import AsyncConnection
from psycopg.abc import RV, Params, PQGen
from psycopg.abc import QueryNoTemplate as Query
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import DictRow
from psycopg.waiting import Ready, Wait

from knowlex.common.prepared import Statements

READING, WRITING = Wait.R, Wait.W
SETTLING_S = 5.0  # for the server to take back a statement, and once more to say so


class LoopConnection(AsyncConnection[DictRow]):
    """settles_later: who is cancelled while a statement runs does not wait until the server has ended it. The
    connection is `unsettled` then, and of no use until `settle` was awaited.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.settles_later = False
        self._left: PQGen[Any] | None = None
        self._statements = Statements(self)

    @property
    def unsettled(self) -> bool:
        return self._left is not None

    async def rows(self, sql: Query, params: Params) -> list[DictRow]:
        """Of one statement; one at a time."""
        if not isinstance(sql, (str, bytes)):  # put together for this once
            return await (await self.execute(sql, params)).fetchall()
        return await self.wait(self._statements.rows(sql, params))

    async def wait(
        self,
        gen: PQGen[RV],
        interval: float = 0.1,
        timeout: float | None = None,  # noqa: ASYNC109 - psycopg's
    ) -> RV:
        if timeout is not None or self.pgconn.pipeline_status != PipelineStatus.OFF:
            return await super().wait(gen, interval, timeout)
        try:
            wanted = next(gen)
        except StopIteration as end:
            value: RV = end.value
            return value
        try:
            return await _Answer(gen, self.pgconn.socket).read(wanted)
        except asyncio.CancelledError:
            self._left = gen
            if not self.settles_later:
                await self.settle()
            raise

    async def settle(self) -> None:
        """Have the statement ended that was left. A connection on which that fails is closed."""
        left, self._left = self._left, None
        try:
            if left is not None and self._is_active():
                with suppress(psycopg.Error):  # as a rule that it was cancelled
                    await self.cancel_safe(timeout=SETTLING_S)
                    await super().wait(left, timeout=SETTLING_S)
        finally:
            if self._is_active():
                await self.close()

    def _is_active(self) -> bool:
        return self.pgconn.transaction_status == TransactionStatus.ACTIVE


class _Answer(Generic[RV]):
    """What one of psycopg's generators returns that sends and reads whenever the socket is ready."""

    def __init__(self, gen: PQGen[RV], socket: int) -> None:
        self._gen, self._socket, self._loop = gen, socket, asyncio.get_running_loop()
        self._value: asyncio.Future[RV] = self._loop.create_future()
        self._writing = False

    async def read(self, wanted: Wait) -> RV:
        """Raises what the generator raises; cancelled, it leaves the generator as it is."""
        try:
            self._loop.add_reader(self._socket, self._ready, Ready.R)
            self._listen(wanted)
            return await self._value
        except OSError as exc:
            raise psycopg.OperationalError("connection socket closed") from exc
        finally:
            self._loop.remove_reader(self._socket)
            self._listen(READING)

    def _listen(self, wanted: Wait) -> None:
        """Whether it can be written, too; what there is to read is always wanted."""
        writing = bool(wanted & WRITING)
        if writing and not self._writing:
            self._loop.add_writer(self._socket, self._ready, Ready.W)
        elif self._writing and not writing:
            self._loop.remove_writer(self._socket)
        self._writing = writing

    def _ready(self, ready: Ready) -> None:
        if self._value.done():  # it has ended, or was cancelled, in this turn of the loop
            return
        try:
            self._listen(self._gen.send(ready))
        except StopIteration as end:
            self._value.set_result(end.value)
        except Exception as exc:  # noqa: BLE001 - raised where it is awaited
            self._value.set_exception(exc)
