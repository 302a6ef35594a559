"""Waiting for work no longer than a limit, not even for its own end."""

import asyncio
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_abandoned: set[asyncio.Task[Any]] = set()


async def finish_within(
    work: Coroutine[Any, Any, T],
    *,
    within_s: float,
    until_hopeless: Callable[[], Coroutine[Any, Any, None]] | None = None,
    patience_s: float = 0.0,
) -> T:
    """Return the work's result. Raises TimeoutError at once when time is up, and what the work raises.

    The work is cancelled then, and nobody waits until it has noticed: with a server that hangs that takes
    psycopg up to 10 s. until_hopeless: begun if the work takes longer than `patience_s`; ends when it is
    hopeless to wait any longer.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=patience_s if until_hopeless else within_s)
        if not done and until_hopeless:
            doubt = asyncio.ensure_future(until_hopeless())
            try:
                await asyncio.wait({task, doubt}, timeout=within_s - patience_s, return_when=FIRST_COMPLETED)
            finally:
                doubt.cancel()
    except asyncio.CancelledError:
        _abandon(task)
        raise
    if not task.done():
        _abandon(task)
        raise TimeoutError
    return task.result()


async def await_abandoned(*, within_s: float) -> None:
    """Wait until this event loop's cancelled work has ended, or time is up."""
    loop = asyncio.get_running_loop()
    tasks = [task for task in _abandoned if task.get_loop() is loop]
    if tasks:
        await asyncio.wait(tasks, timeout=within_s)


def _abandon(task: asyncio.Task[Any]) -> None:
    _abandoned.add(task)
    task.add_done_callback(_forget)
    task.cancel()


def _forget(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled():
        task.exception()  # looked at, so that asyncio does not report it as never retrieved
