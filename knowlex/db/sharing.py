"""One statement for all who ask the same while it waits for its turn at the database, on one event loop.

Each of a crowd asks in which state the collections are. Whoever comes before a statement is sent is told by
it what his own would tell him: it sees all that was committed until then. Whoever comes later asks anew.
"""

import asyncio
from collections.abc import Hashable
from typing import TypeAlias

from psycopg.abc import QueryNoTemplate as Query

from knowlex.db import pool
from knowlex.db.pool import Params, Row
from knowlex.runtime.event_loops import PerLoop

_Told: TypeAlias = asyncio.Future[list[Row] | None]  # None: who asked for all has left


async def fetch_shared(sql: Query, params: Params, *, same: Hashable) -> list[Row]:
    """As async_db.fetch_all; the rows may be others' too, and are only to be read.

    same: equal for those who ask the same.
    """
    waiting = _waiting.get()
    while (others := waiting.get(same)) is not None:
        rows = await asyncio.shield(others)
        if rows is not None:
            return rows
    told: _Told = asyncio.get_running_loop().create_future()
    waiting[same] = told
    try:
        rows = await pool.fetch_all(sql, params, at_turn=lambda: _withdraw(waiting, same, told))
    except BaseException as exc:
        _withdraw(waiting, same, told)
        _pass_on(told, exc)
        raise
    told.set_result(rows)
    return rows


def _pass_on(told: _Told, exc: BaseException) -> None:
    if isinstance(exc, Exception):
        told.set_exception(exc)
        told.exception()  # looked at, in case that nobody else asks
    else:
        told.set_result(None)


def _withdraw(waiting: dict[Hashable, _Told], same: Hashable, told: _Told) -> None:
    if waiting.get(same) is told:
        del waiting[same]


_waiting: PerLoop[dict[Hashable, _Told]] = PerLoop(dict)
