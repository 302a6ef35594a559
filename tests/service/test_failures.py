"""What is raised when Chroma or Ollama fail, and how the service comes back."""

import asyncio
import logging
import pickle
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from rag_service import (
    GenerationTimeout,
    OllamaUnavailable,
    RAGService,
    RAGServiceError,
    VectorStoreUnavailable,
)
from tests.provider import Provider
from tests.service import model
from tests.service.conftest import MakeService
from tests.support.chroma import ChromaServer
from tests.support.waiting import wait_until

QUESTION = "What are the safety protocols for handling chemicals?"
NOWHERE = "http://user:hunter2@127.0.0.1:1"


def test_an_error_has_the_documents_form(make_service: MakeService, caplog: pytest.LogCaptureFixture):
    service = make_service(vector_store_url=NOWHERE)
    with pytest.raises(VectorStoreUnavailable) as raised:
        service.query(QUESTION)
    body = raised.value.to_dict()
    assert body == {
        "answer": None,
        "citations": [],
        "confidence": 0.0,
        "message": "Service temporarily unavailable. Please try again.",
        "request_id": raised.value.request_id,
        "processing_time_ms": raised.value.processing_time_ms,
        "error_type": "VectorStoreUnavailable",
        "error_details": str(raised.value),
    }
    assert raised.value.http_status == 503
    (record,) = [one for one in caplog.records if getattr(one, "error_type", "") == "VectorStoreUnavailable"]
    assert record.request_id == body["request_id"]  # type: ignore[attr-defined]
    assert body["request_id"] in record.getMessage()
    assert "hunter2" not in caplog.text + str(body)
    assert pickle.loads(pickle.dumps(raised.value)).to_dict() == body


def test_a_silent_store_is_given_up_after_four_tries(make_service: MakeService, chroma: ChromaServer):
    service = make_service(VECTOR_STORE_TIMEOUT_SECONDS="0.3")
    service.query(QUESTION)
    chroma.pause(on=True)
    try:
        with pytest.raises(VectorStoreUnavailable, match=r"timed out after 0\.3s"):
            service.query(QUESTION)
    finally:
        chroma.pause(on=False)
    assert service.query(QUESTION).answer


def test_a_missing_collection_is_nothing_found(make_service: MakeService, ollama: Provider):
    answer = make_service(VECTOR_STORE_COLLECTION="no_such_collection").query(QUESTION)
    assert (answer.answer, answer.message) == (None, "Information not found in the knowledge base.")
    assert ollama.calls("chat") == []


def test_a_model_that_is_not_there_is_to_be_pulled(service: RAGService, ollama: Provider):
    ollama.rule("status", status=404, on="chat")
    with pytest.raises(OllamaUnavailable, match=r"ollama pull llama3\.2:1b"):
        service.query(QUESTION)
    assert len(ollama.calls("chat")) == 1


def test_ollama_is_tried_again(service: RAGService, ollama: Provider):
    ollama.rule("status", status=500, on="chat", times=1)
    assert service.query(QUESTION).answer


def test_without_ollama_there_is_no_answer(make_service: MakeService):
    service = make_service(ollama_host="http://127.0.0.1:1", OLLAMA_TIMEOUT_SECONDS="1.5")
    with pytest.raises(OllamaUnavailable) as raised:
        service.query(QUESTION)
    assert "http://127.0.0.1:1" in raised.value.error_details


def test_a_generation_that_takes_too_long_is_cancelled(make_service: MakeService, ollama: Provider):
    ollama.hold(on="chat")
    service = make_service(OLLAMA_TIMEOUT_SECONDS="0.5")
    with pytest.raises(GenerationTimeout, match=r"within 0\.5s") as raised:
        service.query(QUESTION)
    assert raised.value.http_status == 504
    wait_until(lambda: ollama.abandoned == 1, 30, "Ollama's request to be given up")


def test_a_model_that_loads_too_long_is_there_for_the_next_question(
    make_service: MakeService, ollama: Provider
):
    ollama.loads_in(1.0)
    service = make_service(OLLAMA_TIMEOUT_SECONDS="0.4")
    with pytest.raises(GenerationTimeout):
        service.query(QUESTION)
    running = f"{ollama.url}/api/ps"
    wait_until(lambda: httpx.get(running).json()["models"], 30, "the model to be loaded")
    assert service.query(QUESTION).answer


async def test_a_caller_who_leaves_cancels_the_generation(service: RAGService, ollama: Provider):
    ollama.hold(on="chat")
    asking = asyncio.create_task(service.aquery(QUESTION))
    await asyncio.to_thread(ollama.wait_held, "chat")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.to_thread(wait_until, lambda: ollama.abandoned == 1, 30, "the request to be given up")


@pytest.mark.parametrize(
    "said",
    [
        "All personnel must wear protective eyewear and gloves.",
        "All personnel must wear protective eyewear and gloves [other.pdf, page 5].",
        "All personnel must not wear protective eyewear and gloves when handling Class A chemicals"
        " [safety_manual.pdf, page 5].",
    ],
)
def test_an_answer_without_true_citations_is_none(
    service: RAGService, ollama: Provider, caplog: pytest.LogCaptureFixture, said: str
):
    ollama.says(said)
    answer = service.query(QUESTION)
    assert (answer.answer, answer.citations, answer.error_type) == (None, [], None)
    assert answer.message == "Information not found in the knowledge base."
    (warning,) = [one for one in caplog.records if one.levelno == logging.WARNING]
    assert "NoCitationsFound" in warning.getMessage()
    assert answer.request_id in warning.getMessage()
    assert said in warning.getMessage()


