"""F54: the network is gone. The web server runs in a network namespace without any route."""

import subprocess
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.provider import Provider
from tests.support.api import ask, assert_problem, embed, generate, ingest, query, search, upload
from tests.support.invariants import assert_documents_whole
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf, question

ALONE = ("unshare", "--net")
DEADLINE_S = 10 + 2


@pytest.fixture
def cut_off(provider_server: Stack) -> Iterator[httpx.Client]:
    """A client of a web server that reaches nobody, not even by loopback; its own socket is from before."""
    if subprocess.run([*ALONE, "true"], capture_output=True).returncode:
        pytest.skip("needs the right to make a network namespace (root with CAP_SYS_ADMIN)")
    with provider_server.another_web(prefix=ALONE) as client:
        yield client


def test_f54_without_a_network_documents_are_served_and_questions_are_refused_in_time(
    provider_server: Stack, provider: Provider, cut_off: httpx.Client
):
    kept = ingest(provider_server.client, facts_pdf(10))["documentId"]
    embed(provider_server.client)
    asked = len(provider.calls())

    new = ingest(cut_off, facts_pdf(2, first=50))["documentId"]
    assert upload(cut_off, facts_pdf(2, first=50)).status_code == 409
    assert {row["id"] for row in cut_off.get("/api/v1/documents").json()} == {kept, new}
    assert cut_off.delete(f"/api/v1/documents/{new}").status_code == 204
    by_words = cut_off.post("/v1/search", json={"query": "lighthouse", "settings": {"mode": "exact"}})
    assert by_words.status_code == 200, by_words.text
    assert by_words.json()["results"]
    for call in (
        lambda: ask(cut_off, question(1)),
        lambda: query(cut_off, question(2)),
        lambda: search(cut_off, fact(3)),
        lambda: cut_off.post("/v1/query", json={"query": question(4), "settings": {"mode": "sparse"}}),
    ):
        started = time.monotonic()
        reply = call()
        problem = assert_problem(reply, reply.status_code)
        assert reply.status_code == 503 or problem["error"] == "RETRIEVAL_FAILED"  # the face's own 500
        assert time.monotonic() - started < DEADLINE_S
    assert len(provider.calls()) == asked
    assert generate(cut_off).status_code == 200  # the broker and the workers are reached by files
    health = cut_off.get("/health").json()
    assert (health["status"], health["database"], health["broker"]) == ("degraded", "connected", "connected")
    assert (health["embedding_model"], health["chat_model"]) == ("not_loaded", "unreachable")
    assert_documents_whole(provider_server)
