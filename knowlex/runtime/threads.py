"""Threads that come with the work and go when it ends, and their database connections with them."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Condition, Thread, get_native_id
from typing import Any, ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
T = TypeVar("T")
REST_S = 20.0


class RestingThreads(Executor):
    """At most `limit` threads; one without work for `rest_s` closes its database connections and ends.

    The standard library's pool keeps every thread it ever had, and so as many connections of PostgreSQL as
    there once were requests at the same time (tests/edges/test_threads.py). A thread at work does not hold up
    the process's end.
    """

    def __init__(self, limit: int, name: str, *, rest_s: float = REST_S) -> None:
        self._limit, self._name, self._rest_s = limit, name, rest_s
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._changed = Condition()
        self._threads = self._resting = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        future: Future[T] = Future()
        with self._changed:
            self._jobs.append((future, partial(fn, *args, **kwargs)))
            if self._resting >= len(self._jobs):
                self._changed.notify()
            elif self._threads < self._limit:
                Thread(target=self._work, name=self._name, daemon=True).start()
                self._threads += 1
        return future

    def _work(self) -> None:
        try:
            while (job := self._next()) is not None:
                _run(*job)
                del job  # its result may be large, and the rest long
        finally:
            connections.close_all()

    def _next(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        """Return the next piece of work, None after a rest; then this thread is no longer counted, and
        must end.
        """
        with self._changed:
            if not self._jobs:
                self._resting += 1
                self._changed.wait_for(lambda: self._jobs, self._rest_s)
                self._resting -= 1
            if self._jobs:
                return self._jobs.popleft()
            self._threads -= 1
            return None


def _run(future: "Future[Any]", call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as exc:  # noqa: BLE001 - told to whoever waits for the result
        future.set_exception(exc)
    else:
        future.set_result(result)


NICENESS = 5  # a third of the share of a core that others get who want it, too
_AUTOGROUP = Path("/proc/self/autogroup")


def run_nicely(call: Callable[[], T]) -> T:
    """Run what nobody waits for, leave the cores to those who want them, and return its result.

    In a thread of its own: none can take its niceness back. Raises what the call raises.
    """
    future: Future[T] = Future()

    def work() -> None:
        thread = get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))
        try:
            _run(future, call)
        finally:
            connections.close_all()

    with _nice_session():
        thread = Thread(target=work, name="nice", daemon=True)
        thread.start()
        thread.join()
    return future.result()


@contextmanager
def _nice_session() -> Iterator[None]:
    """Where Linux weighs sessions (`sched_autogroup_enabled`), niceness counts only among the threads of
    one. A worker has one of its own, which steps back meanwhile.
    """
    is_own = os.getsid(0) in (os.getpid(), os.getppid())
    if is_own:
        _weigh_session(NICENESS)
    try:
        yield
    finally:
        if is_own:
            _weigh_session(0)


def _weigh_session(niceness: int) -> None:
    for _ in range(4):
        try:
            _AUTOGROUP.write_text(str(niceness))
        except BlockingIOError:  # Linux takes one change in a tenth of a second, of all users but root
            time.sleep(0.1)
        except OSError:  # there are no such groups here
            return
        else:
            return
