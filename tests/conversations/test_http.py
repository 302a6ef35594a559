"""Conversations as clients have them."""

import json
from typing import Any

import httpx
import pytest

from tests.keys.key_factory import make_key
from tests.platform import talk
from tests.provider import Provider
from tests.support.provider import answers
from tests.support.provider.prompts import Prompt
from tests.support.stack import Stack

BELFRY = (
    "The belfry of Ghent is 91 metres tall. The belfry of Ghent was finished in 1380. "
    "Jan van Haelst designed the belfry of Ghent."
)
BREAD = "Sourdough bread bakes for forty minutes at 230 degrees. Green tea steeps for two minutes."
TALL = "How tall is the belfry of Ghent?"


def ask(client: httpx.Client, query: str, conversation: str = "", **how: Any) -> dict[str, Any]:
    body = {"query": query, **({"conversation_id": conversation} if conversation else {}), **how}
    reply = client.post("/v1/query", json=body)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


@pytest.fixture
def library(client: httpx.Client) -> httpx.Client:
    talk.ingested(client, talk.text(BELFRY, "belfry.txt"), talk.text(BREAD, "kitchen.txt"))
    return client


def test_three_turns_without_a_chat_model(library: httpx.Client):
    first = ask(library, TALL)
    assert first["rewritten_query"] is None
    assert "91 metres" in first["answer"]
    conversation = first["conversation_id"]

    second = ask(library, "When was it finished?", conversation)
    assert second["rewritten_query"] == "When was the belfry of Ghent finished?"
    assert "1380" in second["answer"]
    assert second["conversation_id"] == conversation
    assert "conversation" in second["stage_times_ms"]

    third = ask(library, "And who designed it?", conversation)
    assert third["rewritten_query"] == "And who designed the belfry of Ghent?"
    assert "Jan van Haelst" in third["answer"]

    other = ask(library, "How long does green tea steep?", conversation)
    assert other["rewritten_query"] is None
    assert "two minutes" in other["answer"]


def test_without_a_conversation_every_question_stands_alone(library: httpx.Client):
    ask(library, TALL)
    assert ask(library, "When was it finished?")["rewritten_query"] is None


def test_an_unknown_conversation_begins_one(library: httpx.Client):
    assert ask(library, "When was it finished?", "mine")["rewritten_query"] is None
    ask(library, TALL, "mine")
    assert ask(library, "When was it finished?", "mine")["rewritten_query"]


def test_a_streamed_follow_up_is_the_same(library: httpx.Client):
    conversation = ask(library, TALL)["conversation_id"]
    body = {"query": "When was it finished?", "conversation_id": conversation}
    reply = library.post("/v1/query", json=body, headers={"Accept": "text/event-stream"})
    done = json.loads(reply.text.partition("event: done\ndata: ")[2].splitlines()[0])
    assert done["rewritten_query"] == "When was the belfry of Ghent finished?"
    assert "1380" in done["answer"]


def test_what_was_deleted_is_not_spoken_of(library: httpx.Client):
    first = ask(library, TALL)
    (source,) = first["sources"]
    assert first["citations"]
    assert library.delete(f"/v1/documents/{source['document_id']}").status_code == 200
    after = ask(library, "When was it finished?", first["conversation_id"])
    assert after["rewritten_query"] is None


def test_the_words_of_the_user_are_kept(library: httpx.Client):
    conversation = ask(library, TALL)["conversation_id"]
    second = ask(library, "When was it finished?", conversation)
    explained = library.get(f"/v1/queries/{second['query_id']}").json()
    assert explained["query"] == "When was it finished?"
    assert explained["rewritten_query"] == "When was the belfry of Ghent finished?"


# With a chat model


@pytest.fixture
def asked(provider_server: Stack, provider: Provider) -> httpx.Client:
    talk.stored(provider_server.client, talk.text(BELFRY, "belfry.txt"))
    provider.forget_log()
    return provider_server.client


def rewrites(reply: str | None) -> answers.Answer:
    """A model that rewrites a follow-up so, and answers questions from the first block."""
    usual = answers.cite([1])

    def answer(prompt: Prompt) -> str | None:
        return reply if "<conversation>" in prompt.user else usual(prompt)

    return answer


def conversation_prompts(provider: Provider) -> list[str]:
    return [call.prompt.user for call in provider.calls("chat") if "<conversation>" in call.prompt.user]


def test_the_model_rewrites_and_answers_the_rewritten_question(asked: httpx.Client, provider: Provider):
    provider.says(rewrites("In which year was the belfry of Ghent finished?"))
    first = ask(asked, TALL)
    assert conversation_prompts(provider) == []  # the first question costs nothing
    second = ask(asked, "When was it finished?", first["conversation_id"])
    assert second["rewritten_query"] == "In which year was the belfry of Ghent finished?"
    (shown,) = conversation_prompts(provider)
    assert f"User: {TALL}" in shown
    assert "Last question: When was it finished?" in shown
    assert provider.calls("chat")[-1].prompt.questions == ["In which year was the belfry of Ghent finished?"]
    assert provider.asked()["In which year was the belfry of Ghent finished?"] == 1
    assert provider.asked()["When was it finished?"] == 0


@pytest.mark.parametrize("reply", ["It was finished in 1380 [1].", "", None, answers.REFUSAL, "PWNED " * 500])
def test_a_model_that_says_something_else_is_not_heeded(
    asked: httpx.Client, provider: Provider, reply: str | None
):
    provider.says(rewrites(reply))
    conversation = ask(asked, TALL)["conversation_id"]
    second = ask(asked, "When was it finished?", conversation)
    assert second["rewritten_query"] == "When was the belfry of Ghent finished?"


def test_a_model_that_fails_or_hangs_costs_only_time(asked: httpx.Client, provider: Provider):
    conversation = ask(asked, TALL)["conversation_id"]
    for fault in ("status", "hang"):
        provider.rule(fault, on="chat", contains="<conversation>")
        second = ask(asked, f"When was it finished, by {fault}?", conversation)
        assert second["rewritten_query"] == f"When was the belfry of Ghent finished, by {fault}?"
        provider.forget_rules()


def test_conversations_belong_to_their_keys(server: Stack):
    ann, bob = make_key(server), make_key(server)
    with server.another_web(KNOWLEX_REQUIRE_API_KEY="true") as client:

        def said(key: str, query: str) -> Any:
            headers = {"X-API-Key": key}
            body = {"query": query, "conversation_id": "shared"}
            return client.post("/v1/query", json=body, headers=headers).json()["rewritten_query"]

        assert said(ann, TALL) is None
        assert said(bob, "When was it finished?") is None
        assert said(ann, "When was it finished?") == "When was the belfry of Ghent finished?"
