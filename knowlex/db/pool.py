"""Statements from the event loop: psycopg's own asynchronous pool, one for each loop, holding no thread.

Django's ORM would hop to a thread for every query; views that answer 500 people at once cannot pay that.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from time import monotonic
from typing import Any, TypeAlias

import psycopg
from django.conf import settings
from django.db import connections
from psycopg import AsyncConnection, AsyncCursor
from psycopg.abc import QueryNoTemplate as Query
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL, Literal
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from knowlex.base.errors import DatabaseUnavailable
from knowlex.base.event_loops import PerLoop
from knowlex.base.retry import Retry
from knowlex.base.time_limits import await_abandoned
from knowlex.db.silence import finish_unless_silent

log = logging.getLogger(__name__)

Row: TypeAlias = dict[str, Any]
Params: TypeAlias = Sequence[Any] | Mapping[str, Any]

# With fewer, statements wait for turns that nobody uses: those who have one wait for the event loop.
MAX_CONNECTIONS = max(8, 16 // settings.SHARING_PROCESSES)
MAX_PREPARED = 64  # statements of a connection; the least recently used goes first
LIMIT_S = 4.6  # for a statement with its retries: with the database gone, callers answer 503 within 5 s
SPARE_S = 5.0  # without need of a connection, then one is closed: few are left a minute after a crowd
KEPT_CONNECTIONS = 2  # a new one reads the catalog and plans the search anew: 40 ms at 30,000 chunks
BUSY_S = 15.0  # that a crowd may make one wait for its turn at a database that works
CONNECTION_WAIT_S = 1.0  # of one try; a try that waited in vain makes the pool connect anew
TRANSIENT = (
    psycopg.OperationalError,  # connection lost, server starting or stopping, deadlock, serialization
    psycopg.InterfaceError,
    PoolTimeout,
    PoolClosed,
)
_NO_SCANS = "SET LOCAL enable_seqscan = off"  # as `_configure` says, behind a pooler
_RETRY = Retry(retries=3, base_s=0.1, factor=1.0, deadline_s=LIMIT_S)


class Connection(AsyncConnection[DictRow]):
    """A connection of the pool; its statements come one after the other, and share a cursor.

    A new cursor finds out anew how each parameter and column is converted: a third of a short statement's
    time.
    """

    @cached_property
    def shared_cursor(self) -> AsyncCursor[DictRow]:
        return self.cursor()


class StatementTooLong(DatabaseUnavailable):
    """The statement was cancelled, as a rule by its own `statement_timeout`; another try would be, too."""


class WritesRefused(DatabaseUnavailable):
    """The database answers, but takes no writes: it is read-only, or has no room."""


class Turns:
    """At most `places` at once, first come, first served; one waits at most `wait_s` for a turn.

    When the database goes, those who waited meanwhile are refused at once: finding out takes seconds, and
    would add up from turn to turn.
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
        except (StatementTooLong, WritesRefused):
            raise  # the database answered: the others' statements may be short, and only read
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


async def fetch_all(
    sql: Query,
    params: Params = (),
    *,
    setup: Sequence[Query] = (),
    reader: Sequence[str] | None = None,
    at_turn: Callable[[], None] = lambda: None,
) -> list[Row]:
    """Run one statement and return its rows; the connection is back in the pool then.

    setup: SET LOCAL statements that hold for this statement only; all go in one round trip. reader: the
    principals of a caller with limits, for whom the database itself hides documents. at_turn: called
    once, before it is sent for the first time.
    A lost connection, a deadlock or a serialization failure is tried again up to three times, so the
    statement must be safe to run twice. Raises DatabaseUnavailable: with the database gone, within 5 s;
    StatementTooLong, which is one, where setup sets a `statement_timeout`.
    """
    setup = as_reader(reader, setup)
    async with _turns.get().turn():
        at_turn()
        work = _RETRY.acall(lambda: _fetch(sql, params, setup), retry_on=TRANSIENT)
        try:  # whoever is cancelled, by the limit or otherwise, is not held up by a server that hangs
            return await finish_unless_silent(work, within_s=LIMIT_S, database=_database())
        except TRANSIENT as exc:
            log.error("database unavailable", extra={"error": type(exc).__name__})
            raise DatabaseUnavailable("The database cannot be reached.", retry_after_s=5) from exc


def as_reader(reader: Sequence[str] | None, setup: Sequence[Query]) -> Sequence[Query]:
    """Return the setup for a statement that is under row security; see row_security.sql of documents."""
    if not reader:
        return setup
    return (*setup, SQL("SELECT documents_read_as({})").format(Literal(list(reader))))


async def fetch_one(
    sql: Query, params: Params = (), *, setup: Sequence[Query] = (), reader: Sequence[str] | None = None
) -> Row | None:
    """Return the first row of `fetch_all`, or None."""
    rows = await fetch_all(sql, params, setup=setup, reader=reader)
    return rows[0] if rows else None


