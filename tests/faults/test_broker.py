"""The broker is only a hint: it may be down, hang or forget everything."""

import time
from threading import Event

import httpx
import pytest

from tests.faults.conftest import Background
from tests.provider import Provider
from tests.support import processes
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
from tests.support.waiting import wait_until


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
def test_f12_a_worker_survives_restarts_of_the_broker_under_load(
    provider_server: Stack, provider: Provider, background: Background
):
    """Each strikes while tasks run, which are acknowledged on a connection that is gone."""
    provider.takes(0.1)
    worker, stop = provider_server.worker, Event()
    calls = [
        background(upload_until, stop, provider_server.client, first) for first in (0, 1_000_000, 2_000_000)
    ]
    try:
        for number in range(20):
            asked = len(provider.calls("embeddings"))
            wait_until(
                lambda asked=asked: len(provider.calls("embeddings")) > asked + 3, what="work to go on"
            )
            provider_server.stop_broker(kill=number % 2 == 0)
            provider_server.start_broker()
    finally:
        stop.set()
    uploads = sum(call.result(60) for call in calls)

    assert generate(provider_server.client).status_code == 200
    wait_embedded(provider_server, 90)
    assert provider_server.worker is worker
    assert processes.runs(worker)
    assert provider_server.count("documents_document") == uploads > 3
    assert_own_vectors(provider_server)


def upload_until(stop: Event, client: httpx.Client, first: int) -> int:
    """Upload new documents and ask for their vectors until told; return how many documents were taken."""
    taken = 0
    while not stop.is_set():
        assert upload(client, facts_pdf(60, first=first + 100 * taken)).status_code == 201
        taken += 1
        assert generate(client).status_code in (200, 503)
    return taken
