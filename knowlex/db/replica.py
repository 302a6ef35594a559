"""Reading from a replica of PostgreSQL (DATABASE_READ_URL), where it has all that the primary has told.

In the same round trip and before the statement, the replica is asked for the state of what is to be read. If
that is not the one that the primary told when the request began, the replica is behind (or ahead), and the
primary is asked instead. So a deleted document is never found, however far a replica lags, and several of
them may stand behind one address. Nobody fails for a replica's sake, and nobody waits long.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import psycopg
from django.conf import settings
from prometheus_client import Counter
from psycopg.abc import QueryNoTemplate as Query

from knowlex.base.event_loops import PerLoop
from knowlex.base.time_limits import finish_within
from knowlex.db import pool
from knowlex.db.pool import TRANSIENT, Connection, Params, Row, Turns
from knowlex.runtime.metrics import REGISTRY

log = logging.getLogger(__name__)

LIMIT_S = 2.0  # for a statement; then the primary is asked
REST_S = 5.0  # that a replica which cannot be used is left alone; then a single request tries it again
# It had to end the statement for what it is told by the primary: that is no reason to leave it alone.
CONFLICTS = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.QueryCanceled,
    psycopg.errors.DeadlockDetected,
)
_reads = Counter(
    "knowlex_replica_reads",
    "Statements for a replica: answered by it, or by the primary since it was behind or away.",
    ["outcome"],
    registry=REGISTRY,
)


@dataclass(frozen=True, slots=True)
class Told:
    """What a replica must have: the rows of `sql` are to be of this state."""

    sql: Query
    params: Params
    state: str
    state_of: Callable[[Sequence[Row]], str]


async def fetch_all(
    sql: Query,
    params: Params = (),
    *,
    setup: Sequence[Query] = (),
    told: Told | None = None,
    reader: Sequence[str] | None = None,
) -> list[Row]:
    """Fetch as `pool.fetch_all` does, from the replica if it has what was `told`. Only for what only
    reads.
    """
    if told is not None and settings.DATABASE_READ:
        rows = await _replicas.get().fetch(sql, params, pool.as_reader(reader, setup), told)
        if rows is not None:
            return rows
    return await pool.fetch_all(sql, params, setup=setup, reader=reader)


async def close() -> None:
    """This loop's connections."""
    if (replica := _replicas.take()) is not None:
        await replica.close()


class Replica:
    """Of one event loop."""

    def __init__(self) -> None:
        self._pool = pool.new_pool(settings.DATABASE_READ)
        self._turns = Turns(pool.MAX_CONNECTIONS, pool.BUSY_S)
        self._away, self._look_again = False, 0.0

    async def fetch(self, sql: Query, params: Params, setup: Sequence[Query], told: Told) -> list[Row] | None:
        """Return the rows, None if the primary is to be asked. Raises what is wrong with the statement
        itself.
        """
        try:
            async with self._turns.turn():
                if self._away and not self._may_try():  # so it is, too, for those who waited for their turn
                    return _not_from_it("away")
                work = self._fetch(sql, params, setup, told)
                rows = await finish_within(work, within_s=LIMIT_S)
        except CONFLICTS:
            return _not_from_it("behind")
        except (*TRANSIENT, TimeoutError) as exc:
            self._rest(exc)
            return _not_from_it("away")
        self._away = False
        if rows is None:
            return _not_from_it("behind")
        _reads.labels("replica").inc()
        return rows

    async def close(self) -> None:
        await self._pool.close(timeout=1.0)

    async def _fetch(
        self, sql: Query, params: Params, setup: Sequence[Query], told: Told
    ) -> list[Row] | None:
        await self._pool.open()  # returns at once when it is open
        async with self._pool.connection() as connection:
            return await _run(connection, sql, params, setup, told)

    def _may_try(self) -> bool:
        """Let one of all requests try, once in REST_S."""
        if time.monotonic() < self._look_again:
            return False
        self._look_again = time.monotonic() + REST_S
        return True

    def _rest(self, exc: Exception) -> None:
        self._away, self._look_again = True, time.monotonic() + REST_S
        log.warning("replica cannot be used", extra={"error": type(exc).__name__, "rests_s": REST_S})


def _not_from_it(outcome: Literal["behind", "away"]) -> list[Row] | None:
    _reads.labels(outcome).inc()
    return None


async def _run(
    connection: Connection, sql: Query, params: Params, setup: Sequence[Query], told: Told
) -> list[Row] | None:
    """Return the rows, None if the state is another one. A statement sees what is there when it begins:
    never less.
    """
    async with connection.pipeline(), connection.transaction():
        for statement in pool.settings_for(connection, setup):
            await connection.execute(statement, prepare=False)
        state: Any = await connection.execute(told.sql, told.params)
        cursor = await connection.execute(sql, params)
    if told.state_of(await state.fetchall()) != told.state:
        return None
    return await cursor.fetchall()


_replicas: PerLoop[Replica] = PerLoop(Replica)
