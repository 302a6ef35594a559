"""Answers by Ollama over its own API, embeddings by the local model: the Query API's own wiring."""

import time
from collections import Counter

import pytest

from tests.conftest import MakeStack
from tests.provider import Provider
from tests.support.api import assert_problem, embed, ingest, query, together
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.waiting import wait_until

TEXT = "The north tower has 120 steps. Its lamp burns whale oil."
QUESTION = "How many steps does the north tower have?"
DEADLINE_S = 2 + 6  # the timeout of the stack, and what a crowded machine takes besides


@pytest.fixture(scope="module")
def ollama_stack(make_module_stack: MakeStack, _provider: Provider) -> Stack:
    return make_module_stack(
        workers=1,
        KNOWLEX_SYNTHESIZER="ollama",
        OLLAMA_HOST=_provider.url,
        OLLAMA_TIMEOUT_SECONDS="2",
    )


@pytest.fixture
def towers(ollama_stack: Stack, provider: Provider) -> Stack:
    ollama_stack.ensure_running()
    ollama_stack.clean()
    ingest(ollama_stack.client, make_pdf(TEXT, title="Towers"))
    embed(ollama_stack.client)
    return ollama_stack


def test_ollama_is_asked_for_its_model_at_a_low_temperature(towers: Stack, provider: Provider):
    body = query(towers.client, QUESTION, maxTokens=99).json()
    assert body["answer"] == "The north tower has 120 steps [1]."
    assert body["metadata"]["answerSynthesized"] is True
    (call,) = provider.calls("chat")
    assert (call.path, call.body["model"]) == ("/api/chat", "llama3.2:1b")
    assert call.body["options"]["temperature"] <= 0.3
    assert call.body["options"]["num_predict"] == 99
    assert call.prompt.questions == [QUESTION]
    assert call.prompt.numbers == [1]


FAULTS = ["hang", "status", "html", "cut", "empty", "reset", "no_text", "error_200"]


def test_a_failing_ollama_is_a_synthesis_failure_within_its_timeout(towers: Stack, provider: Provider):
    """All at once, each for a question of its own. All but one that hangs are tried again, then told."""
    questions = {fault: f"{QUESTION} Really, {fault}?" for fault in FAULTS}
    for fault, text in questions.items():
        provider.rule(fault, on="chat", contains=text, message="unexpected EOF")
    started = time.monotonic()
    replies = together([lambda text=text: query(towers.client, text) for text in questions.values()])
    assert time.monotonic() - started < DEADLINE_S
    for fault, reply in zip(FAULTS, replies, strict=True):
        if fault == "no_text":  # a model that says nothing is no failure
            assert (reply.status_code, reply.json()["metadata"]["reason"]) == (200, "model_declined")
        else:
            assert_problem(reply, 503, "SYNTHESIS_FAILED")
    asked = Counter(call.fault for call in provider.calls("chat"))
    assert [asked[fault] > 1 for fault in FAULTS] == [False] + [True] * (len(FAULTS) - 1)


def test_an_ollama_that_says_nothing_gives_no_answer(towers: Stack, provider: Provider):
    provider.says("empty")
    reply = query(towers.client, QUESTION)
    assert (reply.status_code, reply.json()["metadata"]["reason"]) == (200, "model_declined")
    assert len(provider.calls("chat")) > 1


def test_a_model_that_was_not_pulled_is_named_at_once(towers: Stack, provider: Provider):
    provider.has_pulled("mistral:7b")
    problem = assert_problem(query(towers.client, QUESTION), 503, "SYNTHESIS_FAILED")
    assert "ollama pull llama3.2:1b" in problem["message"]
    assert len(provider.calls("chat")) == 1
    wait_until(lambda: towers.client.get("/health").json()["chat_model"] == "not_loaded", what="not_loaded")
    body = towers.client.get("/health").json()
    assert (body["status"], body["ollama"]) == ("degraded", "connected")


def test_a_model_that_loads_in_time_answers(towers: Stack, provider: Provider):
    provider.loads_in(0.5)
    assert query(towers.client, QUESTION).json()["metadata"]["answerSynthesized"] is True
    assert provider.loads == {"llama3.2:1b": 1}


def test_a_question_does_not_wait_for_a_long_load_and_a_later_one_need_not(towers: Stack, provider: Provider):
    """The first is withdrawn, which ends the load it waited for; another one goes on without a question."""
    provider.loads_in(2.5)
    started = time.monotonic()
    assert_problem(query(towers.client, QUESTION), 503, "SYNTHESIS_FAILED")
    assert time.monotonic() - started < DEADLINE_S
    wait_until(lambda: provider.abandoned == 1, what="the request to be cancelled")
    wait_until(lambda: provider.loads["llama3.2:1b"] == 2, what="another load to begin")
    wait_until(lambda: provider.running("load") == 0, what="it to be done")
    assert query(towers.client, QUESTION).json()["metadata"]["answerSynthesized"] is True
    assert provider.loads["llama3.2:1b"] == 2


def test_a_model_in_memory_that_is_slow_is_not_loaded_again(towers: Stack, provider: Provider):
    query(towers.client, QUESTION)
    provider.rule("hang", on="chat")
    assert_problem(query(towers.client, f"{QUESTION} Really?"), 503, "SYNTHESIS_FAILED")
    wait_until(lambda: [c for c in provider.calls("models") if c.path == "/api/ps"], what="to look")
    assert provider.calls("load") == []
    assert provider.running("chat") == 0


def test_the_model_is_loaded_when_the_web_server_starts_with_the_window_of_questions(
    towers: Stack, provider: Provider
):
    towers.terminate_web()
    provider.reset()
    towers.start_web()
    wait_until(lambda: len(provider.calls("load")) == 1, what="the model to be loaded")
    query(towers.client, QUESTION)
    (loading,), (asking,) = provider.calls("load"), provider.calls("chat")
    assert (loading.path, loading.body["keep_alive"]) == ("/api/generate", "30m")
    assert loading.body["options"] == asking.body["options"]
    assert provider.loads == {"llama3.2:1b": 1}


def test_a_model_that_cannot_be_loaded_delays_no_start(towers: Stack, provider: Provider):
    towers.terminate_web()
    provider.reset()
    provider.rule("hang", on="load")
    started = time.monotonic()
    towers.start_web()
    assert query(towers.client, QUESTION).json()["metadata"]["answerSynthesized"] is True
    assert time.monotonic() - started < 30


def test_health_tells_that_ollama_went_and_came_back(towers: Stack, provider: Provider):
    def health() -> tuple[str, str]:
        body = towers.client.get("/health").json()
        return body["status"], body["ollama"]

    assert health() == ("healthy", "connected")
    provider.rule("hang", on="models")
    wait_until(lambda: health() == ("degraded", "unreachable"), 10, "degraded")
    provider.reset()
    wait_until(lambda: health() == ("healthy", "connected"), 10, "healthy")
