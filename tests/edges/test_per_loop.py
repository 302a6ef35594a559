"""Clients of event loops that come and go while other threads look at all of them."""

import asyncio
import sys
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from knowlex.base.event_loops import PerLoop


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads take turns after each few steps, so that what can go wrong between two of them does."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("impatient")
def test_loops_begin_and_end_while_another_thread_looks_at_all_of_them():
    clients: PerLoop[object] = PerLoop(object)
    done = Event()

    async def use() -> None:
        clients.get()

    def come_and_go() -> None:
        while not done.is_set():
            kept = [asyncio.new_event_loop() for _ in range(20)]
            for loop in kept:
                loop.run_until_complete(use())
                loop.close()

    threads = [Thread(target=come_and_go) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        seen = [len(clients.everywhere()) for _ in range(5000)]
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert max(seen) > 0
