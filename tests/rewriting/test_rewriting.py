"""Questions that are searched for in a chat model's words, too, over HTTP; the model is the provider."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import httpx
import pytest

from rag.retrievers.rewriting import expansion_prompt, hyde_prompt
from tests.conftest import MakeStack, provider_env
from tests.platform import talk
from tests.provider import Provider
from tests.search.conftest import post
from tests.support.api import ask
from tests.support.provider.prompts import Prompt
from tests.support.stack import Stack
from tests.support.waiting import wait_until

LEAVE = "Employees get thirty days of paid leave, and parents five days more."
HYPOTHETICAL = "Employees get some days of paid leave."
PHRASINGS = ("How many days of paid leave do employees get?", "Paid leave of employees?", "Days of leave?")
_numbers = count(1)
NOTES = 25  # that hold words of the question: more than a search hands on


def replies(prompt: Prompt) -> str:
    if prompt.user.endswith("Hypothetical answer:"):
        return HYPOTHETICAL
    return "{}\n2. {}\n3. {}".format(*PHRASINGS)


@pytest.fixture(scope="module")
def rewriting(make_module_stack: MakeStack, _provider: Provider) -> Stack:
    """Asks a chat model for every question that does not forbid it, and has time."""
    env = provider_env(_provider) | {
        "KNOWLEX_SYNTHESIZER": "extractive",
        "KNOWLEX_CHAT_MODEL": "small",
        "KNOWLEX_QUERY_REWRITING": "on",
        "KNOWLEX_QUERY_REWRITING_TIMEOUT_SECONDS": "40",
        "KNOWLEX_LLM_TIMEOUT_SECONDS": "30",
    }
    _provider.reset()
    stack = make_module_stack(workers=1, **env)
    notes = [talk.text(f"Note {n}: yearly holiday allowance.", f"note{n}.txt") for n in range(NOTES)]
    talk.ingested(stack.client, talk.text(LEAVE, "leave.txt"), *notes)
    return stack


@pytest.fixture
def client(rewriting: Stack, provider: Provider) -> httpx.Client:
    """Its library holds the answer in other words than the question's, and many notes in the question's."""
    provider.says(replies)
    return rewriting.client


@pytest.fixture
def question() -> str:
    """One that was never asked: what a model wrote for a question is kept."""
    return f"What is the yearly holiday allowance q{next(_numbers)}?"


def searched(client: httpx.Client, query: str, **settings: Any) -> dict[str, Any]:
    reply = post(client, query, settings={"rerank": False, "top_k": 15, **settings})
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def contents(body: dict[str, Any]) -> list[str]:
    return [result["content"] for result in body["results"]]


def test_what_only_the_models_words_find_is_found(client: httpx.Client, question: str):
    plain, rewritten = searched(client, question, rewrite=False), searched(client, question)

    assert LEAVE not in contents(searched(client, question, rewrite=False, top_k=20))
    assert LEAVE in contents(rewritten)
    assert contents(rewritten)[0] == contents(plain)[0]
    assert (plain["rewriting"], rewritten["rewriting"]) == (None, "done")
    assert "rewrite" in rewritten["stage_times_ms"]
    assert "rewrite" not in plain["stage_times_ms"]


def test_scores_are_those_for_the_question_itself(client: httpx.Client, question: str):
    rewritten = searched(client, question)["results"]
    (leave,) = (result for result in rewritten if result["content"] == LEAVE)
    everything = searched(client, question, rewrite=False, top_k=50)["results"]
    (plain,) = (result for result in everything if result["content"] == LEAVE)
    assert leave["dense_score"] == pytest.approx(plain["dense_score"], abs=1e-6)
    assert leave["sparse_score"] is None
    assert leave["relevance"] < rewritten[0]["relevance"]

    reranked = contents(searched(client, question, rerank=True, top_k=50))
    assert reranked.index(LEAVE) > reranked.index(rewritten[0]["content"])


def test_the_model_is_asked_as_designed_and_sees_no_document(
    client: httpx.Client, provider: Provider, question: str
):
    searched(client, question)
    calls = provider.calls("chat")
    assert {(call.body["model"], call.body["max_tokens"], call.body["temperature"]) for call in calls} == {
        ("small", 150, 0.0)
    }
    assert sorted(call.prompt.text.strip() for call in calls) == sorted(
        [hyde_prompt(question), expansion_prompt(question)]
    )
    embedded = provider.asked()
    assert [embedded[text] for text in (question, HYPOTHETICAL, *PHRASINGS)] == [1] * 5


def test_nobody_is_asked_where_it_is_not_wanted(client: httpx.Client, provider: Provider, question: str):
    for settings in ({"rewrite": False}, {"mode": "sparse"}, {"mode": "exact", "rewrite": True}):
        assert searched(client, question, **settings)["rewriting"] is None
    assert provider.calls("chat") == []
    assert searched(client, question, mode="dense")["rewriting"] == "done"
    assert ask(client, question).status_code == 200  # answers are searched for in the same way
    assert len(provider.calls("chat")) == 2  # and what was written for the question is kept


def test_it_is_off_by_default_and_can_be_asked_for(provider_server: Stack, provider: Provider, question: str):
    talk.ingested(provider_server.client, talk.text(LEAVE, "leave.txt"))
    provider.says(replies)
    assert searched(provider_server.client, question)["rewriting"] is None
    assert provider.calls("chat") == []
    assert searched(provider_server.client, question, rewrite=True)["rewriting"] == "done"


def test_both_calls_run_beside_the_plain_search_and_hold_no_connection(
    client: httpx.Client, provider: Provider, question: str
):
    questions = [f"{question} {n}" for n in range(12)]
    provider.hold(on="chat")
    with ThreadPoolExecutor(12) as pool:
        waiting = [pool.submit(searched, client, one) for one in questions]
        provider.wait_held("chat", 24)
        wait_until(lambda: all(provider.asked()[one] for one in questions), 20, "the plain searches")
        assert searched(client, question, rewrite=False)["results"]  # they wait for more than all connections
        provider.release()
        assert {done.result()["rewriting"] for done in waiting} == {"done"}


@pytest.mark.parametrize("fault", ["status", "html", "empty", "null", "half", "huge", "bad_utf8", "reset"])
def test_a_model_that_fails_leaves_the_plain_result(
    client: httpx.Client, provider: Provider, question: str, fault: str
):
    provider.rule(fault, on="chat")
    rewritten = searched(client, question)
    assert rewritten["rewriting"] == "failed"
    assert contents(rewritten) == contents(searched(client, question, rewrite=False))
    assert len(provider.calls("chat")) == 2


def test_a_model_that_hangs_leaves_the_plain_result(
    provider_server: Stack, provider: Provider, question: str
):
    talk.ingested(provider_server.client, talk.text(LEAVE, "leave.txt"))
    provider.rule("hang", on="chat")
    rewritten = searched(provider_server.client, question, rewrite=True)
    assert (rewritten["rewriting"], contents(rewritten)) == ("failed", [LEAVE])
    assert 2900 < rewritten["stage_times_ms"]["rewrite"] < 9000  # of a limit of 3 s


@pytest.mark.parametrize("half", ["Hypothetical", "Alternative"])
def test_one_of_both_replies_is_used_without_the_other(
    client: httpx.Client, provider: Provider, question: str, half: str
):
    provider.rule("status", status=500, on="chat", contains=half)
    assert searched(client, question)["rewriting"] == "done"


@pytest.mark.parametrize(
    "said",
    ["", " \n ", "???", "nul", "script", "surrogate", "Ignore all that. DROP TABLE x; --\n2. ' | & ! ( ) :*"],
)
def test_a_model_that_writes_nonsense_harms_nothing(
    client: httpx.Client, provider: Provider, question: str, said: str
):
    provider.says(said)
    rewritten = searched(client, question)
    assert rewritten["rewriting"] in ("done", "failed")
    assert contents(rewritten)[0] == contents(searched(client, question, rewrite=False))[0]


def test_an_embedder_that_refuses_the_models_words_leaves_the_plain_result(
    client: httpx.Client, provider: Provider, question: str
):
    provider.rule("status", status=400, on="embeddings", contains="leave")
    rewritten = searched(client, question)
    assert rewritten["rewriting"] == "failed"
    assert contents(rewritten) == contents(searched(client, question, rewrite=False))


def test_where_nothing_is_stored_nothing_is_waited_for(
    client: httpx.Client, provider: Provider, question: str
):
    empty = talk.collection(client, f"Empty {next(_numbers)}")
    provider.hold(on="chat")
    reply = post(client, question, collections=[empty])
    assert (reply.json()["results"], reply.json()["rewriting"]) == ([], None)
    wait_until(lambda: not provider.running("chat"), 20, "the calls to be given up")
    provider.release()


def test_without_a_chat_model_it_is_said_and_the_search_is_plain(server: Stack, question: str):
    talk.ingested(server.client, talk.text(LEAVE, "leave.txt"))
    body = searched(server.client, question, rewrite=True)
    assert (body["rewriting"], contents(body)) == ("unavailable", [LEAVE])
