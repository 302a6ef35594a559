"""The same question asked again, over HTTP: answered from the cache as long as nothing has changed."""

from typing import Any

import httpx
import pytest

from tests.caching.valkey import paused
from tests.platform import talk
from tests.provider import Provider
from tests.support import api
from tests.support.stack import Stack
from tests.support.waiting import wait_until

RING = "Consistent hashing places the nodes on a ring. A key belongs to the first node that follows it."
TEA = "Green tea steeps for two minutes. Boiling water makes it bitter."
QUESTION = "Where does consistent hashing place the nodes?"


def ask(client: httpx.Client, query: str = QUESTION, **how: Any) -> dict[str, Any]:
    headers = how.pop("headers", {})
    reply = client.post("/v1/query", json={"query": query, **how}, headers=headers)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def ask_until_kept(client: httpx.Client, query: str = QUESTION, **how: Any) -> dict[str, Any]:
    """The stored answer; it is stored after the answer was sent."""

    def asked() -> dict[str, Any]:
        body = ask(client, query, **how)
        return body if body["cached"] else {}

    return wait_until(asked, what="a stored answer")


@pytest.fixture
def client(provider_server: Stack) -> httpx.Client:
    return provider_server.client


@pytest.fixture
def document(client: httpx.Client) -> str:
    return talk.stored(client, talk.text(RING, "ring.txt"))


def test_a_question_that_was_answered_is_answered_at_once(
    client: httpx.Client, document: str, provider: Provider
):
    first = ask(client)
    assert first["answer"]
    assert not first["cached"]
    ask_until_kept(client)
    provider.forget_log()
    again = ask(client)
    assert again["cached"]
    assert provider.calls() == []
    same = ("answer", "sources", "citations")
    assert {name: again[name] for name in same} == {name: first[name] for name in same}
    assert again["usage"] == first["usage"] | {"stage_times_ms": again["stage_times_ms"]}
    assert again["query_id"] != first["query_id"]


def test_every_face_says_whether_it_was_stored(client: httpx.Client, document: str):
    for post in (api.ask, api.query):
        plain = post(client, QUESTION).json()
        assert not plain["metadata"]["cached"]
        stored = wait_until(
            lambda post=post: (body := post(client, QUESTION).json())["metadata"]["cached"] and body,
            what="a stored answer",
        )
        assert stored["answer"] == plain["answer"]


@pytest.mark.parametrize("directive", ["no-cache", "no-store", "max-age=0", "Max-Age=0, No-Cache"])
def test_no_cache_goes_past_it(client: httpx.Client, document: str, provider: Provider, directive: str):
    ask_until_kept(client)
    provider.forget_log()
    assert not ask(client, headers={"Cache-Control": directive})["cached"]
    assert len(provider.calls("chat")) == 1


def test_a_change_ends_it(client: httpx.Client, document: str):
    ask_until_kept(client)
    talk.stored(client, talk.text(TEA, "tea.txt"))
    assert not ask(client)["cached"]


def test_a_change_elsewhere_does_not(client: httpx.Client, document: str):
    other = talk.collection(client, "Other")
    ask_until_kept(client, collections=["default"])
    talk.stored(client, talk.text(TEA, "tea.txt"), to=other)
    assert ask(client, collections=["default"])["cached"]
    assert not ask(client)["cached"]


def test_a_deleted_document_answers_nothing_any_more(client: httpx.Client, document: str):
    talk.stored(client, talk.text(TEA, "tea.txt"))
    kept = ask_until_kept(client)
    assert document in {source["document_id"] for source in kept["sources"]}
    assert client.delete(f"/v1/documents/{document}").status_code == 200
    replies = [ask(client) for _ in range(3)]
    assert not replies[0]["cached"]
    assert all(document not in {source["document_id"] for source in body["sources"]} for body in replies)


def test_a_question_is_embedded_once(client: httpx.Client, document: str, provider: Provider):
    question = "Which node follows a key on the ring?"
    for _ in range(3):
        client.post("/v1/search", json={"query": question})
        ask(client, question, headers={"Cache-Control": "no-cache"})
    assert provider.asked()[question] == 1
    for _ in range(3):
        api.search(client, question)
    assert provider.asked()[question] == 2


def test_a_failure_is_not_kept(client: httpx.Client, document: str, provider: Provider):
    question = "Where are the nodes of consistent hashing?"
    provider.rule("status", on="chat", status=400, times=1)
    assert client.post("/v1/query", json={"query": question}).status_code == 503
    assert not ask(client, question)["cached"]


def test_with_a_valkey_that_hangs_questions_are_answered(
    provider_server: Stack, client: httpx.Client, document: str
):
    with paused(provider_server.env["REDIS_URL"]):
        for _ in range(3):
            body = ask(client)
            assert body["answer"]
            assert not body["cached"]
            assert body["latency_ms"] < 3000
