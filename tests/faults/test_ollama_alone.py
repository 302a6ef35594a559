"""Nothing but Ollama: what it does wrong while it embeds is retried, told and done later; it answers by every
face, is killed under a crowd, and comes back.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.answers.asking import events_in
from tests.conftest import MakeStack
from tests.provider import Provider
from tests.support.api import ask, assert_problem, book, embed, generate, ingest, query
from tests.support.invariants import assert_embedded_once, assert_own_vectors, assert_settled
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.texts import facts_pdf, place
from tests.support.waiting import wait_until

TEXT = "The north tower has 120 steps. Its lamp burns whale oil."
QUESTION = "How many steps does the north tower have?"
CROWD, LIMIT_S = 100, 4 + 10  # of the reply, and of the question's vector before it
BROKEN = ["reset", "close", "half", "html", "empty", "null", "list", "bad_utf8", "huge", "compressed"]
WRONG = ["more", "missing_data", "null_vector", "wrong_length", "mixed_length", "infinity", "zero"]


def ollama_env(provider: Provider) -> dict[str, str]:
    """Nothing but Ollama; chunks are small and many."""
    return {
        "KNOWLEX_EMBEDDER": "ollama",
        "KNOWLEX_EMBEDDING_MODEL": "all-minilm:latest",
        "KNOWLEX_EMBEDDING_TIMEOUT_SECONDS": "1",
        "KNOWLEX_SYNTHESIZER": "ollama",
        "OLLAMA_HOST": provider.url.removeprefix("http://"),
        "OLLAMA_MODEL": "mistral:7b",
        "OLLAMA_TIMEOUT_SECONDS": "4",
        "KNOWLEX_CHUNK_TOKENS": "50",
        "KNOWLEX_CHUNK_OVERLAP": "0",
        "KNOWLEX_CACHE": "off",
    }


@pytest.fixture(scope="module")
def _ollama_stack(make_module_stack: MakeStack, _provider: Provider) -> Stack:
    return make_module_stack(workers=2, **ollama_env(_provider))


@pytest.fixture
def stack(_ollama_stack: Stack, provider: Provider) -> Stack:
    """A running Knowlex that embeds and answers by the provider's Ollama. Empty at the start of each test."""
    _ollama_stack.ensure_running()
    _ollama_stack.clean()
    return _ollama_stack


def embedded_well(stack: Stack) -> None:
    assert_embedded_once(stack)
    assert_own_vectors(stack)
    assert_settled(stack)


def test_documents_and_questions_are_embedded_by_ollama(stack: Stack, provider: Provider) -> None:
    ingest(stack.client, make_pdf("The north tower has 120 steps. Its lamp burns whale oil.", title="Towers"))
    embed(stack.client)
    embedded_well(stack)
    assert "120 steps" in query(stack.client, "How many steps does the north tower have?").json()["answer"]
    # Other stacks of this run, which embed by OpenAI, may still be at work.
    calls = [call for call in provider.calls("embeddings") if call.body["model"] == "all-minilm"]
    assert {call.path for call in calls} == {"/api/embed"}
    assert {call.body["keep_alive"] for call in calls} == {"30m"}
    (model,) = stack.sql("SELECT name, provider, dimensions FROM embeddings_embeddingmodel WHERE active")
    assert (model["name"], model["provider"], model["dimensions"]) == ("all-minilm", "ollama", 384)


def test_f19_retry_after_is_honoured(stack: Stack, provider: Provider) -> None:
    ingest(stack.client, facts_pdf(10))
    provider.rule("status", status=503, retry_after_s=2, times=1, on="embeddings")
    embed(stack.client)
    # A server that has just started tries its embedder, with one text.
    first, second = (call for call in provider.calls("embeddings") if len(call.texts) > 1)
    assert second.at - first.at >= 2
    embedded_well(stack)


@pytest.mark.slow
def test_f21_what_cannot_be_embedded_is_told_and_done_later(stack: Stack, provider: Provider) -> None:
    chunks = ingest(stack.client, facts_pdf(10))["totalChunks"]
    provider.rule("status", status=500, on="embeddings")
    assert_problem(generate(stack.client), 500, "EMBEDDING_FAILED")
    assert stack.count("embeddings_embedding") == 0
    provider.reset()
    assert embed(stack.client) == chunks
    embedded_well(stack)


