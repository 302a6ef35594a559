"""Coroutines of the pipeline in a command: what they opened is closed on the loop that they ran on."""

from collections.abc import Awaitable
from typing import TypeVar

from knowlex.db.pool import close_pool
from rag.answering import lifecycle

T = TypeVar("T")


async def close_after(work: Awaitable[T]) -> T:
    try:
        return await work
    finally:
        await lifecycle.close()
        await close_pool()
