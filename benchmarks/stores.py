"""What a search of a vector store costs the process that asks: Knowlex's client beside the stores' own SDKs.

    python -m benchmarks.stores [--rows 500] [--questions 300] [--rounds 3] [--bench-python PYTHON]

Chroma's real server and, for Qdrant, the bridge over its client's local mode that the tests use: what the
servers take is the same for both sides. The SDKs run in an environment of their own, which has chromadb and
qdrant-client.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.stores_sdk import measure
from embeddings.protocols import VectorStore
from embeddings.stores.chroma import ChromaStore
from embeddings.stores.chroma_client import ChromaClient
from embeddings.stores.qdrant import QdrantStore
from embeddings.stores.server import StoreCaller
from knowlex.net.json_client import JsonWire
from tests.stores.points import collection, point, space, vectors
from tests.support.chroma import ChromaServer
from tests.support.qdrant import QdrantServer
from tests.support.servers import ServerProcess

DIMENSIONS, LIMIT = 384, 40
GROUP = str(collection("a"))
SPACE = space("bench", DIMENSIONS)
STORES: dict[str, tuple[type[ServerProcess], Any]] = {
    "chroma": (ChromaServer, ChromaStore),
    "qdrant": (QdrantServer, QdrantStore),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bench-python", default="", help="has chromadb and qdrant-client")
    given = parser.parse_args()
    for name, (server, store) in STORES.items():
        with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as running:  # type: ignore[call-arg]
            asyncio.run(_fill(store(url=running.url, timeout_s=120.0), given.rows))
            for at_once in (1, 16):
                _compare(name, running, at_once, given)


async def _fill(store: VectorStore, rows: int) -> None:
    known = vectors(rows, dimensions=DIMENSIONS)
    await store.put(SPACE, [point(number, vector) for number, vector in enumerate(known)])
    await store.aclose()


def _compare(name: str, server: ServerProcess, at_once: int, given: argparse.Namespace) -> None:
    """In turns, so that a busy machine disturbs both alike; medians over the rounds."""
    questions = [one.tolist() for one in vectors(given.questions, dimensions=DIMENSIONS, seed=2)]
    told: dict[str, list[dict[str, float]]] = {"knowlex": [], "sdk": []}
    for _ in range(given.rounds):
        told["knowlex"].append(asyncio.run(_ours(name, server.url, questions, at_once)))
        if given.bench_python:
            told["sdk"].append(_theirs(name, server.port, questions, at_once, given.bench_python))
    for side, rounds in told.items():
        if rounds:
            cpu, median = (statistics.median(one[key] for one in rounds) for key in ("cpu_ms", "median_ms"))
            print(
                f"{name:7} {side:8} {at_once:3} at once  {cpu:6.2f} ms CPU  {median:7.1f} ms median",
                flush=True,
            )


async def _ours(name: str, url: str, questions: list[list[float]], at_once: int) -> dict[str, float]:
    """The client and not the store, so that both sides ask for the same."""
    if name == "chroma":
        chroma = ChromaClient(url, timeout_s=60.0)

        async def search(vector: list[float]) -> object:
            return await chroma.query(SPACE.name, vector, n_results=LIMIT, where={"collection_id": GROUP})

        found = await measure(search, questions, at_once)
        await chroma.aclose()
        return found
    qdrant = StoreCaller(JsonWire(url), timeout_s=60.0)
    conditions = {"must": [{"key": "collection_id", "match": {"value": GROUP}}]}

    async def search_qdrant(vector: list[float]) -> object:
        body = {"query": vector, "limit": LIMIT, "with_payload": False, "filter": conditions}
        return await qdrant.call("POST", f"/collections/{SPACE.name}/points/query", body)

    found = await measure(search_qdrant, questions, at_once)
    await qdrant.aclose()
    return found


def _theirs(
    name: str, port: int, questions: list[list[float]], at_once: int, python: str
) -> dict[str, float]:
    asked = {
        "store": name,
        "port": port,
        "collection": SPACE.name,
        "group": GROUP,
        "questions": questions,
        "limit": LIMIT,
        "at_once": at_once,
    }
    command = [python, str(Path(__file__).with_name("stores_sdk.py"))]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
