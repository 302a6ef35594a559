"""How long the stages of a question take. Plain Python."""

import time
from collections.abc import Awaitable, Mapping
from typing import TypeVar

T = TypeVar("T")

# As they come. "retrieve" holds the five after it.
STAGES = (
    *("cache", "conversation", "retrieve", "embed", "search", "vector_store", "words", "rewrite"),
    *("rerank", "relevance", "context", "synthesize", "check"),
)
_PLACES = {stage: place for place, stage in enumerate(STAGES)}


class Stages:
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


def in_order(milliseconds: Mapping[str, float]) -> dict[str, float]:
    """As they come in a question; PostgreSQL has shuffled them."""
    return dict(sorted(milliseconds.items(), key=lambda took: _PLACES.get(took[0], len(STAGES))))
