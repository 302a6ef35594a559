"""Every implementation of VectorStore, on its real server; the suite runs over each."""

from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from embeddings.protocols import VectorStore
from embeddings.stores.chroma import ChromaStore
from embeddings.stores.memory import MemoryStore
from embeddings.stores.qdrant import QdrantStore
from embeddings.types import Space
from tests.stores import points
from tests.support.chroma import ChromaServer
from tests.support.qdrant import QdrantServer
from tests.support.servers import ServerProcess

_numbers = count()
SERVERS = {"chroma": ChromaServer, "qdrant": QdrantServer}
STORES = {"chroma": ChromaStore, "qdrant": QdrantStore}


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], ServerProcess]]:
    started: dict[str, ServerProcess] = {}

    def get(kind: str) -> ServerProcess:
        if kind not in started:
            started[kind] = SERVERS[kind](tmp_path_factory.mktemp(kind))
        started[kind].ensure_running()
        return started[kind]

    yield get
    for server in started.values():
        server.stop()


@pytest.fixture(params=["memory", *STORES])
async def store(
    request: pytest.FixtureRequest, servers: Callable[[str], ServerProcess]
) -> AsyncIterator[VectorStore]:
    kind = request.param
    built = MemoryStore() if kind == "memory" else STORES[kind](url=servers(kind).url, timeout_s=20.0)
    yield built
    await built.aclose()


@pytest.fixture
def space() -> Space:
    """One that no other test uses, which nothing is in."""
    return points.space(f"{Path(__file__).parent.name}{next(_numbers)}")
