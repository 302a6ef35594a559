"""Turns at the extractor processes are fair and never lost."""

import threading
from concurrent.futures import ThreadPoolExecutor

from documents.extractors.sandbox.fair_semaphore import FairSemaphore
from tests.support.waiting import wait_until


def test_whoever_waits_longest_is_next() -> None:
    turns, served = FairSemaphore(1), []
    assert turns.acquire(1)

    def wait_in_line(number: int) -> None:
        assert turns.acquire(10)
        served.append(number)
        turns.release()

    with ThreadPoolExecutor(4) as pool:
        for number in range(4):
            pool.submit(wait_in_line, number)
            wait_until(
                lambda ahead=number: len(turns._waiting) == ahead + 1, what="the thread to stand in line"
            )
        turns.release()
    assert served == [0, 1, 2, 3]


def test_giving_up_loses_no_place() -> None:
    turns = FairSemaphore(1)
    assert turns.acquire(0.01)
    assert not turns.acquire(0.01)
    turns.release()
    assert turns.acquire(0.01)


def test_never_more_at_once_than_places() -> None:
    turns, inside, most, lock = FairSemaphore(3), 0, 0, threading.Lock()

    def take_a_turn(_: int) -> None:
        nonlocal inside, most
        assert turns.acquire(10)
        with lock:
            inside += 1
            most = max(most, inside)
        with lock:
            inside -= 1
        turns.release()

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(take_a_turn, range(500)))
    assert 1 <= most <= 3
