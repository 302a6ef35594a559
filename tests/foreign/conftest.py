"""A real Chroma server, the local model, and collections to read."""

from collections.abc import AsyncIterator, Iterator, Sequence

import pytest
from django.conf import settings

from embeddings.embedders.local import LocalEmbedder
from embeddings.stores.chroma_client import ChromaClient
from rag_service.readers import CollectionReader
from tests.foreign.filling import KINDS, Fill, Given, in_chroma, in_memory
from tests.support.chroma import ChromaServer


@pytest.fixture(scope="session")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with ChromaServer(tmp_path_factory.mktemp("chroma")) as server:
        yield server


@pytest.fixture(scope="session")
def embedder() -> LocalEmbedder:
    return LocalEmbedder(models_dir=settings.MODELS_DIR)


@pytest.fixture
async def client(chroma: ChromaServer) -> AsyncIterator[ChromaClient]:
    client = ChromaClient(chroma.url)
    yield client
    await client.aclose()


@pytest.fixture(params=KINDS)
def fill(request: pytest.FixtureRequest) -> Fill:
    """Puts records into a collection of each kind and reads it."""
    if request.param == "memory":

        async def memory(given: Sequence[Given]) -> CollectionReader:
            return in_memory(given)

        return memory
    client = request.getfixturevalue("client")
    return lambda given: in_chroma(client, request.param, given)
