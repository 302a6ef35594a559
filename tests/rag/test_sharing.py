"""One statement for all who ask the same before it is sent."""

import asyncio
from typing import Any

import psycopg
import pytest

from knowlex.db import pool

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("pool")]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The statements that were asked for, by whoever asks for all."""
    asked: list[Any] = []
    fetch_all = pool.fetch_all

    async def noting(sql: Any, *args: Any, **options: Any) -> Any:
        asked.append(sql)
        return await fetch_all(sql, *args, **options)

    monkeypatch.setattr(pool, "fetch_all", noting)
    return asked


async def test_who_waits_for_a_turn_asks_for_all_who_come_meanwhile(sent: list[Any]):
    busy = await _all_turns_taken()
    asking = [asyncio.create_task(_number()) for _ in range(30)]
    assert await asyncio.gather(*asking) == [7] * 30
    assert sent.count("SELECT 7 AS n") == 1
    await busy
    assert await _number() == 7
    assert sent.count("SELECT 7 AS n") == 2


async def test_others_are_told_though_the_one_who_asked_leaves(sent: list[Any]):
    busy = await _all_turns_taken()
    first, *others = [asyncio.create_task(_number()) for _ in range(10)]
    await asyncio.sleep(0)
    first.cancel()
    others[-1].cancel()
    told = await asyncio.gather(first, *others, return_exceptions=True)
    assert [type(one) for one in told] == [asyncio.CancelledError, *[int] * 8, asyncio.CancelledError]
    assert sent.count("SELECT 7 AS n") == 2
    await busy


async def test_who_comes_after_it_was_sent_sees_what_came_meanwhile():
    slow = "SELECT pg_sleep(0.3), EXISTS (SELECT FROM pg_largeobject_metadata WHERE oid = 77) AS it"
    first = asyncio.create_task(pool.fetch_shared(slow, (), same="slow"))
    running = "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(0.3), EX%%'"
    while not first.done() and not await pool.fetch_all(running):
        pass
    await pool.fetch_all("SELECT lo_create(77)")
    try:
        assert (await pool.fetch_shared(slow, (), same="slow"))[0]["it"]
    finally:
        await pool.fetch_all("SELECT lo_unlink(77)")
    assert not (await first)[0]["it"]


async def test_a_failure_is_everybodys():
    busy = await _all_turns_taken()
    asking = [pool.fetch_shared("SELECT * FROM no_such_table", (), same="x") for _ in range(5)]
    told = await asyncio.gather(*asking, return_exceptions=True)
    assert {type(one) for one in told} == {psycopg.errors.UndefinedTable}
    await busy


async def _number() -> int:
    return int((await pool.fetch_shared("SELECT 7 AS n", (), same=7))[0]["n"])


async def _all_turns_taken() -> "asyncio.Future[list[Any]]":
    busy = asyncio.gather(*(pool.fetch_all("SELECT pg_sleep(0.3)") for _ in range(pool.MAX_CONNECTIONS)))
    await asyncio.sleep(0)
    return busy