def test_a_model_that_was_not_pulled_is_told_at_once_and_embeds_when_it_was(
    stack: Stack, provider: Provider
) -> None:
    chunks = ingest(stack.client, facts_pdf(10))["totalChunks"]
    provider.has_pulled("mistral:7b")
    started = time.monotonic()
    problem = assert_problem(generate(stack.client), 500, "EMBEDDING_FAILED")
    assert time.monotonic() - started < 10
    assert "ollama pull all-minilm" in problem["message"]
    assert len(provider.calls("embeddings")) == 1
    provider.has_pulled("mistral:7b", "all-minilm:latest")
    assert embed(stack.client) == chunks
    embedded_well(stack)


def test_f23_one_refused_text_does_not_take_its_batch_along(stack: Stack, provider: Provider) -> None:
    ingest(stack.client, facts_pdf(30))
    words = "the input length exceeds the context length"
    provider.rule("status", status=400, message=words, contains=f"lighthouse of {place(7)} ", on="embeddings")
    assert_problem(generate(stack.client), 500, "EMBEDDING_FAILED")
    assert_embedded_once(stack, but=1)
    assert_own_vectors(stack)
    (failed,) = stack.sql("SELECT error FROM embeddings_embeddingrequest")
    assert words in failed["error"]
    assert_settled(stack)


@pytest.mark.parametrize(
    "fault",
    [
        *["hang", "cut", "fewer", "nan"],
        *(pytest.param(fault, marks=pytest.mark.slow) for fault in (*BROKEN, *WRONG)),
    ],
)
def test_f24_to_f28_a_try_without_usable_vectors_is_followed_by_another(
    stack: Stack, provider: Provider, fault: str
) -> None:
    chunks = ingest(stack.client, facts_pdf(10))["totalChunks"]
    children = {child.pid for child in stack.worker_children()}
    provider.rule(fault, times=1, on="embeddings")
    assert embed(stack.client) == chunks
    assert len(provider.calls("embeddings")) == 2
    embedded_well(stack)
    assert {child.pid for child in stack.worker_children()} == children


def test_a_question_is_a_retrieval_failure_while_the_model_is_gone(stack: Stack, provider: Provider) -> None:
    ingest(stack.client, facts_pdf(10))
    embed(stack.client)
    provider.has_pulled("mistral:7b")
    problem = assert_problem(query(stack.client, "Which lighthouse is it?"), 503, "RETRIEVAL_FAILED")
    assert "ollama pull all-minilm" in problem["message"]


def test_health_looks_for_the_model_and_for_ollama(stack: Stack, provider: Provider) -> None:
    def becomes(*expected: str) -> None:
        wait_until(lambda: told() == expected, 15, f"/health to say {expected}")

    def told() -> tuple[Any, ...]:
        body = stack.client.get("/health").json()
        return body["status"], body["ollama"], body["embedding_model"]

    provider.has_pulled("mistral:7b", "all-minilm:latest")
    becomes("healthy", "connected", "loaded")
    provider.has_pulled("mistral:7b")
    becomes("degraded", "connected", "not_loaded")
    provider.has_pulled("mistral:7b", "all-minilm")
    becomes("healthy", "connected", "loaded")
    provider.rule("hang", on="models")
    becomes("degraded", "unreachable", "not_loaded")


@pytest.mark.slow
def test_a_restart_by_its_other_name_embeds_nothing_anew(stack: Stack, provider: Provider) -> None:
    chunks = ingest(stack.client, facts_pdf(10))["totalChunks"]
    embed(stack.client)
    found = stack.manage(
        "shell",
        "-v0",
        "-c",
        "from embeddings.active_model import ensure_model_matches as e; e()",
        env={"KNOWLEX_EMBEDDING_MODEL": "all-minilm"},
    )
    assert found == ""
    assert stack.count("embeddings_embeddingmodel") == 1
    assert stack.count("embeddings_embedding") == chunks


def test_the_model_is_loaded_when_the_web_server_starts(stack: Stack, provider: Provider) -> None:
    stack.terminate_web()
    provider.reset()
    stack.start_web()
    both = {"all-minilm:latest": 1, "mistral:7b": 1}
    wait_until(lambda: provider.loads == both, what="the models to be loaded")
    assert provider.asked() == {}


