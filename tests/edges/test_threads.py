"""Threads for sync views: as many as there is work, and none, nor a connection, once there is none."""

import os
import threading
from concurrent.futures import wait
from threading import Barrier, get_native_id

import pytest
from django.db import connection

from knowlex.runtime.threads import NICENESS, RestingThreads, run_nicely
from tests.support.waiting import wait_until


def alive(name: str) -> int:
    return sum(thread.name == name for thread in threading.enumerate())


def test_work_that_waits_for_each_other_runs_at_once_within_the_limit() -> None:
    pool, together = RestingThreads(8, "at-once", rest_s=0.05), Barrier(8)

    futures = [pool.submit(together.wait, 10) for _ in range(16)]

    assert sorted(future.result(20) for future in futures) == sorted([*range(8), *range(8)])
    assert alive("at-once") <= 8


def test_no_job_is_lost_between_threads_that_end_and_begin() -> None:
    pool = RestingThreads(4, "ending", rest_s=0.0005)

    for size in [1, 2, 3, 5, 8] * 200:
        futures = [pool.submit(pow, number, 2) for number in range(size)]
        assert not wait(futures, 10).not_done
        assert [future.result() for future in futures] == [number**2 for number in range(size)]


def test_a_failure_is_raised_where_the_result_is_awaited_and_the_thread_goes_on() -> None:
    pool = RestingThreads(1, "failing", rest_s=5)
    with pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result(10)
    assert pool.submit(divmod, 7, 2).result(10) == (3, 1)


@pytest.mark.django_db(transaction=True)
def test_a_thread_without_work_ends_and_closes_its_connection() -> None:
    pool = RestingThreads(2, "resting", rest_s=0.05)

    def connect() -> object:
        connection.ensure_connection()
        return connection.connection

    held = pool.submit(connect).result(10)

    wait_until(lambda: alive("resting") == 0, 10)
    assert held.closed  # type: ignore[attr-defined]
    assert pool.submit(connect).result(10) is not held


def test_what_nobody_waits_for_is_nice_alone():
    before = os.getpriority(os.PRIO_PROCESS, get_native_id())

    def look() -> tuple[int, int]:
        return os.getpriority(os.PRIO_PROCESS, get_native_id()), get_native_id()

    niceness, thread = run_nicely(look)
    assert thread != get_native_id()
    assert niceness == max(NICENESS, before)
    assert os.getpriority(os.PRIO_PROCESS, get_native_id()) == before


def test_a_mistake_in_it_is_the_callers():
    def fail() -> None:
        raise ValueError("mistaken")

    with pytest.raises(ValueError, match="mistaken"):
        run_nicely(fail)
