"""`health_check`: the document's keys and words, found out at the moment, without long waits."""

import re
import socket
import time
from collections.abc import Iterator

import pytest

from rag_service import RAGService
from tests.provider import Provider
from tests.service.conftest import MakeService
from tests.support.chroma import ChromaServer

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
HEALTHY = {
    "status": "healthy",
    "ollama": "connected",
    "vector_store": "connected",
    "embedding_model": "loaded",
}
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture
def silent() -> Iterator[str]:
    """Accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def checked(service: RAGService) -> dict[str, str]:
    found = service.health_check()
    assert STAMP.fullmatch(found.pop("timestamp"))
    return found


def test_all_is_well(service: RAGService):
    assert checked(service) == HEALTHY


async def test_from_an_event_loop(service: RAGService):
    assert (await service.ahealth_check())["status"] == "healthy"


def test_without_ollama_it_is_degraded(make_service: MakeService):
    assert checked(make_service(ollama_host=NOWHERE)) == HEALTHY | {
        "status": "degraded",
        "ollama": "unreachable",
    }


def test_without_its_model_ollama_is_of_no_use(make_service: MakeService, ollama: Provider):
    ollama.has_pulled("mistral:7b")
    service = make_service(OLLAMA_MODEL="gone:1b")
    assert checked(service) == HEALTHY | {"status": "degraded"}


def test_without_the_vector_store_it_is_unhealthy(make_service: MakeService, chroma: ChromaServer):
    service = make_service()
    assert checked(service) == HEALTHY
    chroma.kill()
    assert checked(service) == HEALTHY | {"status": "unhealthy", "vector_store": "unreachable"}
    chroma.start()
    assert checked(service) == HEALTHY


def test_nobody_is_waited_for_longer_than_a_second(make_service: MakeService, silent: str):
    service = make_service(ollama_host=silent, vector_store_url=silent)
    service.health_check()  # loads the embedding model
    began = time.monotonic()
    assert service.health_check()["status"] == "unhealthy"
    assert time.monotonic() - began < 8  # one second, on a busy machine


def test_a_model_that_cannot_be_loaded_is_told(make_service: MakeService, tmp_path):
    (tmp_path / "file").write_text("")
    service = make_service(KNOWLEX_MODELS_DIR=str(tmp_path / "file"))
    assert checked(service) == HEALTHY | {"status": "degraded", "embedding_model": "not_loaded"}


def test_a_service_of_texts_needs_nobody():
    service = RAGService.from_texts(["Gloves protect hands."])
    assert checked(service) == HEALTHY | {"ollama": "not_configured"}
