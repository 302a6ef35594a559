"""The broker is only a hint: it may be down, hang or forget everything."""

import time

import httpx
import pytest

from tests.faults.conftest import Background
from tests.provider import Provider
from tests.support.api import assert_problem, embed, generate, ingest, upload
from tests.support.invariants import (
    assert_asked_once,
    assert_documents_whole,
    assert_embedded_once,
    assert_own_vectors,
    wait_embedded,
)
from tests.support.stack import Stack
from tests.support.texts import facts_pdf


def assert_quick_refusal_or_done(stack: Stack, reply: httpx.Response, took_s: float, chunks: int) -> None:
    assert took_s < 5
    if reply.status_code == 200:
        assert stack.count("embeddings_embedding") == chunks
    else:
        assert_problem(reply, 503, "SERVICE_UNAVAILABLE")


def test_f9_generate_without_broker_is_503_within_5_s_and_works_again_with_it(
    provider_server: Stack, provider: Provider, two_batches: int
):
    provider_server.stop_broker()
    started = time.monotonic()
    reply = generate(provider_server.client)
    assert_quick_refusal_or_done(provider_server, reply, time.monotonic() - started, two_batches)
    provider_server.start_broker()
    generate(provider_server.client)
    wait_embedded(provider_server)
    assert_own_vectors(provider_server)
    assert_asked_once(provider_server, provider)


def test_f8_documents_and_answers_need_no_broker(provider_server: Stack, provider: Provider):
    client = provider_server.client
    ingest(client, facts_pdf(10))
    embed(client)
    provider_server.stop_broker()
    started = time.monotonic()
    assert upload(client, facts_pdf(10, first=50)).status_code == 201
    assert client.post("/query", json={"query": "lighthouse harbour"}).status_code == 200
    assert client.get("/health").json()["status"] == "degraded"
    assert time.monotonic() - started < 10
    assert_documents_whole(provider_server)


def test_f10_a_broker_that_hangs_delays_nobody_for_5_s(
    provider_server: Stack, provider: Provider, two_batches: int
):
    broker = provider_server.broker_process
    broker.suspend()
    try:
        started = time.monotonic()
        reply = generate(provider_server.client)
        assert_quick_refusal_or_done(provider_server, reply, time.monotonic() - started, two_batches)
        started = time.monotonic()
        assert provider_server.client.get("/api/v1/documents").status_code == 200
        assert provider_server.client.get("/health").status_code == 200
        assert time.monotonic() - started < 5
    finally:
        broker.resume()
    generate(provider_server.client)
    wait_embedded(provider_server)
    assert_asked_once(provider_server, provider)


def test_f11_a_broker_that_forgets_its_queue_loses_no_work(
    provider_server: Stack, provider: Provider, background: Background, many_batches: int
):
    provider.hold(on="embeddings")
    call = background(generate, provider_server.client)
    provider.wait_held(count=4)
    provider_server.stop_broker(kill=True, forget=True)
    provider_server.start_broker()
    provider.release()
    wait_embedded(provider_server, 90)
    assert call.result(60).status_code == 200
    assert_embedded_once(provider_server)
    assert_own_vectors(provider_server)
    assert_asked_once(provider_server, provider, beyond=80)


@pytest.mark.slow
def test_f12_a_worker_survives_five_restarts_of_the_broker(
    provider_server: Stack, provider: Provider, two_batches: int
):
    for _ in range(5):
        provider_server.stop_broker(kill=True)
        provider_server.start_broker()
    generate(provider_server.client)
    wait_embedded(provider_server, 60)
    assert_own_vectors(provider_server)
