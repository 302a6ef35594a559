"""One deadline for a whole request, shared by its stages. Plain Python."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from knowlex.common.errors import KnowlexError, RetrievalFailed, SynthesisTimeout

Late = Callable[[], KnowlexError]


def searching_too_long() -> RetrievalFailed:
    return RetrievalFailed("The search did not end in time.")


def writing_too_long() -> SynthesisTimeout:
    return SynthesisTimeout("The answer was not written in time.")


@asynccontextmanager
async def before(deadline: float | None, late: Late) -> AsyncIterator[None]:
    """Cancel the block at the deadline (by `time.monotonic()`; None: never) and raise `late()` instead."""
    if deadline is None:
        yield
        return
    try:
        async with asyncio.timeout(max(0.0, deadline - time.monotonic())) as limit:
            yield
    except TimeoutError as exc:
        if limit.expired():
            raise late() from exc
        raise