@pytest.fixture
def towers(stack: Stack, provider: Provider) -> Stack:
    fill(stack)
    provider.has_pulled("mistral:7b", "all-minilm:latest", "nomic-embed-text:latest")
    provider.forget_log()
    return stack


def fill(stack: Stack) -> None:
    ingest(stack.client, make_pdf(TEXT, title="Towers"))
    embed(stack.client)


def v1(client: httpx.Client, text: str, **fields: Any) -> httpx.Response:
    return client.post("/v1/query", json={"query": text} | fields)


def test_every_face_asks_the_model_of_the_environment(towers: Stack, provider: Provider) -> None:
    for face in (ask, query, book, v1):
        reply = face(towers.client, QUESTION)
        assert reply.status_code == 200, reply.text
        assert "120 steps" in reply.text
    streamed = towers.client.post("/query", json={"query": QUESTION}, headers={"Accept": "text/event-stream"})
    assert "120" in streamed.text
    asked = [(call.path, call.body["model"], call.body["keep_alive"]) for call in provider.calls("chat")]
    assert asked == [("/api/chat", "mistral:7b", "30m")] * 5
    assert {call.body["model"] for call in provider.calls("embeddings")} == {"all-minilm"}


@pytest.mark.parametrize("fault", ["stream_error", "stream_cut", "stream_reset"])
def test_a_stream_that_breaks_ends_with_an_error(towers: Stack, provider: Provider, fault: str) -> None:
    provider.says("The north tower has 120 steps [1]. Its lamp burns whale oil [1].")
    provider.speaks_in(6, 0.005)
    provider.rule(fault, on="chat", after=8)
    reply = towers.client.post("/query", json={"query": QUESTION}, headers={"Accept": "text/event-stream"})
    events = events_in(reply.text)
    assert [name for name, _ in events[-2:]] == ["token", "error"]
    assert events[-1][1]["error"] == "SYNTHESIS_FAILED"


@pytest.mark.slow
def test_a_further_model_of_ollama_is_added_built_and_activated(towers: Stack, provider: Provider) -> None:
    told = towers.manage("embedding_model", "add", "nomic-embed-text:latest", "--provider", "ollama")
    assert "Added nomic-embed-text (ollama, 768 dimensions)" in told
    assert "There already" in towers.manage(
        "embedding_model", "add", "nomic-embed-text", "--provider", "ollama"
    )
    towers.manage("embedding_model", "build", "nomic-embed-text:latest")
    told = towers.manage("embedding_model", "activate", "nomic-embed-text", "--wait")
    assert "KNOWLEX_EMBEDDER=ollama KNOWLEX_EMBEDDING_MODEL=nomic-embed-text" in told
    assert "120 steps" in query(towers.client, QUESTION).json()["answer"]
    assert "Searches use all-minilm now" in towers.manage("embedding_model", "rollback")
    towers.manage("embedding_model", "remove", "nomic-embed-text")


@pytest.mark.slow
def test_killed_under_a_crowd_each_question_ends_in_time_and_service_returns(
    make_stack: Callable[..., Stack],
) -> None:
    """One that answers in half a second goes away while 100 wait, and comes back on its port."""
    first = Provider().__enter__()
    stack = make_stack(workers=1, KNOWLEX_RELEVANCE_THRESHOLD="0", **ollama_env(first))
    fill(stack)
    first.takes(0.5)

    def one(number: int) -> tuple[int, str, float]:
        began = time.monotonic()
        reply = query(client, f"{QUESTION} Or {number} steps?")
        return reply.status_code, reply.json().get("error", ""), time.monotonic() - began

    unlimited = httpx.Limits(max_connections=None)
    with (
        httpx.Client(base_url=stack.url, timeout=60, limits=unlimited) as client,
        ThreadPoolExecutor(CROWD) as crowd,
    ):
        asked = [crowd.submit(one, number) for number in range(CROWD)]
        first.wait_held("chat", 10)
        first.__exit__()
        outcomes = [each.result(60) for each in asked]
    ends = {outcome[:2] for outcome in outcomes}
    assert ends <= {(200, ""), (503, "SYNTHESIS_FAILED"), (503, "RETRIEVAL_FAILED")}
    assert max(took_s for _, _, took_s in outcomes) < LIMIT_S + 5
    with Provider(int(first.url.rpartition(":")[2])):
        wait_until(lambda: query(stack.client, QUESTION).status_code == 200, what="service to return")
