"""A real Chroma server that others have filled, Ollama's API, and services that use both."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings

from embeddings.embedders.local import LocalEmbedder
from rag_service import RAGService
from tests.provider import Provider
from tests.service import company, model
from tests.support.chroma import ChromaServer

MakeService = Callable[..., RAGService]


@pytest.fixture(scope="package")
def _chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with ChromaServer(tmp_path_factory.mktemp("chroma")) as server:
        asyncio.run(company.fill(server.url, LocalEmbedder(models_dir=settings.MODELS_DIR)))
        yield server


@pytest.fixture
def chroma(_chroma: ChromaServer) -> ChromaServer:
    """Running, with the company's documents; it may be killed or paused."""
    _chroma.ensure_running()
    return _chroma


@pytest.fixture
def ollama(provider: Provider) -> Provider:
    """It quotes what it is shown first, and cites it by the label there."""
    provider.says(model.quotes)
    return provider


@pytest.fixture
def make_service(
    ollama: Provider, chroma: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeService]:
    """`make_service(OLLAMA_TIMEOUT_SECONDS="1")`: a service with these variables."""
    made: list[RAGService] = []

    def make(ollama_host: str = ollama.url, vector_store_url: str = chroma.url, **env: str) -> RAGService:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        made.append(RAGService(ollama_host=ollama_host, vector_store_url=vector_store_url))
        return made[-1]

    yield make
    for service in made:
        service.close()


@pytest.fixture
def service(make_service: MakeService) -> RAGService:
    return make_service()
