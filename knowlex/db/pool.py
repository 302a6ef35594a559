"""Queries from the event loop: psycopg's own async pool, one for each loop, holding no thread.

Django's ORM would hop to a thread for every query; views that answer 500 people at once cannot pay that.
"""

import asyncio
import logging
import select
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import psycopg
from django.db import connections
from psycopg.abc import QueryNoTemplate as Query
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from knowlex.base.errors import DatabaseUnavailable
from knowlex.base.retry import Retry
from knowlex.db.connections import LoopConnection
from knowlex.db.turns import Turns
from knowlex.runtime.event_loops import PerLoop
from knowlex.runtime.timeouts import abandoned_ended, finished, left_behind

log = logging.getLogger(__name__)

Row: TypeAlias = dict[str, Any]
Params: TypeAlias = Sequence[Any] | Mapping[str, Any]

MAX_CONNECTIONS = 8
LIMIT_S = 4.6  # for a statement with its retries: with the database gone, callers answer 503 within 5 s
SPARE_S = 5.0  # without need of a connection, then one is closed: none is left a minute after a crowd
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


class Pool(AsyncConnectionPool[LoopConnection]):
    """behind_pooler: whether the connections made so far reach a pooler, not the server itself."""

    behind_pooler = False


class StatementTooLong(DatabaseUnavailable):
    """It was cancelled, as a rule by its own `statement_timeout`; a second try would be, too."""


async def fetch_all(
    sql: Query,
    params: Params = (),
    *,
    setup: Sequence[Query] = (),
    at_turn: Callable[[], None] = lambda: None,
) -> list[Row]:
    """Run one statement and return its rows; the connection is back in the pool then.

    setup: SET LOCAL statements that hold for this statement only; all go in one round trip. at_turn: called
    once, before it is sent for the first time.
    A lost connection, a deadlock or a serialization failure is tried again up to three times, so the
    statement must be safe to run twice. Raises DatabaseUnavailable: with the database gone, within 5 s;
    StatementTooLong, which is one, where setup sets a `statement_timeout`.
    """
    async with _turns.get().turn():
        at_turn()
        return await _within_limit(sql, params, setup)


async def fetch_one(sql: Query, params: Params = (), *, setup: Sequence[Query] = ()) -> Row | None:
    """The first row of `fetch_all`, or None."""
    rows = await fetch_all(sql, params, setup=setup)
    return rows[0] if rows else None


async def close_pool() -> None:
    """Close this loop's pool; the next query opens a new one."""
    await abandoned_ended(within_s=1.0)
    pool = _pools.take()
    if pool is not None:
        await pool.close(timeout=1.0)


async def _within_limit(sql: Query, params: Params, setup: Sequence[Query]) -> list[Row]:
    try:
        async with asyncio.timeout(LIMIT_S):
            return await _fetch_with_retries(sql, params, setup)
    except TimeoutError:
        raise DatabaseUnavailable("The database did not answer in time.", retry_after_s=5) from None


async def _fetch_with_retries(sql: Query, params: Params, setup: Sequence[Query]) -> list[Row]:
    try:
        return await _RETRY.acall(lambda: _fetch(sql, params, setup), retry_on=TRANSIENT)
    except TRANSIENT as exc:
        log.error("database unavailable", extra={"error": type(exc).__name__})
        raise DatabaseUnavailable("The database cannot be reached.", retry_after_s=5) from exc


async def _fetch(sql: Query, params: Params, setup: Sequence[Query]) -> list[Row]:
    """Whoever is cancelled, by the limit or otherwise, is not held up by a server that hangs."""
    pool = _pools.get()
    await pool.open()  # returns at once when it is open
    try:
        if not setup and not pool.behind_pooler:
            connection = await living_connection(pool)
            if connection.prepare_threshold is not None:
                return await _alone(pool, connection, sql, params)
            await pool.putconn(connection)  # the first of all, and there is a pooler
        return await finished(_in_transaction(pool, sql, params, setup), within_s=LIMIT_S)
    except psycopg.errors.QueryCanceled as exc:
        raise StatementTooLong("A statement took too long.", retry_after_s=5) from exc


async def _alone(pool: Pool, connection: LoopConnection, sql: Query, params: Params) -> list[Row]:
    connection.settles_later = True
    try:
        return await connection.rows(sql, params)
    finally:
        connection.settles_later = False
        if connection.unsettled:
            left_behind(_settled(pool, connection))
        else:
            await pool.putconn(connection)


async def _settled(pool: Pool, connection: LoopConnection) -> None:
    try:
        await connection.settle()
    finally:
        await pool.putconn(connection)


async def _in_transaction(pool: Pool, sql: Query, params: Params, setup: Sequence[Query]) -> list[Row]:
    connection = await living_connection(pool)
    try:
        async with connection.pipeline(), connection.transaction():
            for statement in in_force(connection, setup):
                await connection.execute(statement, prepare=False)
            cursor = await connection.execute(sql, params)
        return await cursor.fetchall()
    finally:
        await pool.putconn(connection)


def in_force(connection: LoopConnection, setup: Sequence[Query]) -> Sequence[Query]:
    """The SET LOCAL statements, with those that a direct connection was given once (`_configure`)."""
    return setup if connection.prepare_threshold is not None else (_NO_SCANS, *setup)


async def living_connection(pool: Pool) -> LoopConnection:
    """A connection that the server has not closed meanwhile; the pool replaces those that it has."""
    for _ in range(MAX_CONNECTIONS):
        connection = await pool.getconn()
        if not _has_unread_bytes(connection):
            return connection
        await connection.close()
        await pool.putconn(connection)
    return await pool.getconn()


def _has_unread_bytes(connection: LoopConnection) -> bool:
    """Whether the idle connection's socket can be read: the server said goodbye, or just closed it."""
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    return bool(poll.poll(0))


def new_pool(database: Mapping[str, Any]) -> Pool:
    """database: as in Django's DATABASES."""
    pool = Pool(
        kwargs={**_connection_arguments(database), "autocommit": True, "row_factory": dict_row},
        connection_class=LoopConnection,
        configure=lambda connection: _configure(pool, connection),
        open=False,
        min_size=0,
        max_size=MAX_CONNECTIONS,
        max_idle=SPARE_S,
        timeout=CONNECTION_WAIT_S,
        reconnect_timeout=2.0,
        num_workers=1,
    )
    return pool


async def _configure(pool: Pool, connection: LoopConnection) -> None:
    """No scans of whole tables: all that is asked here has an index.

    To the planner, unpacking a row's words costs nothing, so with a few thousand chunks it would read them
    all: 14 ms for 2,000, against 2 ms by the GIN index.
    """
    pool.behind_pooler = await _is_pooled(connection)
    if pool.behind_pooler:
        connection.prepare_threshold = None
    else:
        await connection.execute("SET enable_seqscan = off")


async def _is_pooled(connection: LoopConnection) -> bool:
    """Whether a pooler (PgBouncer) stands in between: then what is prepared or set stays with some connection
    of its own, and the next transaction gets another.
    """
    row = await (await connection.execute("SELECT pg_backend_pid() AS pid")).fetchone()
    return row is None or row["pid"] != connection.info.backend_pid


def _connection_arguments(database: Mapping[str, Any]) -> dict[str, Any]:
    """libpq's arguments."""
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


# In tests Django's own settings name the test database.
_pools: PerLoop[Pool] = PerLoop(lambda: new_pool(connections["default"].settings_dict))
_turns: PerLoop[Turns] = PerLoop(lambda: Turns(MAX_CONNECTIONS, BUSY_S))
