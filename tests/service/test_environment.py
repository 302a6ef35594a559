"""Where a service takes its settings from, and which it refuses."""

import asyncio

import pytest

from embeddings.stores.chroma_client import ChromaClient
from rag_service import OllamaUnavailable, RAGService, VectorStoreUnavailable
from tests.provider import Provider, vector_of
from tests.service.conftest import MakeService
from tests.support.chroma import ChromaServer

UNUSABLE = [
    ("OLLAMA_HOST", "ftp://user:hunter2@localhost"),
    ("OLLAMA_TIMEOUT_SECONDS", "0"),
    ("OLLAMA_TIMEOUT_SECONDS", "soon"),
    ("OLLAMA_KEEP_ALIVE", "a while"),
    ("VECTOR_STORE_URL", "chroma://hunter2@localhost"),
    ("VECTOR_STORE_URL", "http://chroma db:8001"),
    ("VECTOR_STORE_TIMEOUT_SECONDS", "-1"),
    ("VECTOR_STORE_API_KEY", "hunter2 hunter2"),
    ("MIN_CONFIDENCE_THRESHOLD", "1.1"),
    ("MAX_RETRIEVAL_RESULTS", "51"),
    ("LOG_LEVEL", "LOUD"),
]
QUESTION = "Who approves expenses above 500 euros?"


@pytest.mark.parametrize(("name", "value"), UNUSABLE)
def test_an_unusable_variable_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=name) as refused:
        RAGService()
    assert "hunter2" not in str(refused.value)


def test_an_unusable_argument_is_refused_by_name():
    with pytest.raises(ValueError, match="vector_store_url"):
        RAGService(vector_store_url="nowhere:8001:1")


def test_a_bare_host_is_asked_at_ollamas_port():
    with pytest.raises(OllamaUnavailable, match=r"http://127\.0\.0\.9:11434"):
        RAGService.from_texts([QUESTION], ollama_host="127.0.0.9").query(QUESTION)


def test_arguments_go_before_the_environment(make_service: MakeService):
    service = make_service(OLLAMA_HOST="http://127.0.0.1:1", VECTOR_STORE_URL="http://127.0.0.1:1")
    assert service.health_check()["status"] == "healthy"


def test_the_environment_goes_before_the_defaults(make_service: MakeService, ollama: Provider):
    make_service(OLLAMA_MODEL="mistral:7b").query(QUESTION)
    assert [call.body["model"] for call in ollama.calls("chat")] == ["mistral:7b"]


def test_a_higher_threshold_answers_less(make_service: MakeService, ollama: Provider):
    assert make_service(MIN_CONFIDENCE_THRESHOLD="1").query(QUESTION).answer is None
    assert ollama.calls("chat") == []


def test_max_retrieval_results_is_how_many_there_are(make_service: MakeService, ollama: Provider):
    service = make_service(MAX_RETRIEVAL_RESULTS="1", MIN_CONFIDENCE_THRESHOLD="0")
    service.query("What about chemicals, emergencies, vacation and expenses?")
    (call,) = ollama.calls("chat")
    context = call.body["prompt"].partition("Context:\n")[2].partition("\n\nQuestion:")[0]
    assert context.count("\n[") == 0


async def by_ollama(url: str) -> None:
    """A collection whose vectors are of another model."""
    text = "Expenses above 500 euros need the approval of the head of department."
    client = ChromaClient(url)
    await client.create_collection("by_ollama", configuration={"hnsw": {"space": "cosine"}})
    await client.upsert(
        "by_ollama",
        ids=["1"],
        vectors=[vector_of(text, 768)],
        documents=[text],
        metadatas=[{"source_doc": "expenses.md"}],
    )
    await client.aclose()


def test_another_embedding_model_is_asked_of_ollama(
    ollama: Provider, chroma: ChromaServer, make_service: MakeService
):
    asyncio.run(by_ollama(chroma.url))
    make = {"EMBEDDING_MODEL": "nomic-embed-text", "VECTOR_STORE_COLLECTION": "by_ollama"}
    service = make_service(**make)
    assert service.query(QUESTION).citations[0].document == "expenses.md"
    assert ollama.calls("embeddings")[-1].body["model"] == "nomic-embed-text"
    ollama.rule("status", status=404, on="embeddings", message='model "nomic-embed-text" not found')
    for either in (OllamaUnavailable, VectorStoreUnavailable):
        with pytest.raises(either, match="nomic-embed-text") as raised:
            service.query(f"{QUESTION} {either}")
        assert raised.value.to_dict()["error_type"] == "OllamaUnavailable"


def test_a_proxy_that_cannot_be_spoken_to_is_refused_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("all_proxy", "socks5://u:secret@proxy:1080")
    monkeypatch.setenv("no_proxy", "chromadb")
    with pytest.raises(ValueError, match="name ollama in NO_PROXY") as told:
        RAGService(ollama_host="http://ollama:11434")
    assert "secret" not in str(told.value)
    monkeypatch.setenv("no_proxy", "chromadb,ollama")
    RAGService(ollama_host="http://ollama:11434")
