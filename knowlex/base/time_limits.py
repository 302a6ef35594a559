"""Work that is waited for so long and no longer, not even for its own end."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_abandoned: set[asyncio.Task[Any]] = set()


async def finished(work: Coroutine[Any, Any, T], *, within_s: float) -> T:
    """Its result. Raises TimeoutError at once when time is up, and what the work raises.

    The work is cancelled then, and nobody waits until it has noticed: with a server that hangs that takes
    psycopg up to 10 s.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=within_s)
    except asyncio.CancelledError:
        _abandon(task)
        raise
    if not done:
        _abandon(task)
        raise TimeoutError
    return task.result()


def left_behind(work: Coroutine[Any, Any, None]) -> None:
    """It runs on, and nobody waits for it; what it raises is lost."""
    _keep(asyncio.ensure_future(work))


async def abandoned_ended(*, within_s: float) -> None:
    """Until this event loop's work that nobody waits for has ended, or time is up."""
    loop = asyncio.get_running_loop()
    if leaving := [task for task in _abandoned if task.get_loop() is loop]:
        await asyncio.wait(leaving, timeout=within_s)


def _abandon(task: asyncio.Task[Any]) -> None:
    _keep(task)
    task.cancel()


def _keep(task: asyncio.Task[Any]) -> None:
    _abandoned.add(task)
    task.add_done_callback(_forget)


def _forget(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled():
        task.exception()  # looked at, so that asyncio does not report it as never retrieved
