"""Whatever dies while documents are read and embedded: all end, nothing twice, nothing lost."""

import os
import random
import signal
from functools import cache
from typing import Any

import psutil
import pytest

from tests.ingest.conftest import Engine, document
from tests.provider import Provider
from tests.support.invariants import (
    assert_documents_whole,
    assert_embedded_once,
    assert_jobs_settled,
    assert_own_vectors,
    assert_words_counted,
)
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf
from tests.support.waiting import wait_until

FEW_CHUNKS = {"size": 500}  # so that long reading is followed by little embedding


@cache
def long_document() -> dict[str, Any]:
    """Is being read for some seconds."""
    return document(facts_pdf(3000), "long.pdf")


def all_well(stack: Stack) -> None:
    assert_documents_whole(stack)
    assert_embedded_once(stack)
    assert_own_vectors(stack)
    assert_words_counted(stack)
    assert_jobs_settled(stack)


def wait_leased(stack: Stack, attempt: int = 1) -> None:
    held = f"lease IS NOT NULL AND attempts = {attempt}"
    wait_until(lambda: stack.count("documents_ingestitem", held) > 0, 20, "a lease")


def kill_children(stack: Stack) -> None:
    for child in stack.worker_children():
        child.kill()


def let_leases_end(stack: Stack) -> None:
    """As if 15 s had gone by."""
    stack.sql("UPDATE documents_ingestitem SET leased_until = now() WHERE lease IS NOT NULL")


def test_a_worker_killed_while_it_reads_costs_nothing(engine: Engine, provider_server: Stack):
    job = engine.create(long_document(), **FEW_CHUNKS)
    wait_leased(provider_server)
    kill_children(provider_server)
    let_leases_end(provider_server)
    assert engine.ended(job)["items"][0]["attempts"] == 2
    all_well(provider_server)


@pytest.mark.slow
def test_all_workers_killed_is_told_as_stalled_and_ends_when_one_is_back(
    engine: Engine, provider_server: Stack
):
    job = engine.create(long_document(), document("# Two\n\nShort.", "two.md"), **FEW_CHUNKS)
    wait_leased(provider_server)
    assert engine.look(job)["stalled"] is False
    provider_server.kill_worker()
    let_leases_end(provider_server)
    wait_until(lambda: engine.look(job)["stalled"], 30, "the job to be called stalled")
    provider_server.start_worker()
    report = engine.ended(job)
    assert (report["failed"], report["stalled"]) == (0, False)
    all_well(provider_server)


def test_waiting_is_not_stalled_while_workers_live(engine: Engine, provider_server: Stack):
    """Work that is old, but in line; the same without workers."""
    with provider_server.paused_worker():
        job = engine.create(document("# One\n\nShort.", "one.md"))
        assert engine.look(job)["stalled"] is False
        provider_server.sql("UPDATE documents_ingestitem SET created_at = created_at - interval '1 hour'")
        wait_until(lambda: engine.look(job)["stalled"], 30, "the last worker's sign of life to be too old")
    assert engine.ended(job)["failed"] == 0


@pytest.mark.slow
def test_a_worker_killed_while_it_embeds_costs_nothing(
    engine: Engine, provider_server: Stack, provider: Provider
):
    provider.hold(on="embeddings")
    job = engine.create(document(facts_pdf(60)))
    provider.wait_held()
    kill_children(provider_server)
    provider.release()
    assert engine.ended(job)["failed"] == 0
    all_well(provider_server)


@pytest.mark.slow
def test_a_document_that_kills_its_worker_each_time_is_given_up_with_a_reason(
    engine: Engine, provider_server: Stack
):
    job = engine.create(long_document(), **FEW_CHUNKS)
    for attempt in range(1, 6):
        wait_leased(provider_server, attempt)
        kill_children(provider_server)
        let_leases_end(provider_server)
    item = engine.ended(job)["items"][0]
    assert (item["status"], item["error_code"], item["attempts"]) == ("failed", "TIMEOUT", 5)
    assert engine.call("retry_job", job=job) == 1
    assert engine.ended(job)["failed"] == 0
    all_well(provider_server)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_200_documents_end_whatever_is_killed_meanwhile(engine: Engine, provider_server: Stack, seed: int):
    chance = random.Random(seed)
    names = range(1000, 1200)
    job = engine.create(*(document(f"# {n}\n\n{fact(n)}", f"{n}.md") for n in names))
    for _ in range(20):
        engine.call("report", job=job, wait_s=chance.uniform(0.1, 0.5))
        match chance.randrange(4):
            case 0:
                provider_server.stop_broker(kill=True, forget=True)
                provider_server.start_broker()
            case 1:
                provider_server.kill_worker()
                provider_server.start_worker()
            case _:
                victims = provider_server.worker_children()
                if victims:
                    _kill(chance.choice(victims))
    assert engine.ended(job, 120)["failed"] == 0
    all_well(provider_server)


def _kill(process: psutil.Process) -> None:
    if process.is_running():
        os.kill(process.pid, signal.SIGKILL)
