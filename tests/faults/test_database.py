"""PostgreSQL restarted, killed and gone, in the middle of everything. On a cluster of its own."""

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import wait

import httpx
import pytest

from tests.conftest import provider_env
from tests.faults.conftest import Background
from tests.provider import Provider
from tests.support.api import ask, assert_problem, embed, generate, ingest, query, together, upload
from tests.support.invariants import (
    assert_asked_once,
    assert_documents_whole,
    assert_embedded_once,
    assert_own_vectors,
    wait_embedded,
)
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.texts import facts_pdf, question
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def stack(make_stack: Callable[..., Stack], cluster: Postgres, provider: Provider) -> Stack:
    return make_stack(cluster=cluster, workers=4, **provider_env(provider))


def answers_again(stack: Stack, within_s: float = 15.0) -> None:
    wait_until(lambda: stack.client.get("/api/v1/documents").status_code == 200, within_s, "an answer")


def test_f13_a_crash_during_an_upload_keeps_it_whole_or_not_at_all(stack: Stack, background: Background):
    for number in range(4):
        call = background(upload, stack.client, facts_pdf(400, first=1000 * number))
        strike_after_s = 0.1 * number  # at another point each time
        wait([call], timeout=strike_after_s)
        stack.postgres.restart(crash=True)
        reply = call.result(60)
        assert reply.status_code in (201, 503), reply.text
        answers_again(stack)
        stored = stack.count("documents_document", "true")
        assert stored == len(stack.client.get("/api/v1/documents").json())
    assert ingest(stack.client, facts_pdf(3, first=9000))
    assert stack.client.get("/health").json()["status"] == "healthy"


def test_f16_one_backend_killed_is_survived_by_the_next_request(stack: Stack):
    ingest(stack.client, facts_pdf(10))
    embed(stack.client)
    backend = stack.sql(
        "SELECT pid FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()", stack.database
    )[0]["pid"]
    os.kill(backend, signal.SIGKILL)
    answers_again(stack)
    assert query(stack.client, question(1)).status_code == 200


def test_f14_a_crash_during_embedding_loses_nothing(stack: Stack, provider: Provider, background: Background):
    chunks = ingest(stack.client, facts_pdf(400))["totalChunks"]
    provider.hold(on="embeddings")
    call = background(generate, stack.client)
    provider.wait_held(count=4)
    stack.postgres.restart(crash=True)
    provider.release()
    wait_embedded(stack, 60)
    assert call.result(60).status_code in (200, 503)
    assert stack.count("embeddings_embedding") == chunks
    assert_documents_whole(stack)
    assert_embedded_once(stack)
    assert_own_vectors(stack)
    assert_asked_once(stack, provider, beyond=80)


def test_f15_without_database_everybody_is_told_within_5_s_and_served_again_after(stack: Stack):
    ingest(stack.client, facts_pdf(10))
    embed(stack.client)
    before = stack.sql("SELECT count(*) AS n FROM pg_stat_activity WHERE datname = %s", stack.database)[0][
        "n"
    ]
    clients = [httpx.Client(base_url=stack.url, timeout=30) for _ in range(20)]
    stack.postgres.stop(crash=True)
    try:
        started = time.monotonic()
        replies = together([lambda c=c: c.get("/api/v1/documents") for c in clients[:10]])
        replies += together([lambda c=c: query(c, question(1)) for c in clients[10:]])
        assert time.monotonic() - started < 15
        for reply in replies[:10]:
            assert_problem(reply, 503, "SERVICE_UNAVAILABLE")
        for reply in replies[10:]:
            assert_problem(reply, 503, "RETRIEVAL_FAILED")
        assert_problem(ask(clients[0], question(1)), 503)
        assert_problem(upload(clients[0], facts_pdf(2, first=50)), 503)
        health = clients[0].get("/health")
        assert (health.status_code, health.json()["status"]) == (503, "unhealthy")
    finally:
        stack.postgres.start()
    answers_again(stack)
    assert query(stack.client, question(1)).status_code == 200
    ingest(stack.client, facts_pdf(10, first=200))
    assert embed(stack.client) > 0
    after = stack.sql("SELECT count(*) AS n FROM pg_stat_activity WHERE datname = %s", stack.database)[0]["n"]
    assert after <= before + 5
    assert_documents_whole(stack)


def test_a_database_that_hangs_is_told_within_5_s_and_used_again_after(stack: Stack):
    """Its connections stay open and nothing answers: libpq alone would wait for ever, in a thread each."""
    ingest(stack.client, facts_pdf(10))
    embed(stack.client)
    clients = [httpx.Client(base_url=stack.url, timeout=30) for _ in range(10)]
    together([lambda c=c: c.get("/api/v1/documents") for c in clients])
    with stack.postgres.hanging():
        started = time.monotonic()
        replies = together([lambda c=c: c.get("/api/v1/documents") for c in clients[:5]])
        replies += together([lambda c=c: query(c, question(1)) for c in clients[5:]])
        assert time.monotonic() - started < 15
    for reply in replies[:5]:
        assert_problem(reply, 503, "SERVICE_UNAVAILABLE")
    for reply in replies[5:]:
        assert_problem(reply, 503, "RETRIEVAL_FAILED")
    answers_again(stack)
    assert query(stack.client, question(1)).status_code == 200
