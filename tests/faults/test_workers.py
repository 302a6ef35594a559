"""Workers that die, calls that cross, documents that go away in the middle: nothing lost, nothing twice."""

import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.faults.conftest import Background
from tests.provider import Provider
from tests.support import processes
from tests.support.api import assert_problem, embed, embedded_count, generate, ingest, leave, together
from tests.support.invariants import (
    assert_asked_once,
    assert_documents_whole,
    assert_embedded_once,
    assert_own_vectors,
    assert_settled,
    wait_embedded,
)
from tests.support.stack import Stack
from tests.support.texts import facts_pdf
from tests.support.waiting import wait_until

IN_FLIGHT = 4 * 20
FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the clock of the second worker is ahead of the machine's, as libfaketime reads it."""
    file = tmp_path_factory.mktemp("clock") / "offset"
    file.write_text("+0")
    return file


@pytest.fixture(scope="module")
def _second(_provider_stack: Stack, clock: Path) -> Iterator[processes.Process]:
    env = {"KNOWLEX_EMBEDDING_TIMEOUT_SECONDS": "4"}
    if FAKETIME is not None:
        # Nothing that waits for the monotonic clock notices a jump, on a real machine either.
        env |= {"LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(clock)}
        env |= {"FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1"}
    _provider_stack.ensure_running()
    worker = _provider_stack.another_worker(**env)
    yield worker
    processes.terminate(worker)


@pytest.fixture
def second(provider_server: Stack, _second: processes.Process, clock: Path) -> processes.Process:
    """A second worker group, as on another host, whose clock a test may put forward and back."""
    clock.write_text("+0")
    return _second


def end_leases(stack: Stack) -> None:
    """What nobody renews any more is free now, not when the lease's seconds are over."""
    stack.sql("UPDATE embeddings_embeddingrequest SET leased_until = now() WHERE leased_until IS NOT NULL")


def assert_all_well(stack: Stack, provider: Provider, *, beyond: int = 0) -> None:
    assert_documents_whole(stack)
    assert_embedded_once(stack)
    assert_own_vectors(stack)
    assert_settled(stack)
    assert_asked_once(stack, provider, beyond=beyond)


def test_f1_a_killed_child_delays_its_batch_and_nothing_else(
    provider_server: Stack, provider: Provider, background: Background, two_batches: int
):
    provider.hold(on="embeddings")
    call = background(generate, provider_server.client)
    provider.wait_held(count=2)
    busy = provider_server.worker_children()
    busy[0].kill()
    busy[1].kill()
    provider.release()
    assert embedded_count(call.result(60).text) == two_batches
    wait_embedded(provider_server, 30)
    assert_all_well(provider_server, provider, beyond=IN_FLIGHT)


def test_f2_a_killed_worker_group_goes_on_after_its_restart(
    provider_server: Stack, provider: Provider, background: Background, two_batches: int
):
    provider.hold(on="embeddings")
    call = background(generate, provider_server.client)
    provider.wait_held(count=2)
    provider_server.kill_worker()
    provider.release()
    end_leases(provider_server)
    provider_server.start_worker()
    assert embedded_count(call.result(60).text) == two_batches
    assert_all_well(provider_server, provider, beyond=IN_FLIGHT)


@pytest.mark.slow
def test_f2_a_killed_worker_group_goes_on_within_30_s_of_its_restart(
    provider_server: Stack, provider: Provider, background: Background, many_batches: int
):
    provider.hold(on="embeddings")
    call = background(generate, provider_server.client)
    provider.wait_held(count=4)
    provider_server.kill_worker()
    provider.release()
    provider_server.start_worker()
    wait_embedded(provider_server, 30)
    assert embedded_count(call.result(60).text) == many_batches
    assert_all_well(provider_server, provider, beyond=IN_FLIGHT)


@pytest.mark.slow
def test_f3_a_second_worker_takes_over_from_a_dead_one(
    provider_server: Stack, provider: Provider, background: Background, two_batches: int
):
    provider.hold(on="embeddings")
    call = background(generate, provider_server.client)
    provider.wait_held(count=2)
    second = provider_server.another_worker()
    try:
        provider_server.kill_worker()
        provider.release()
        wait_embedded(provider_server, 60)
        assert embedded_count(call.result(60).text) == two_batches
        assert_all_well(provider_server, provider, beyond=IN_FLIGHT)
    finally:
        processes.terminate(second)


@pytest.mark.slow
def test_f4_sigterm_lets_the_running_batches_end_and_nothing_is_done_twice(
    provider_server: Stack, provider: Provider, background: Background, many_batches: int
):
    provider.hold(on="embeddings")
    call = background(generate, provider_server.client)
    provider.wait_held(count=4)
    worker = provider_server.worker
    assert worker is not None
    worker.terminate()
    asked = len(provider.calls("embeddings"))
    provider.release()
    worker.wait(30)
    assert len(provider.calls("embeddings")) <= asked + 4
    assert_embedded_once(provider_server, but=many_batches - provider_server.count("embeddings_embedding"))
    provider_server.start_worker()
    assert embedded_count(call.result(60).text) == many_batches
    assert_all_well(provider_server, provider)


@pytest.mark.slow
def test_f4_sigterm_does_not_wait_for_a_model_that_hangs(
    provider_server: Stack, provider: Provider, background: Background, two_batches: int
):
    provider.hold(on="embeddings")
    call = background(generate, provider_server.client)
    provider.wait_held(count=2)
    worker = provider_server.worker
    assert worker is not None
    worker.terminate()
    try:
        worker.wait(30)
    finally:
        processes.kill_group(worker)
        provider.release()
    provider_server.start_worker()
    assert embedded_count(call.result(60).text) == two_batches
    assert_all_well(provider_server, provider, beyond=IN_FLIGHT)


@pytest.mark.parametrize("calls", [2, 8])
def test_f6_calls_at_once_share_the_work(
    provider_server: Stack, provider: Provider, many_batches: int, calls: int
):
    provider.takes(0.05)
    clients = [httpx.Client(base_url=provider_server.url, timeout=90) for _ in range(calls)]
    counts = together([lambda c=c: embed(c) for c in clients])
    assert sum(counts) == many_batches
    assert max(len(call.texts) for call in provider.calls("embeddings")) == 20
    assert provider.max_concurrent("embeddings") <= 4
    assert_all_well(provider_server, provider)


def test_f7_generate_and_generate_for_one_document_share_the_work(
    provider_server: Stack, provider: Provider, two_batches: int
):
    other = ingest(provider_server.client, facts_pdf(200, first=1000))
    provider.takes(0.05)
    counts = together(
        [
            lambda: embed(provider_server.client),
            lambda: embed(provider_server.client, other["documentId"]),
        ]
    )
    assert sum(counts) == two_batches + other["totalChunks"]
    assert_all_well(provider_server, provider)


def test_f41_a_document_deleted_in_mid_batch_does_not_come_back(
    provider_server: Stack, provider: Provider, background: Background
):
    client = provider_server.client
    logged = len(provider_server.log("worker"))
    gone, kept = ingest(client, facts_pdf(20)), ingest(client, facts_pdf(20, first=500))
    provider.hold(on="embeddings")
    call = background(generate, client)
    provider.wait_held()
    assert client.delete(f"/api/v1/documents/{gone['documentId']}").status_code == 204
    provider.release()
    reply = call.result(60)
    assert reply.status_code == 200
    assert embedded_count(reply.text) == kept["totalChunks"]
    assert_all_well(provider_server, provider)
    assert provider_server.count("documents_document") == 1
    assert "Traceback" not in provider_server.log("worker")[logged:]
    assert_problem(generate(client, gone["documentId"]), 404, "NOT_FOUND")


def test_f18_deletes_and_generates_that_cross_never_fail(provider_server: Stack, provider: Provider):
    client = provider_server.client
    logged = len(provider_server.log("web"))
    ids = [ingest(client, facts_pdf(30, first=100 * n))["documentId"] for n in range(8)]
    provider.takes(0.02)

    def delete(document_id: str) -> int:
        return httpx.delete(f"{provider_server.url}/api/v1/documents/{document_id}", timeout=60).status_code

    def embed_all() -> int:
        return httpx.post(f"{provider_server.url}/api/v1/embeddings/generate", timeout=60).status_code

    def embed_one(document_id: str) -> int:
        path = f"{provider_server.url}/api/v1/embeddings/generate/{document_id}"
        return httpx.post(path, timeout=60).status_code

    calls = [lambda i=i: delete(i) for i in ids[:4] * 2]
    calls += [lambda i=i: embed_one(i) for i in ids] + [embed_all] * 4
    statuses = together(calls)
    assert set(statuses) <= {200, 204, 404}
    assert statuses[:8].count(204) == 4
    assert_documents_whole(provider_server)
    assert_embedded_once(provider_server)
    assert_settled(provider_server)
    assert "deadlock" not in provider_server.log("web")[logged:]


def test_a_generate_whose_client_left_is_finished_all_the_same(
    provider_server: Stack, provider: Provider, two_batches: int
):
    provider.hold(on="embeddings")
    leave(provider_server.url, "/api/v1/embeddings/generate", {}, when=lambda: provider.wait_held(count=2))
    provider.release()
    wait_embedded(provider_server)
    assert provider_server.count("embeddings_embedding") == two_batches


def test_waiting_for_generate_holds_no_database_connection(
    provider_server: Stack, provider: Provider, background: Background, two_batches: int
):
    """Thirty calls that wait keep neither threads nor connections: others are served as ever."""
    provider.hold(on="embeddings")
    url = f"{provider_server.url}/api/v1/embeddings/generate"
    calls = [background(httpx.post, url, timeout=60) for _ in range(30)]
    provider.wait_held(count=2)
    query = "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = %s AND state = 'idle in transaction'"
    started = time.monotonic()
    assert provider_server.client.get("/api/v1/documents").status_code == 200
    assert time.monotonic() - started < 5
    wait_until(
        lambda: provider_server.sql(query, provider_server.database)[0]["n"] == 0, what="no open transaction"
    )
    provider.release()
    assert sum(embedded_count(call.result(60).text) for call in calls) == two_batches


def test_f12_a_worker_takes_tasks_again_after_restarts_of_the_broker(
    provider_server: Stack,
    provider: Provider,
    background: Background,
    chance: random.Random,
    two_batches: int,
):
    provider.hold(on="embeddings")
    call = background(generate, provider_server.client)
    provider.wait_held(count=chance.randint(1, 2))
    for _ in range(2):
        provider_server.stop_broker(kill=True, forget=chance.random() < 0.5)
        provider_server.start_broker()
    provider.release()
    wait_embedded(provider_server, 60)
    assert call.result(60).status_code == 200
    ingest(provider_server.client, facts_pdf(10, first=500))
    assert embed(provider_server.client) > 0
    assert processes.runs(provider_server.worker)
    assert_all_well(provider_server, provider, beyond=IN_FLIGHT)


# From here on there is a second worker beside the first.


@pytest.mark.parametrize("by", ["kill", "terminate"])
def test_f3_f4_another_worker_goes_on_with_what_one_leaves(
    provider_server: Stack,
    provider: Provider,
    background: Background,
    second: processes.Process,
    two_batches: int,
    by: str,
):
    """kill: its leases end by themselves. terminate: what it has begun it ends, and gives the rest back."""
    worker = provider_server.worker
    assert worker is not None
    provider.hold(on="embeddings")
    call = background(generate, provider_server.client)
    provider.wait_held(count=2)
    if by == "kill":
        provider_server.kill_worker()
        end_leases(provider_server)
    else:
        worker.terminate()
    provider.release()
    assert embedded_count(call.result(60).text) == two_batches
    worker.wait(30)
    assert processes.runs(second)
    assert_all_well(provider_server, provider, beyond=IN_FLIGHT if by == "kill" else 0)


def test_f24_a_model_that_hangs_once_is_given_up_and_asked_again(
    provider_server: Stack, provider: Provider, second: processes.Process, chance: random.Random
):
    """The first worker waits for half a minute; the second is told to be less patient."""
    chunks = ingest(provider_server.client, facts_pdf(10))["totalChunks"]
    with provider_server.paused_worker():
        provider.rule(chance.choice(["hang", "slow"]), times=1, seconds=30, on="embeddings")
        started = time.monotonic()
        assert embed(provider_server.client) == chunks
        assert 4 <= time.monotonic() - started < 20
    assert_embedded_once(provider_server)
    assert_own_vectors(provider_server)


@pytest.mark.skipif(FAKETIME is None, reason="needs libfaketime (apt-get install libfaketime)")
def test_f49_a_clock_that_jumps_an_hour_takes_nothing_twice(
    provider_server: Stack,
    provider: Provider,
    background: Background,
    second: processes.Process,
    clock: Path,
    many_batches: int,
):
    """Leases go by the clock of the database. Both workers are in mid-batch whenever it jumps."""
    call = background(generate, provider_server.client)
    for offset in ("+3600", "-3600", "+0"):
        provider.hold(on="embeddings")
        provider.wait_held(count=5)  # more than one group can have
        clock.write_text(offset)
        assert_fake_hour(clock, offset)
        provider.release()
    assert embedded_count(call.result(60).text) == many_batches
    assert_all_well(provider_server, provider)
    health = provider_server.client.get("/health").json()
    assert health["workers"] == 2 * provider_server.workers


def assert_fake_hour(clock: Path, offset: str) -> None:
    """The library is really at work: a process of its kind sees another hour than this one."""
    env = {"LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1"}
    told = subprocess.run(["date", "+%s"], env=env, capture_output=True, text=True, check=True).stdout
    assert abs(int(told) - time.time() - int(offset)) < 60
