"""The same searches by the stores' own SDKs, for benchmarks/stores.py; no Knowlex in here.

stdin: {"store": "chroma" | "qdrant", "port", "collection", "group", "questions", "limit", "at_once"}.
stdout: {"cpu_ms", "median_ms"} of a search, this process's own.
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

Search = Callable[[list[float]], Awaitable[object]]


async def chroma(given: dict[str, Any]) -> Search:
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    client = await chromadb.AsyncHttpClient(host="127.0.0.1", port=given["port"], settings=settings)
    collection = await client.get_collection(given["collection"], embedding_function=None)
    where = {"collection_id": given["group"]}

    async def search(vector: list[float]) -> object:
        return await collection.query(
            query_embeddings=[vector], n_results=given["limit"], where=where, include=["distances"]
        )

    return search


async def qdrant(given: dict[str, Any]) -> Search:
    from qdrant_client import AsyncQdrantClient
    from qdrant_client import models as m

    client = AsyncQdrantClient(url=f"http://127.0.0.1:{given['port']}", check_compatibility=False, timeout=60)
    match = m.FieldCondition(key="collection_id", match=m.MatchValue(value=given["group"]))

    async def search(vector: list[float]) -> object:
        return await client.query_points(
            given["collection"],
            query=vector,
            limit=given["limit"],
            query_filter=m.Filter(must=[match]),
            with_payload=False,
        )

    return search


async def measure(search: Search, questions: list[list[float]], at_once: int) -> dict[str, float]:
    """Also used for Knowlex's own client, so that both are measured alike."""
    await search(questions[0])
    taken: list[float] = []
    waiting = iter(questions)

    async def ask() -> None:
        for question in waiting:
            began = time.perf_counter()
            await search(question)
            taken.append(time.perf_counter() - began)

    began = time.process_time()
    await asyncio.gather(*(ask() for _ in range(at_once)))
    cpu = (time.process_time() - began) / len(questions)
    return {"cpu_ms": cpu * 1e3, "median_ms": statistics.median(taken) * 1e3}


async def main() -> None:
    given = json.load(sys.stdin)
    search = await {"chroma": chroma, "qdrant": qdrant}[given["store"]](given)
    json.dump(await measure(search, given["questions"], given["at_once"]), sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