async def fetch_shared(sql: Query, params: Params, *, same: Hashable) -> list[Row]:
    """Run one statement for all who ask the same while it waits for its turn; the rows are only to be read.

    Whoever comes before the statement is sent gets the rows that a statement of his own would find, since it
    sees all that was committed until then. Whoever comes later sends another one.
    same: equal for those who ask the same.
    """
    waiting = _waiting.get()
    while (others := waiting.get(same)) is not None:
        rows = await asyncio.shield(others)
        if rows is not None:
            return rows
    shared: _SharedRows = asyncio.get_running_loop().create_future()
    waiting[same] = shared

    def withdraw() -> None:
        if waiting.get(same) is shared:
            del waiting[same]

    try:
        rows = await fetch_all(sql, params, at_turn=withdraw)
    except Exception as exc:
        shared.set_exception(exc)
        shared.exception()  # retrieved, in case that nobody else asks
        raise
    except BaseException:
        shared.set_result(None)  # whoever waits asks himself
        raise
    finally:
        withdraw()
    shared.set_result(rows)
    return rows


async def close_pool() -> None:
    """Close this loop's pool; the next query opens a new one."""
    await await_abandoned(within_s=1.0)
    pool = _pools.take()
    if pool is not None:
        await pool.close(timeout=1.0)


async def run_statement(
    connection: Connection, sql: Query, params: Params, setup: Sequence[Query]
) -> list[Row]:
    """Return the rows of one statement, inside a transaction where `setup` must hold for it alone."""
    setup = settings_for(connection, setup)
    if not setup:
        try:
            cursor = await connection.shared_cursor.execute(sql, params)
            return await cursor.fetchall()
        except psycopg.errors.FeatureNotSupported:
            await connection.close()  # a table has changed: the prepared statement would fail for ever
            raise
    async with connection.pipeline(), connection.transaction():
        for statement in setup:
            await connection.execute(statement, prepare=False)
        cursor = await connection.execute(sql, params)
    return await cursor.fetchall()


def settings_for(connection: Connection, setup: Sequence[Query]) -> Sequence[Query]:
    """Return the SET LOCAL statements, with those that a direct connection was given once (`_configure`)."""
    return setup if connection.prepare_threshold is not None else (_NO_SCANS, *setup)


def new_pool(database: Mapping[str, Any]) -> AsyncConnectionPool[Connection]:
    """Return a pool that is not open yet. database: as in Django's DATABASES."""
    return AsyncConnectionPool(
        kwargs={
            **_connection_arguments(database),
            "autocommit": True,
            "row_factory": dict_row,
            "prepare_threshold": 1,
        },
        connection_class=Connection,
        configure=_configure,
        open=False,
        min_size=KEPT_CONNECTIONS,
        max_size=MAX_CONNECTIONS,
        max_idle=SPARE_S,
        timeout=CONNECTION_WAIT_S,
        reconnect_timeout=2.0,
        num_workers=1,
    )


async def _fetch(sql: Query, params: Params, setup: Sequence[Query]) -> list[Row]:
    pool = _pools.get()
    await pool.open()  # returns at once when it is open
    try:
        async with pool.connection() as connection:
            return await run_statement(connection, sql, params, setup)
    except psycopg.errors.QueryCanceled as exc:
        raise StatementTooLong("A statement took too long.", retry_after_s=5) from exc
    except (psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.DiskFull) as exc:
        raise WritesRefused("The database takes no writes at the moment.", retry_after_s=5) from exc
    except PoolTimeout:
        raise
    except psycopg.OperationalError:
        await pool.check()  # the server may have closed others, too: the next try finds none of them
        raise


async def _configure(connection: Connection) -> None:
    """Forbid scans of whole tables: all that is asked here has an index.

    To the planner, unpacking a row's words costs nothing, so with a few thousand chunks it would read them
    all: 14 ms for 2,000, against 2 ms by the GIN index.
    """
    connection.prepared_max = MAX_PREPARED
    if await _is_pooled(connection):
        connection.prepare_threshold = None
    else:
        await connection.execute("SET enable_seqscan = off")


async def _is_pooled(connection: Connection) -> bool:
    """Return whether a pooler (PgBouncer) stands in between: then what is prepared or set stays with some
    connection of its own, and the next transaction gets another.
    """
    row = await (await connection.execute("SELECT pg_backend_pid() AS pid")).fetchone()
    return row is None or row["pid"] != connection.info.backend_pid


def _connection_arguments(database: Mapping[str, Any]) -> dict[str, Any]:
    """Return libpq's arguments."""
    named = {
        "host": database["HOST"],
        "port": database["PORT"],
        "user": database["USER"],
        "password": database["PASSWORD"],
        "dbname": database["NAME"],
        "application_name": "knowlex",
        **database["OPTIONS"],
    }
    return {name: value for name, value in named.items() if value != ""}


def _database() -> Mapping[str, Any]:
    """In tests Django's own settings name the test database."""
    return connections["default"].settings_dict


_SharedRows: TypeAlias = asyncio.Future[list[Row] | None]  # None: who asked for all has left
_pools: PerLoop[AsyncConnectionPool[Connection]] = PerLoop(lambda: new_pool(_database()))
_turns: PerLoop[Turns] = PerLoop(lambda: Turns(MAX_CONNECTIONS, BUSY_S))
_waiting: PerLoop[dict[Hashable, _SharedRows]] = PerLoop(dict)
