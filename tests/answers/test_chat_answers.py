"""Answers of a chat model over HTTP: claims by a schema, markers asked for, what the model is shown.

The wire to the model is the only fake.
"""

import json
from typing import Any

import httpx
import pytest

from rag.prompts import CITE_AGAIN, NOT_FOUND
from tests.answers.asking import QUESTION, Library, block_with, make_library, platform, streamed, text_of
from tests.conftest import MakeStack, provider_env
from tests.provider import Provider
from tests.support.api import embed, ingest
from tests.support.pdf import make_pdf
from tests.support.provider.prompts import Prompt
from tests.support.stack import Stack

TALL = "The lighthouse of Norderney is 54 metres tall"


@pytest.fixture(scope="module")
def _claiming(make_module_stack: MakeStack, _provider: Provider) -> Stack:
    env = {
        **provider_env(_provider),
        "KNOWLEX_EMBEDDER": "local",
        "KNOWLEX_STRUCTURED_CLAIMS": "auto",
        "KNOWLEX_RELEVANCE_THRESHOLD": "0.8",
    }
    return make_module_stack(workers=1, **env)


@pytest.fixture
def claiming(_claiming: Stack, provider: Provider) -> Library:
    """Claims by a schema, a threshold, and the local embedding model."""
    _claiming.ensure_running()
    _claiming.clean()
    return make_library(_claiming, provider)


def marked(prompt: Prompt) -> str:
    return f"{TALL} [{block_with(prompt, TALL)}]."


def in_claims(prompt: Prompt) -> str:
    source = {"block": block_with(prompt, TALL), "quote": TALL}
    return json.dumps({"claims": [{"text": f"{TALL}.", "sources": [source]}]})


def unmarked_at_first(prompt: Prompt) -> str:
    return marked(prompt) if prompt.later else f"{TALL}."


def answers(client: httpx.Client, query: str = QUESTION) -> tuple[dict[str, Any], dict[str, Any], str]:
    """The body; the `done` of the stream; the text that was streamed."""
    body = platform(client, query).json()
    events = streamed(client, "/v1/query", query=query)
    return body, events[-1][1], text_of(events)


def prompt_of(library: Library, path: str, **fields: Any) -> Prompt:
    """What the model is asked for this request."""
    library.provider.forget_log()
    reply = library.client.post(path, json=fields)
    assert reply.status_code == 200, reply.text
    return library.provider.calls("chat")[0].prompt


def test_claims_come_by_a_schema(claiming: Library) -> None:
    provider = claiming.provider
    provider.says(in_claims)
    provider.speaks_in(7, 0.001)
    body, done, text = answers(claiming.client)
    assert body["answer"] == done["answer"] == text == f"{TALL} [1]."
    assert body["citations"][0]["quoted_text"].startswith(TALL)
    assert all("response_format" in call.body for call in provider.calls("chat"))

    provider.forget_log()
    provider.rule("status", status=400, message="no such field", holding="response_format")
    provider.says(marked)
    body, done, text = answers(claiming.client, "What is the height of the lighthouse of Norderney?")
    assert body["answer"] == done["answer"] == text == f"{TALL} [1]."
    asked = ["response_format" in call.body for call in provider.calls("chat")]
    assert asked == [True, False, False]  # by the schema once, and plainly for a while


def test_a_comparison_is_shown_both_things(claiming: Library) -> None:
    query = "Which is taller, the lighthouse of Norderney or the lighthouse of Borkum?"
    shown = " ".join(prompt_of(claiming, "/v1/query", query=query, settings={"top_k": 2}).blocks.values())
    assert "Norderney is 54 metres" in shown
    assert "Borkum is 60 metres" in shown


LEAVE = "All team members have 38 days of leave available between June and May"
IN_OTHER_WORDS = "how long may I be absent each year"


def test_a_model_that_can_decline_is_asked_what_the_threshold_doubts(claiming: Library) -> None:
    text = f"# Taking Holiday\n\nWe trust you to find the time. {LEAVE}, public holidays included.\n"
    ingest(claiming.client, text.encode(), "holiday.md")
    embed(claiming.client)
    found = claiming.client.post("/v1/search", json={"query": IN_OTHER_WORDS}).json()["results"]
    assert 0.05 < found[0]["relevance"] < 0.8
    fields = {"query": IN_OTHER_WORDS, "explain": found[0]["chunk_id"]}
    explained = claiming.client.post("/v1/search", json=fields).json()["explanation"]
    assert (explained["stages"][-1]["stage"], explained["stages"][-1]["kept"]) == ("relevance", True)

    claiming.provider.says(lambda prompt: f"38 days [{block_with(prompt, LEAVE)}].")
    asked = platform(claiming.client, IN_OTHER_WORDS).json()
    assert (asked["reason"], asked["answer"]) == (None, "38 days [1].")
    held = claiming.client.post("/query", json={"query": IN_OTHER_WORDS}).json()
    assert held["metadata"]["answerSynthesized"] is False

    claiming.provider.says(lambda prompt: NOT_FOUND)
    declined = platform(claiming.client, f"{IN_OTHER_WORDS} at most").json()
    assert declined["reason"] == "model_declined"


def test_only_the_query_api_holds_each_passage_to_the_threshold(claiming: Library) -> None:
    """The chat model of other faces is shown what is less relevant, too."""
    for path, field, wide in (
        ("/query", "query", False),
        ("/query", "question", True),
        ("/v1/query", "query", True),
    ):
        shown = " ".join(prompt_of(claiming, path, **{field: QUESTION}).blocks.values())
        assert "Norderney is 54 metres" in shown
        assert ("Borkum is 60 metres" in shown) is wide


def test_a_reply_without_markers_is_asked_for_them(library: Library) -> None:
    library.provider.says(unmarked_at_first)
    body, done, _ = answers(library.client)
    assert body["answer"] == done["answer"] == f"{TALL} [1]."
    calls = library.provider.calls("chat")
    assert [call.prompt.later for call in calls] == [(), (f"{TALL}.", CITE_AGAIN)] * 2
    assert (body["usage"]["input_tokens"], body["usage"]["output_tokens"]) == (20, 10)


def test_a_model_that_says_nothing_has_declined(library: Library) -> None:
    library.provider.says("")
    body = platform(library.client).json()
    assert (body["reason"], body["sources"]) == ("model_declined", [])


def test_a_summary_is_made_of_passages_from_all_of_the_document(library: Library) -> None:
    pages = [f"Page {n} begins. " + f"Word{n} " * 100 for n in range(12)]
    ingest(library.client, make_pdf(*pages), "harbours.pdf")
    embed(library.client)
    prompt = prompt_of(library, "/v1/query", query="Summarize harbours.pdf", settings={"top_k": 6})
    assert all("document: harbours.pdf" in place for place in prompt.places.values())
    shown = " ".join(prompt.blocks.values())
    assert "Page 0 begins" in shown
    numbers = {int(place.rpartition("page ")[2].rstrip(")")) for place in prompt.places.values()}
    for third in (range(1, 5), range(5, 9), range(9, 13)):
        assert numbers & set(third)
