"""Handing over what a generator makes, to somebody who may be slow, impatient or gone."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from knowlex.web.sse import Pump, ReaderTooSlow


class Numbers:
    """Endless; closed: the generator was."""

    def __init__(self, fails_at: int | None = None, waits_at: int | None = None) -> None:
        self.made, self.closed = 0, False
        self.closing = asyncio.Event()
        self._fails_at, self._waits_at = fails_at, waits_at

    async def generate(self) -> AsyncGenerator[int]:
        try:
            while True:
                if self.made == self._fails_at:
                    raise ValueError("no more")
                if self.made == self._waits_at:
                    await asyncio.Event().wait()
                self.made += 1
                yield self.made
        finally:
            self.closed = True
            self.closing.set()


async def test_what_is_made_is_handed_over_in_order_and_then_the_failure():
    pump = Pump(Numbers(fails_at=2).generate(), patience_s=9)
    assert [await pump.next(), await pump.next()] == [1, 2]
    for _ in range(2):
        with pytest.raises(ValueError, match="no more"):
            await pump.next()
    await pump.aclose()


async def test_a_maker_is_not_ahead_of_a_slow_taker_by_more_than_the_room():
    numbers = Numbers()
    pump = Pump(numbers.generate(), room=3, patience_s=9)
    assert await pump.next() == 1
    for _ in range(50):
        await asyncio.sleep(0)
    assert numbers.made <= 5
    await pump.aclose()
    assert numbers.closed


async def test_a_taker_who_takes_nothing_ends_the_making():
    numbers = Numbers()
    pump = Pump(numbers.generate(), room=2, patience_s=0.01)
    await asyncio.wait_for(numbers.closing.wait(), 9)
    assert [await pump.next(), await pump.next()] == [1, 2]
    with pytest.raises(ReaderTooSlow):
        await pump.next()


async def test_waiting_can_be_given_up_and_nothing_is_lost():
    numbers = Numbers(waits_at=1)
    pump = Pump(numbers.generate(), patience_s=9)
    assert await pump.next() == 1
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await pump.next()
    await pump.aclose()
    assert numbers.closed
