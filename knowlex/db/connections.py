"""psycopg's connection on an event loop, for many short statements that are the same again and again.

An answer is read by one callback as it comes: psycopg wakes a task, and sets a timer, for each piece of it,
and the server sends one for every 8 kB. And statements go without a cursor (knowlex.db.connections).
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeAlias

import psycopg
from psycopg import AsyncConnection, BaseConnection
from psycopg.abc import RV, Params, PQGen
from psycopg.abc import QueryNoTemplate as Query
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus, PipelineStatus, TransactionStatus
from psycopg.pq.abc import PGresult
from psycopg.rows import DictRow
from psycopg.waiting import Ready, Wait

KEPT = 64  # of a connection, the last ones asked
DONE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
_PLACEHOLDER = re.compile(rb"%(?:\((?P<name>\w+)\)s|s|%)")

Key: TypeAlias = tuple[str | bytes, tuple[int, ...]]


class Statements:
    """Of one connection. A statement is kept for each combination of its parameters' types."""

    def __init__(self, connection: BaseConnection[Any]) -> None:
        self._pgconn, self._transformer = connection.pgconn, Transformer(connection)
        self._names: OrderedDict[Key, bytes] = OrderedDict()  # b"": it was asked once
        self._unwanted: list[bytes] = []
        self._made = 0

    def rows(self, sql: str | bytes, params: Params) -> PQGen[list[DictRow]]:
        """Raises psycopg.Error; a statement that fails is prepared anew the next time but one."""
        while self._unwanted:
            yield from self._sent(self._pgconn.send_query, b"DEALLOCATE " + self._unwanted.pop())
        result = yield from self._asked(sql, params)
        self._transformer.set_pgresult(result)
        rows = self._transformer.load_rows(0, result.ntuples, _row_maker(result))
        self._transformer.set_pgresult(None)  # it would be held until the next one comes
        return rows

    def _asked(self, sql: str | bytes, params: Params) -> PQGen[PGresult]:
        """What is asked once is not prepared: that would be one more round trip."""
        worded = _worded(sql)
        values = self._transformer.dump_sequence(worded.in_order(params), worded.formats)
        types, formats = self._transformer.types or (), self._transformer.formats
        name = self._names.pop((sql, types), None)
        if name is None:
            result = yield from self._sent(
                self._pgconn.send_query_params, worded.text, values, types, formats
            )
            self._keep((sql, types), b"")
            return result
        name = name or (yield from self._prepared(worded.text, types))
        try:
            result = yield from self._sent(self._pgconn.send_query_prepared, name, values, formats)
        except BaseException:
            self._unwanted.append(name)
            raise
        self._keep((sql, types), name)
        return result

    def _prepared(self, text: bytes, types: Sequence[int]) -> PQGen[bytes]:
        self._made += 1
        name = b"kx_%d" % self._made
        yield from self._sent(self._pgconn.send_prepare, name, text, types)
        return name

    def _sent(self, send: Callable[..., None], *arguments: Any) -> PQGen[PGresult]:
        send(*arguments)
        results: list[PGresult] = yield from execute(self._pgconn)
        (result,) = results
        if result.status not in DONE:
            raise error_from_result(result)
        return result

    def _keep(self, key: Key, name: bytes) -> None:
        self._names[key] = name
        if len(self._names) > KEPT:
            _, left = self._names.popitem(last=False)
            self._unwanted += [left] if left else []


class _Worded(NamedTuple):
    """A statement as the server reads it. names: of its parameters; "" where they come in their order."""

    text: bytes
    names: tuple[str, ...]
    formats: tuple[PyFormat, ...]

    def in_order(self, params: Params) -> Sequence[Any]:
        if isinstance(params, Mapping):
            return [params[name] for name in self.names]
        return params


@lru_cache(maxsize=256)
def _worded(sql: str | bytes) -> _Worded:
    names: list[str] = []

    def numbered(found: re.Match[bytes]) -> bytes:
        if found[0] == b"%%":
            return b"%"
        name = (found["name"] or b"").decode()
        if not name or name not in names:
            names.append(name)
            return b"$%d" % len(names)
        return b"$%d" % (names.index(name) + 1)

    text = _PLACEHOLDER.sub(numbered, sql.encode() if isinstance(sql, str) else sql)
    return _Worded(text, tuple(names), (PyFormat.AUTO,) * len(names))


def _row_maker(result: PGresult) -> Callable[[Sequence[Any]], DictRow]:
    names = [(result.fname(place) or b"").decode() for place in range(result.nfields)]
    return lambda values: dict(zip(names, values, strict=True))


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
