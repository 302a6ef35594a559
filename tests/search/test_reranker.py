"""A reranker's server behind the API: its order is the answer's, and without it everything goes on."""

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from rag.local_models import FAILURES
from tests.provider import Provider
from tests.search.conftest import BREAD, HASHING, TEA, post
from tests.support.api import embed, ingest, query
from tests.support.stack import Stack
from tests.support.texts import markdown
from tests.support.waiting import wait_until

QUESTION = "How long does a loaf bake?"


@pytest.fixture
def reranked(server: Stack, provider: Provider) -> Iterator[httpx.Client]:
    """Of a web server that has a reranker, beside one that has none."""
    ingest(server.client, markdown("Notes", [("Bread", BREAD), ("Tea", TEA), ("Ring", HASHING)]), "notes.md")
    embed(server.client)
    env = {
        "KNOWLEX_RERANKER": "http",
        "KNOWLEX_RERANKER_URL": provider.url,
        "KNOWLEX_RERANKER_TIMEOUT_SECONDS": "0.5",
        "KNOWLEX_RELEVANCE_THRESHOLD": "0.5",
    }
    with server.another_web(**env) as client:
        yield client


def found(client: httpx.Client) -> dict[str, Any]:
    reply = post(client, QUESTION)
    assert reply.status_code == 200
    body: dict[str, Any] = reply.json()
    return body


def by_letter_e(texts: list[str]) -> list[str]:
    """As the provider ranks."""
    return sorted(texts, key=lambda text: -text.count("e") / len(text))


def test_a_server_ranks_what_is_found_and_is_off_while_it_is_slow(reranked: httpx.Client, provider: Provider):
    body = wait_until(lambda: (body := found(reranked))["reranker"] == "http" and body, what="its order")
    texts = [result["content"] for result in body["results"]]
    assert texts == by_letter_e(texts)
    assert body["results"][0]["score"] == body["results"][0]["rerank_score"]
    assert reranked.get("/health").json()["reranker"] == "connected"

    provider.hold(on="rerank")
    asked = len(provider.calls("rerank"))
    for _ in range(FAILURES + 1):
        started = time.monotonic()
        assert found(reranked)["reranker"] == "sentence"
        assert time.monotonic() - started < 10
    assert len(provider.calls("rerank")) == asked + FAILURES
    assert "forty minutes" in query(reranked, QUESTION).json()["answer"]

    health = wait_until(
        lambda: next((h for h in [reranked.get("/health").json()] if h["reranker"] == "resting"), None),
        what="/health to tell that the reranker rests",
    )
    assert health["status"] == "degraded"
    provider.release()
