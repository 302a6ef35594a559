"""The store outside PostgreSQL, or a worker, goes away in the middle: nothing is lost, and all is told."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.outbox.looking import Chroma, active_model, chunk_ids, compared, status
from tests.platform.talk import accepted, ended, text
from tests.provider import Provider
from tests.support.api import assert_problem, embed, generate, ingest
from tests.support.invariants import assert_embedded_once, assert_own_vectors, assert_settled
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf
from tests.support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("running")


@pytest.fixture
def running(chroma: Chroma) -> Iterator[None]:
    yield
    chroma.ensure_running()


def all_there(stack: Stack, chroma: Chroma) -> bool:
    return set(chroma.points(active_model(stack))) == chunk_ids(stack) != set()


def test_with_the_store_killed_vectors_are_safe_and_follow_by_themselves(outside: Stack, chroma: Chroma):
    first = ingest(outside.client, facts_pdf(20))
    embed(outside.client)
    chroma.kill()
    second = ingest(outside.client, facts_pdf(60, first=100))
    began = time.monotonic()
    body = assert_problem(generate(outside.client), 503, "SERVICE_UNAVAILABLE")
    assert time.monotonic() - began < 20
    assert "vectors of all chunks are stored" in body["message"]
    assert f"{second['totalChunks']} of them not yet in the vector store" in body["message"]
    assert_embedded_once(outside)
    assert (status(outside, first["documentId"]), status(outside, second["documentId"])) == (
        "completed",
        "processing",
    )
    job = accepted(outside.client, text(fact(500)))["job_id"]
    assert outside.client.delete(f"/api/v1/documents/{first['documentId']}").status_code == 204
    code, told = compared(outside)
    assert (code, "could not be reached" in told["error"]) == (1, True)

    chroma.start()
    assert ended(outside.client, job)["status"] == "completed"
    wait_until(lambda: all_there(outside, chroma), 60, "all vectors to reach the store")
    wait_until(lambda: status(outside, second["documentId"]) == "completed", 30, "the status")
    assert embed(outside.client) == 0
    assert_settled(outside)
    assert_own_vectors(outside)
    assert compared(outside)[0] == 0


@pytest.mark.slow
def test_a_store_that_hangs_holds_up_neither_embedding_nor_the_answer_of_generate(
    outside: Stack, chroma: Chroma
):
    ingest(outside.client, facts_pdf(60))
    chroma.pause(on=True)
    try:
        began = time.monotonic()
        assert_problem(generate(outside.client), 503, "SERVICE_UNAVAILABLE")
        assert time.monotonic() - began < 30
        assert_embedded_once(outside)
    finally:
        chroma.pause(on=False)
    wait_until(lambda: all_there(outside, chroma), 90, "all vectors to reach the store")


@pytest.mark.slow
def test_a_worker_killed_while_it_ships_leaves_nothing_behind(
    outside: Stack, chroma: Chroma, provider: Provider
):
    ingest(outside.client, facts_pdf(60))
    chroma.pause(on=True)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(generate, outside.client)
        leased = "lease IS NOT NULL"
        wait_until(lambda: outside.count("embeddings_outboxentry", leased), 20, "a worker that ships")
        outside.kill_worker()
        chroma.pause(on=False)
        outside.start_worker()
        assert answer.result(90).status_code in (200, 503)
    wait_until(lambda: all_there(outside, chroma), 60, "all vectors to reach the store")
    wait_until(lambda: not outside.count("embeddings_outboxentry"), 60, "the outbox to be empty")
    assert_own_vectors(outside)
    assert outside.count("documents_document", "status <> 'completed'") == 0
