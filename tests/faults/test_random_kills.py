"""F5: any process but the database is killed at random moments, and everything comes right in the end."""

import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import httpx
import pytest

from tests.provider import Provider
from tests.support.api import generate, upload
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

A_FEW, MANY = (3, 6), (25, 20)


def strike(stack: Stack, chance: random.Random) -> None:
    """kill -9 of one process or group; whoever looks after the stack starts it again."""
    victim = chance.choice(["web", "worker", "child", "child", "broker"])
    if victim == "web":
        stack.kill_web()
    elif victim == "worker":
        stack.kill_worker()
    elif victim == "broker":
        stack.stop_broker(kill=True, forget=chance.random() < 0.5)
    elif children := stack.worker_children():
        chance.choice(children).kill()
    stack.ensure_running()


def persistently(stop: Event, call: Callable[[], httpx.Response], wanted: set[int]) -> int:
    """Ask again until one of the wanted statuses comes; a server that is down is no answer."""
    while not stop.is_set():
        try:
            status = call().status_code
        except httpx.TransportError:
            continue
        if status in wanted:
            return status
    return 0


@pytest.mark.parametrize(
    ("kills", "uploads"),
    [
        pytest.param(*A_FEW, id="a few"),
        pytest.param(*MANY, id="many", marks=pytest.mark.slow),
        pytest.param(*MANY, id="many more", marks=pytest.mark.slow),
    ],
)
def test_f5_random_kills_lose_nothing_and_double_nothing(
    provider_server: Stack, provider: Provider, chance: random.Random, kills: int, uploads: int
):
    stop = Event()
    provider.takes(0.1)
    client = provider_server.client
    with ThreadPoolExecutor(8) as pool:
        files = [facts_pdf(30, first=100 * n) for n in range(uploads)]
        calls = [
            pool.submit(persistently, stop, lambda f=f: upload(client, f), {201, 409}) for f in files
        ] + [pool.submit(persistently, stop, lambda: generate(client), {200}) for _ in range(5)]
        try:
            for _ in range(kills):
                strike(provider_server, chance)
            wait_until(lambda: all(call.done() for call in calls), 120, "all calls to succeed")
        finally:
            stop.set()
    provider_server.ensure_running()
    assert generate(client).status_code == 200
    wait_embedded(provider_server, 60)
    assert provider_server.count("documents_document") == uploads
    assert_embedded_once(provider_server)
    assert_own_vectors(provider_server)
    assert_asked_once(provider_server, provider, beyond=kills * 80)
    for file in provider_server.stored_files():
        os.utime(file, (0, 0))  # an orphan is only taken for one when it is old
    sweep = "from documents.library.storage import sweep_orphan_files as sweep; sweep()"
    provider_server.manage("shell", "--no-imports", "-c", sweep)
    assert_documents_whole(provider_server)
