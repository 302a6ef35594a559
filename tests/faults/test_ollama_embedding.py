"""Embeddings by Ollama through a whole Knowlex: what it does wrong is retried, told, and done later."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.provider import Provider
from tests.support.api import assert_problem, embed, generate, ingest, query
from tests.support.invariants import assert_embedded_once, assert_own_vectors, assert_settled
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.texts import facts_pdf, place
from tests.support.waiting import wait_until

BROKEN = ["reset", "close", "half", "html", "empty", "null", "list", "bad_utf8", "huge", "compressed"]
WRONG = ["more", "missing_data", "null_vector", "wrong_length", "mixed_length", "infinity", "zero"]


@pytest.fixture(scope="module")
def ollama_stack(_session_stacks: Callable[..., Stack], _provider: Provider) -> Stack:
    return _session_stacks(
        workers=2,
        KNOWLEX_EMBEDDER="ollama",
        KNOWLEX_EMBEDDING_MODEL="all-minilm:latest",
        KNOWLEX_EMBEDDING_TIMEOUT_SECONDS="1",
        OLLAMA_HOST=_provider.url,
        KNOWLEX_CHUNK_TOKENS="50",
        KNOWLEX_CHUNK_OVERLAP="0",
    )


@pytest.fixture
def stack(ollama_stack: Stack, provider: Provider) -> Stack:
    ollama_stack.ensure_running()
    ollama_stack.clean()
    return ollama_stack


def embedded_well(stack: Stack) -> None:
    assert_embedded_once(stack)
    assert_own_vectors(stack)
    assert_settled(stack)


def test_documents_and_questions_are_embedded_by_ollama(stack: Stack, provider: Provider) -> None:
    ingest(stack.client, make_pdf("The north tower has 120 steps. Its lamp burns whale oil.", title="Towers"))
    embed(stack.client)
    embedded_well(stack)
    body = query(stack.client, "How many steps does the north tower have?").json()
    assert "120 steps" in body["answer"]
    assert {call.path for call in provider.calls("embeddings")} == {"/api/embed"}
    assert {call.body["model"] for call in provider.calls("embeddings")} == {"all-minilm"}
    assert {call.body["keep_alive"] for call in provider.calls("embeddings")} == {"30m"}
    (model,) = stack.sql("SELECT name, provider, dimensions FROM embeddings_embeddingmodel WHERE active")
    assert (model["name"], model["provider"], model["dimensions"]) == ("all-minilm", "ollama", 384)


def test_f19_retry_after_is_honoured(stack: Stack, provider: Provider) -> None:
    ingest(stack.client, facts_pdf(10))
    provider.rule("status", status=503, retry_after_s=2, times=1, on="embeddings")
    embed(stack.client)
    first, second = provider.calls("embeddings")
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
    provider.has_pulled("llama3.2:1b")
    started = time.monotonic()
    problem = assert_problem(generate(stack.client), 500, "EMBEDDING_FAILED")
    assert time.monotonic() - started < 3
    assert "ollama pull all-minilm" in problem["message"]
    assert len(provider.calls("embeddings")) == 1
    provider.has_pulled("all-minilm:latest")
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
    provider.has_pulled("llama3.2:1b")
    problem = assert_problem(query(stack.client, "Which lighthouse is it?"), 503, "RETRIEVAL_FAILED")
    assert "ollama pull all-minilm" in problem["message"]


def test_health_looks_for_the_model_and_for_ollama(stack: Stack, provider: Provider) -> None:
    def becomes(*expected: str) -> None:
        wait_until(lambda: told() == expected, 5, f"/health to say {expected}")

    def told() -> tuple[Any, ...]:
        body = stack.client.get("/health").json()
        return body["status"], body["ollama"], body["embedding_model"]

    becomes("healthy", "connected", "loaded")
    provider.has_pulled("llama3.2:1b")
    becomes("degraded", "connected", "not_loaded")
    provider.has_pulled("all-minilm")
    becomes("healthy", "connected", "loaded")
    provider.rule("hang", on="models")
    becomes("degraded", "unreachable", "not_loaded")


def test_a_restart_by_its_other_name_embeds_nothing_anew(stack: Stack, provider: Provider) -> None:
    chunks = ingest(stack.client, facts_pdf(10))["totalChunks"]
    embed(stack.client)
    found = stack.manage(
        "shell",
        "-v0",
        "-c",
        "from embeddings.active import ensure_model_matches as e; e()",
        env={"KNOWLEX_EMBEDDING_MODEL": "all-minilm"},
    )
    assert found == ""
    assert stack.count("embeddings_embeddingmodel") == 1
    assert stack.count("embeddings_embedding") == chunks


def test_the_model_is_loaded_when_the_web_server_starts(stack: Stack, provider: Provider) -> None:
    stack.terminate_web()
    provider.reset()
    stack.start_web()
    wait_until(lambda: provider.loads == {"all-minilm:latest": 1}, 10, "the model to be loaded")
    assert provider.asked() == {}
