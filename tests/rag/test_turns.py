import asyncio

import pytest

from knowlex.base.errors import DatabaseUnavailable
from knowlex.db.pool import StatementTooLong, Turns


async def test_a_crowd_is_served_in_order_and_never_more_at_once_than_places():
    turns, inside, order = Turns(2, wait_s=5), 0, []

    async def one(number: int) -> None:
        nonlocal inside
        async with turns.turn():
            inside += 1
            assert inside <= 2
            order.append(number)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*map(one, range(50)))
    assert order == list(range(50))


async def test_who_waited_while_the_database_went_is_told_at_once():
    turns, tries = Turns(1, wait_s=5), 0

    async def one() -> None:
        nonlocal tries
        async with turns.turn():
            tries += 1
            await asyncio.sleep(0)
            raise DatabaseUnavailable("gone")

    results = await asyncio.gather(*(one() for _ in range(10)), return_exceptions=True)
    assert {type(result) for result in results} == {DatabaseUnavailable}
    assert tries == 1


async def test_a_statement_that_took_too_long_refuses_nobody_else():
    turns = Turns(1, wait_s=5)

    async def ask(number: int) -> int:
        async with turns.turn():
            await asyncio.sleep(0)
            if number == 0:
                raise StatementTooLong("too long")
            return number

    results = await asyncio.gather(*map(ask, range(5)), return_exceptions=True)
    assert results[1:] == [1, 2, 3, 4]


async def test_who_comes_after_a_failure_tries_anew():
    turns = Turns(1, wait_s=5)
    with pytest.raises(DatabaseUnavailable):
        async with turns.turn():
            raise DatabaseUnavailable("gone")
    async with turns.turn():
        served = True
    assert served


async def test_nobody_waits_for_ever():
    turns = Turns(1, wait_s=0.05)
    async with turns.turn():
        with pytest.raises(DatabaseUnavailable):
            async with turns.turn():
                raise AssertionError("there was one place only")
    async with turns.turn():
        pass


async def test_a_cancelled_waiter_takes_no_place():
    turns = Turns(1, wait_s=5)
    async with turns.turn():
        waiting = asyncio.create_task(turns.turn().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(1), turns.turn():
        served = True
    assert served
