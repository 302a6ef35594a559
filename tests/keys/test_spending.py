"""A day's tokens have a ceiling, in all and for a key: what is refused, what goes on, what is counted."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.answers.asking import platform
from tests.conftest import MakeStack, provider_env
from tests.keys.key_factory import as_key, make_key
from tests.metrics.test_metrics import scraped, value
from tests.platform.talk import accepted, ended, ingested, text
from tests.provider import Provider
from tests.support.provider.bodies import CHAT_USAGE
from tests.support.stack import Stack
from tests.support.waiting import wait_until

CEILING = 60
STOPPED = "nothing is embedded by paid models"  # in the worker's log, also by earlier tests
FACES = ("/v1/query", "/query", "/api/v1/rag/query", "/api/v1/rag/ask")
STREAMED = {"Accept": "text/event-stream"}
TOWERS = "The lighthouse of Norderney is 54 metres tall. It was lit in 1874. It has 253 steps."


@pytest.fixture(scope="module")
def _spending(make_module_stack: MakeStack, _provider: Provider) -> Stack:
    env = {"KNOWLEX_REQUIRE_API_KEY": "true", "KNOWLEX_DAILY_TOKENS": str(CEILING)}
    return make_module_stack(workers=1, **provider_env(_provider), **env)


@pytest.fixture
def spending(_spending: Stack, provider: Provider) -> Iterator[Stack]:
    """Embedder and chat model are the provider's; one small document, and nothing spent today."""
    _spending.ensure_running()
    _spending.clean()
    forget_spent(_spending)
    with as_key(_spending, make_key(_spending)) as client:
        ingested(client, text(TOWERS, "towers.md"))
    forget_spent(_spending)
    provider.forget_log()
    yield _spending
    forget_spent(_spending)


@pytest.fixture
def caller(spending: Stack) -> Iterator[httpx.Client]:
    with as_key(spending, make_key(spending)) as client:
        yield client


def forget_spent(stack: Stack) -> None:
    """As the next day does, and a Valkey that lost its memory."""
    assert stack.broker is not None
    valkey = stack.broker.client()
    for counter in valkey.keys("knowlex:tokens:*"):
        valkey.delete(counter)


def ask_until_refused(client: httpx.Client) -> httpx.Response:
    for number in range(10):
        reply = platform(client, f"How tall is lighthouse {number}?")
        if reply.status_code != 200:
            return reply
    raise AssertionError("None of ten questions was refused.")


def spent(client: httpx.Client) -> float:
    return value(scraped(client), "knowlex_daily_tokens_spent")


def counted_by(provider: Provider) -> int:
    """What the provider has said of its calls."""
    words = sum(len(text.split()) * times for text, times in provider.asked().items())
    return words + CHAT_USAGE["total_tokens"] * len(provider.calls("chat"))


def test_over_the_ceiling_every_face_refuses_in_its_own_words(caller: httpx.Client, provider: Provider):
    refused = ask_until_refused(caller)

    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0) + timedelta(days=1)
    left_s = (midnight - datetime.now(UTC)).total_seconds()
    asked = len(provider.calls("chat"))
    assert asked >= 1
    assert abs(int(refused.headers["Retry-After"]) - left_s) < 60
    for path in FACES:
        for headers in ({}, STREAMED):
            reply = caller.post(path, json={"query": "Who lit it?"}, headers=headers)
            body = reply.json()
            assert (reply.status_code, body["error"]) == (429, "RATE_LIMITED"), path
            assert body["message"] == "The day's tokens are spent, ask again after midnight UTC."
            assert "Retry-After" in reply.headers
    assert len(provider.calls("chat")) == asked, "no model is called for those"


def test_what_calls_no_chat_model_is_still_answered(caller: httpx.Client):
    assert wait_until(lambda: platform(caller, "How tall is it?").json().get("cached"), what="the cache")
    ask_until_refused(caller)

    assert platform(caller, "How tall is it?").json()["cached"]
    found = caller.post("/v1/search", json={"query": "Who lit the tower?", "settings": {"rewrite": True}})
    assert found.status_code == 200, found.text
    health = caller.get("/health").json()
    assert (health["status"], health["daily_tokens"]) == ("degraded", "spent")


def test_what_is_counted_is_what_the_servers_say(caller: httpx.Client, provider: Provider):
    provider.rule("unstreamed", on="chat")  # whole replies are read to their end, where the count stands

    ask_until_refused(caller)

    assert value(scraped(caller), "knowlex_daily_tokens_ceiling") == CEILING
    assert spent(caller) == counted_by(provider) >= CEILING


def test_where_a_server_says_nothing_tokens_are_estimated(caller: httpx.Client, provider: Provider):
    provider.rule("uncounted", on="chat")

    assert platform(caller).status_code == 200

    (call,) = provider.calls("chat")
    assert spent(caller) > len(call.prompt.text) / 4


def test_a_keys_ceiling_is_its_own(spending: Stack, caller: httpx.Client):
    with as_key(spending, make_key(spending, daily_tokens=20)) as poor:
        refused = ask_until_refused(poor)

    assert (refused.status_code, refused.json()["error"]) == (429, "RATE_LIMITED")
    assert refused.json()["message"].startswith("This API key's 20 tokens a day are spent")
    assert platform(caller, "Does another key go on?").status_code == 200
    assert caller.get("/health").json()["daily_tokens"] == "left"


def test_chunks_of_a_paid_embedder_wait_for_the_next_day(
    spending: Stack, caller: httpx.Client, provider: Provider
):
    ingested(caller, text(" ".join(f"word{n}" for n in range(CEILING)), "long.md"))
    wait_until(lambda: caller.get("/health").json()["daily_tokens"] == "spent", what="the tokens to be spent")
    provider.forget_log()
    stopped = spending.log("worker").count(STOPPED)

    job = accepted(caller, text("A chunk that waits.", "late.md"))["job_id"]
    wait_until(lambda: spending.log("worker").count(STOPPED) > stopped, what="the worker to stop")
    assert wait_until(lambda: spending.count("embeddings_embeddingrequest"), what="the chunk to be asked for")
    assert spending.count("embeddings_embeddingrequest", "failed_at IS NOT NULL") == 0
    assert not provider.calls("embeddings")

    forget_spent(spending)

    (late,) = ended(caller, job)["documents"]
    assert late["status"] == "completed", late


def test_without_valkey_nothing_is_refused(spending: Stack, caller: httpx.Client):
    ask_until_refused(caller)
    spending.stop_broker()
    try:
        assert platform(caller, "Who counts now?").status_code == 200
    finally:
        spending.start_broker()
