"""One event loop in a thread of its own, for programs that have none, or have several.

What runs there shares its connections, whoever asked for it: any thread by `run`, any other loop by `arun`.
The thread begins with the first call; a process that was forked begins another. It never holds up the end of
the process: what still runs then is cancelled.
"""

import asyncio
import atexit
import os
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")
Close = Callable[[], Coroutine[Any, Any, None]]
CLOSING_S = 2.0  # at the end of the process, for connections to be closed


class Background:
    """The loop of one process; see `run` and `arun` below."""

    def __init__(self, before_end: Iterable[Close] = ()) -> None:
        self._starting = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._before_end = list(before_end)
        self._closing: set[asyncio.Task[None]] = set()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._is_here():
            coroutine.close()
            raise RuntimeError("The background loop cannot wait for itself: await the coroutine.")
        future = self._submit(coroutine)
        try:
            return future.result()
        except BaseException:  # KeyboardInterrupt among them: nobody waits any more
            future.cancel()
            raise

    async def arun(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._is_here():
            return await coroutine
        return await asyncio.wrap_future(self._submit(coroutine))

    def before_end(self, close: Close) -> None:
        self._before_end.append(close)

    def in_another_process(self) -> "Background":
        """Return one that has not begun, with what is to be done at the end."""
        return Background(self._before_end)

    def afterwards(self, close: Close) -> None:
        loop, thread = self._loop, self._thread
        if loop is not None and thread is not None and thread.is_alive() and not loop.is_closed():
            with suppress(RuntimeError):  # it has just been closed
                loop.call_soon_threadsafe(self._begin_closing, close)

    def stop(self) -> None:
        """Cancel what runs, close what is open, end the thread. The next call begins another one."""
        with self._starting:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None or not thread.is_alive():
            return
        with suppress(TimeoutError, asyncio.CancelledError):
            asyncio.run_coroutine_threadsafe(self._wind_down(), loop).result(CLOSING_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(CLOSING_S)

    def _submit(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self._running())
        except BaseException:
            coroutine.close()  # else Python complains that it was never awaited
            raise

    def _running(self) -> asyncio.AbstractEventLoop:
        loop, thread = self._loop, self._thread
        if loop is not None and thread is not None and thread.is_alive():
            return loop
        with self._starting:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._start()
            assert self._loop is not None
            return self._loop

    def _start(self) -> None:
        loop, started = asyncio.new_event_loop(), Event()
        thread = Thread(target=_serve, args=(loop, started), name="knowlex-background", daemon=True)
        thread.start()
        started.wait()
        self._loop, self._thread = loop, thread

    def _is_here(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def _begin_closing(self, close: Close) -> None:
        task = asyncio.ensure_future(close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _wind_down(self) -> None:
        """First what closes something already, and its own tasks: cancelled, half of it would stay open."""
        if self._closing:
            await asyncio.wait(self._closing, timeout=CLOSING_S / 2)
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await asyncio.gather(*(close() for close in self._before_end), return_exceptions=True)


def _serve(loop: asyncio.AbstractEventLoop, started: Event) -> None:
    asyncio.set_event_loop(loop)
    loop.call_soon(started.set)
    try:
        loop.run_forever()
    finally:
        loop.close()


_background = Background()
_of_parents: list[Background] = []  # kept in a forked process: collecting a loop would close what is shared


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return its result, waited for in this thread. Raises what it raises; an interrupted wait cancels it."""
    return _background.run(coroutine)


async def arun(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return its result, awaited by any event loop; cancelling the wait cancels it."""
    return await _background.arun(coroutine)


def before_end(close: Close) -> None:
    """Register what is to be awaited on the loop when the process ends, such as closing connections."""
    _background.before_end(close)


def afterwards(close: Close) -> None:
    """Begin this on the loop and do not wait for it; nothing is done where the loop does not run."""
    _background.afterwards(close)


def _after_fork() -> None:
    """Begin anew: no thread lives on in a forked process, and locks may be held by those that do not."""
    global _background
    _of_parents.append(_background)
    _background = _background.in_another_process()


def _at_end() -> None:
    _background.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_end)