def test_a_model_that_does_not_know_is_believed(service: RAGService, ollama: Provider):
    ollama.says("I don't know.")
    answer = service.query(QUESTION)
    assert (answer.answer, answer.confidence) == (None, 0.0)


def test_words_of_the_models_own_keep_their_marker(service: RAGService, ollama: Provider):
    ollama.says("Class A chemicals call for goggles [safety_manual.pdf, page 5].")
    answer = service.query(QUESTION)
    assert answer.answer == "Class A chemicals call for goggles [safety_manual.pdf, page 5]."
    assert [citation.page for citation in answer.citations] == [5]


def test_a_marker_that_is_not_true_is_taken_out(service: RAGService, ollama: Provider):
    ollama.says(
        "All personnel must wear protective eyewear and gloves [safety_manual.pdf, p.5]."
        " The fire brigade must be told first [safety_manual.pdf, page 99]."
    )
    answer = service.query(QUESTION)
    assert "99" not in answer.answer
    assert [citation.page for citation in answer.citations] == [5]


def test_killing_the_store_under_a_hundred_questions(service: RAGService, chroma: ChromaServer):
    async def all_of_them() -> list[object]:
        asked = [asyncio.create_task(service.aquery(f"{QUESTION} {n}")) for n in range(100)]
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        chroma.kill()
        return await asyncio.gather(*asked, return_exceptions=True)

    began = time.monotonic()
    ended = asyncio.run(all_of_them())
    failures = [one for one in ended if isinstance(one, BaseException)]
    assert {type(one) for one in failures} <= {VectorStoreUnavailable}
    assert time.monotonic() - began < 30
    chroma.start()
    assert service.query(QUESTION).answer


async def test_killing_ollama_under_many_questions(make_service: MakeService):
    waiting: list[asyncio.StreamWriter] = []
    killed = await asyncio.start_server(lambda _, writer: waiting.append(writer), "127.0.0.1", 0)
    port = killed.sockets[0].getsockname()[1]
    service = make_service(ollama_host=f"http://127.0.0.1:{port}", OLLAMA_TIMEOUT_SECONDS="2")
    asked = [asyncio.create_task(service.aquery(QUESTION)) for _ in range(20)]
    await asyncio.to_thread(wait_until, lambda: len(waiting) == 20, 30, "20 requests")
    killed.close()
    for writer in waiting:
        writer.transport.abort()
    ended = await asyncio.gather(*asked, return_exceptions=True)
    assert {type(one) for one in ended} <= {OllamaUnavailable, GenerationTimeout}
    with Provider(port) as again:
        again.says(model.quotes)
        assert (await service.aquery(QUESTION)).answer


async def test_an_ollama_that_nobody_answers_for_is_unavailable(make_service: MakeService):
    """Its host drops what is sent to it: not even a connection is made."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(3)]  # as many as fit into the queue, and more
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        service = make_service(ollama_host=f"http://127.0.0.1:{port}", OLLAMA_TIMEOUT_SECONDS="1")
        with pytest.raises(OllamaUnavailable, match="could not be reached"):
            await service.aquery(QUESTION)
        for one in waiting:
            one.close()


def test_a_model_that_says_nothing_cites_nothing(
    make_service: MakeService, ollama: Provider, caplog: pytest.LogCaptureFixture
):
    ollama.says("")
    answer = make_service(OLLAMA_TIMEOUT_SECONDS="0.9").query(QUESTION)
    assert (answer.answer, answer.message) == (None, "Information not found in the knowledge base.")
    assert f"NoCitationsFound (request_id={answer.request_id})" in caplog.text


def in_threads(service: RAGService, count: int, meanwhile: Callable[[], None]) -> list[object]:
    """What `count` threads get that ask at once: answers and failures."""

    def asked(n: int) -> object:
        try:
            return service.query(f"{QUESTION} {n}").answer
        except RAGServiceError as exc:
            return exc

    with ThreadPoolExecutor(count) as threads:
        waiting = [threads.submit(asked, n) for n in range(count)]
        meanwhile()
        return [future.result(60) for future in waiting]


@pytest.mark.slow
def test_servers_that_stand_still_under_a_hundred_threads(
    make_service: MakeService, chroma: ChromaServer, ollama: Provider
):
    service = make_service(VECTOR_STORE_TIMEOUT_SECONDS="0.5", OLLAMA_TIMEOUT_SECONDS="2")
    assert service.query(QUESTION).answer
    threads = threading.active_count()
    chroma.pause(on=True)
    try:
        found = in_threads(service, 100, lambda: None)
    finally:
        chroma.pause(on=False)
    assert {type(one) for one in found} == {VectorStoreUnavailable}
    assert max(one.processing_time_ms for one in found if isinstance(one, RAGServiceError)) < 20_000
    assert service.query(QUESTION).answer
    ollama.hold(on="chat")
    found = in_threads(service, 100, lambda: None)
    assert {type(one) for one in found} == {GenerationTimeout}
    assert max(one.processing_time_ms for one in found if isinstance(one, RAGServiceError)) < 20_000
    ollama.release()
    assert service.query(QUESTION).answer
    assert threading.active_count() <= threads + 5
