"""How often collections are asked: what is counted is written once, also where the server ends meanwhile."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from rag.history import query_counts
from rag.history.query_counts import QueryCounts

COLLECTION = UUID(int=1)


async def test_what_is_being_written_when_the_server_ends_is_written_once(monkeypatch: pytest.MonkeyPatch):
    under_way, goes_on = asyncio.Event(), asyncio.Event()
    written: list[int] = []

    async def statement(_: str, parameters: Any) -> list[Any]:
        under_way.set()
        await goes_on.wait()
        written.extend(parameters[2])
        return []

    monkeypatch.setattr(query_counts, "fetch_all", statement)
    monkeypatch.setattr(query_counts, "FLUSH_INTERVAL_S", 0.0)
    counts = QueryCounts()
    counts.add([COLLECTION])
    await under_way.wait()
    closing = asyncio.create_task(counts.close())
    await asyncio.sleep(0)
    goes_on.set()
    await closing
    assert written == [1]
