import asyncio
import time

import psycopg
import pytest
from django.db import connection
from psycopg import AsyncConnection

from knowlex.base.errors import DatabaseUnavailable
from knowlex.db.pool import (
    KEPT_CONNECTIONS,
    LIMIT_S,
    MAX_PREPARED,
    StatementTooLong,
    close_pool,
    fetch_all,
    fetch_one,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("pool")]

OTHERS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'knowlex' AND datname = current_database() AND pid <> pg_backend_pid()
"""


async def test_rows_are_dicts():
    assert await fetch_all("SELECT n, n * 2 AS twice FROM unnest(%s::int[]) AS n", ([1, 2],)) == [
        {"n": 1, "twice": 2},
        {"n": 2, "twice": 4},
    ]
    assert await fetch_one("SELECT 1 AS one WHERE false") is None


async def test_settings_hold_for_one_statement_only():
    limit = "SELECT current_setting('statement_timeout') AS it"
    before = await fetch_one(limit)
    assert await fetch_one(limit, setup=["SET LOCAL statement_timeout = '3s'"]) == {"it": "3s"}
    assert await fetch_one(limit) == before


async def test_a_statement_past_its_own_limit_is_not_tried_again():
    started = time.monotonic()
    with pytest.raises(StatementTooLong):
        await fetch_all("SELECT pg_sleep(60)", setup=["SET LOCAL statement_timeout = '200ms'"])
    assert time.monotonic() - started < 20
    assert await fetch_one("SELECT 1 AS one") == {"one": 1}


async def test_a_statement_past_its_own_limit_spoils_its_connection_for_nobody():
    """The rollback after it drops what was prepared on the connection: both sides must know."""
    limit = ["SET LOCAL statement_timeout = '200ms'"]
    backends = set()

    async def ask_all() -> None:
        for _ in range(7):  # often enough that all are prepared, and used so
            for setup in ((), limit):
                for n in range(5):
                    asked = f"SELECT %s::int AS n{n}, pg_backend_pid() AS backend"
                    row = await fetch_one(asked, (n,), setup=setup)
                    assert row is not None
                    assert row[f"n{n}"] == n
                    backends.add(row["backend"])

    for _ in range(2 * KEPT_CONNECTIONS):
        await ask_all()
        with pytest.raises(StatementTooLong):
            await fetch_all("SELECT pg_sleep(%s)", (60,), setup=limit)
    await ask_all()
    assert len(backends) <= KEPT_CONNECTIONS + 1  # the same all the time, not a new one after each failure
    kept = await fetch_one("SELECT count(*) AS n FROM pg_prepared_statements")
    assert kept is not None
    assert 0 < kept["n"] <= 10


async def test_more_askers_than_connections_are_all_served():
    rows = await asyncio.gather(*(fetch_one("SELECT %s::int AS n", (n,)) for n in range(100)))
    assert rows == [{"n": n} for n in range(100)]


async def test_a_connection_that_the_server_closed_is_replaced():
    await asyncio.gather(*(fetch_one("SELECT pg_sleep(0.05)") for _ in range(8)))
    async with await _own_connection() as other:
        await other.execute(OTHERS)
    rows = await asyncio.gather(*(fetch_one("SELECT 1 AS one") for _ in range(20)))
    assert rows == [{"one": 1}] * 20


async def test_a_connection_killed_in_mid_statement_is_tried_again():
    async with await _own_connection() as other:
        await other.execute("SELECT pg_advisory_lock(7)")  # for which the statement waits until it is killed
        waiting = "SELECT pg_advisory_xact_lock_shared(7), 1 AS one"
        running, killed = asyncio.create_task(fetch_all(waiting)), 0
        while not killed and not running.done():  # as soon as it has begun
            killed = len(await (await other.execute(OTHERS)).fetchall())
    assert killed  # and the lock is gone with the connection that had it
    assert (await running)[0]["one"] == 1


async def test_a_wrong_statement_is_not_an_absent_database():
    with pytest.raises(psycopg.errors.UndefinedTable):
        await fetch_all("SELECT * FROM no_such_table")


async def test_an_absent_database_is_told_within_five_seconds(monkeypatch: pytest.MonkeyPatch):
    await close_pool()
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    started = time.monotonic()
    results = await asyncio.gather(*(fetch_all("SELECT 1") for _ in range(20)), return_exceptions=True)
    assert {type(result) for result in results} == {DatabaseUnavailable}
    assert time.monotonic() - started < 5 + 5
    await close_pool()


async def test_a_hanging_statement_is_given_up_within_five_seconds():
    started = time.monotonic()
    with pytest.raises(DatabaseUnavailable):
        await fetch_all("SELECT pg_sleep(20)")
    assert LIMIT_S <= time.monotonic() - started < 5 + 5
    assert await fetch_one("SELECT 1 AS one") == {"one": 1}


async def test_an_asker_who_leaves_gives_the_connection_back():
    leaving = [asyncio.create_task(fetch_all("SELECT pg_sleep(20)")) for _ in range(8)]
    await asyncio.sleep(0)
    for task in leaving:
        task.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)
    assert await fetch_one("SELECT 1 AS one") == {"one": 1}


async def test_who_is_cancelled_at_any_moment_spoils_nothing():
    for turns in range(40):
        task = asyncio.create_task(fetch_all("SELECT %s::int AS n, repeat('x', 100000)", (turns,)))
        for _ in range(turns % 20):
            await asyncio.sleep(0)
        task.cancel()
        assert await fetch_one("SELECT %s::int AS n", (turns,)) == {"n": turns}
    rows = await asyncio.gather(*(fetch_one("SELECT %s::int AS n", (n,)) for n in range(50)))
    assert rows == [{"n": n} for n in range(50)]


async def test_a_statement_that_is_left_is_ended_in_the_server():
    task = asyncio.create_task(fetch_all("SELECT pg_sleep(30), 'left' AS it"))
    running = "SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE %s AND state = 'active'"
    async with asyncio.timeout(20):  # before it ends by itself
        while (await fetch_one(running, ("%'left' AS it",))) != {"n": 1}:
            assert not task.done()
        task.cancel()
        while (await fetch_one(running, ("%'left' AS it",))) != {"n": 0}:
            pass
    assert task.cancelled()


async def test_what_fits_no_buffer_is_sent_and_read():
    text = "x" * 5_000_000
    for _ in range(2):
        assert await fetch_one("SELECT %s::text || 'y' AS it", (text,)) == {"it": text + "y"}


async def test_a_statement_is_asked_again_with_values_of_other_types():
    for value in (1, 2**40, 1.5, True, 10**30):
        row = await fetch_one("SELECT to_jsonb(%(it)s) AS it", {"it": value})
        assert row == {"it": value}
    with pytest.raises(psycopg.errors.DivisionByZero):
        await fetch_one("SELECT 1 / %s AS it", (0,))
    assert await fetch_one("SELECT 1 / %s AS it", (1,)) == {"it": 1}


async def test_the_server_keeps_no_more_statements_than_are_asked_again():
    for _ in range(2):
        for n in range(MAX_PREPARED + 20):
            assert await fetch_one(f"SELECT %s::int AS n{n}", (n,)) == {f"n{n}": n}
    kept = await fetch_one("SELECT count(*) AS n FROM pg_prepared_statements")
    assert kept is not None
    assert kept["n"] <= MAX_PREPARED


async def test_a_statement_whose_table_has_changed_is_prepared_anew():
    """Each of the pool's connections fails once, whichever of them a statement gets."""
    times = 3 * KEPT_CONNECTIONS

    async def read():
        try:
            return await fetch_all("SELECT * FROM changing")
        except psycopg.errors.FeatureNotSupported:
            return None

    async with await _own_connection() as other:
        await other.execute("CREATE TABLE changing AS SELECT 1 AS one")
        try:
            assert [await read() for _ in range(times)] == [[{"one": 1}]] * times
            await other.execute("ALTER TABLE changing ADD COLUMN two int DEFAULT 2")
            found = [await read() for _ in range(times)]
            assert 1 <= found.count(None) <= KEPT_CONNECTIONS
            assert [rows for rows in found if rows] == [[{"one": 1, "two": 2}]] * (times - found.count(None))
        finally:
            await other.execute("DROP TABLE changing")


async def test_a_percent_sign_and_a_parameter_that_comes_twice():
    asked = "SELECT 7 %% %(n)s::int AS rest, %(word)s || '%%' AS word, %(n)s::int AS n"
    for _ in range(3):
        assert await fetch_one(asked, {"word": "x", "n": 4}) == {"rest": 3, "word": "x%", "n": 4}


async def _own_connection() -> AsyncConnection:
    database = connection.settings_dict
    return await AsyncConnection.connect(
        host=database["HOST"], dbname=database["NAME"], user=database["USER"], autocommit=True
    )
