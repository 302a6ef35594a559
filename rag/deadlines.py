"""The deadline of a request, shared by its stages, and the time that each of them takes. Plain Python."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TypeVar

from knowlex.base.errors import KnowlexError, RetrievalFailed, SynthesisTimeout

T = TypeVar("T")

# As they come. "retrieve" holds the five after it.
STAGES = (
    *("cache", "conversation", "retrieve", "embed", "search", "vector_store", "words", "rewrite"),
    *("rerank", "relevance", "context", "synthesize", "check"),
)
_PLACES = {stage: place for place, stage in enumerate(STAGES)}


class StageTimes:
    """milliseconds: by stage; one that comes several times, all of it together."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}

    async def of(self, stage: str, work: Awaitable[T]) -> T:
        started = time.perf_counter()
        result = await work
        self.note(stage, started)
        return result

    def note(self, stage: str, started: float) -> None:
        took = (time.perf_counter() - started) * 1000
        self.milliseconds[stage] = round(self.milliseconds.get(stage, 0.0) + took, 3)


def sort_stages(milliseconds: Mapping[str, float]) -> dict[str, float]:
    """Sort stages as they come in a question; PostgreSQL has shuffled them."""
    return dict(sorted(milliseconds.items(), key=lambda took: _PLACES.get(took[0], len(STAGES))))


Late = Callable[[], KnowlexError]


def search_timeout() -> RetrievalFailed:
    return RetrievalFailed("The search did not end in time.")


def writing_timeout() -> SynthesisTimeout:
    return SynthesisTimeout("The answer was not written in time.")


@asynccontextmanager
async def within_deadline(deadline: float | None, late: Late) -> AsyncIterator[None]:
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
