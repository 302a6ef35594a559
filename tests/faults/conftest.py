"""Documents in the provider's stack, waiting to be embedded, and calls that run beside the test."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.support import environment, mounts
from tests.support.api import ingest
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.texts import facts_pdf

Background = Callable[..., "Future[Any]"]


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """Of this run and this test; the summary of the run tells how to have the same again."""
    return random.Random(f"{request.config.option.chaos_seed} {request.node.nodeid}")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Postgres]:
    """A PostgreSQL that may crash: no other test's database lies in it. On a disk of its own, if allowed."""
    folder = environment.FOLDER / "own"
    mounted = mounts.try_mount(folder, 500)
    own = Postgres(folder, max_connections="100")
    yield own
    own.stop(crash=True)
    if mounted:
        mounts.unmount(folder)


@pytest.fixture
def background() -> Iterator[Background]:
    """`background(function, *arguments)`: runs it in a thread; `.result(timeout)` waits for it."""
    pool = ThreadPoolExecutor(64)
    yield pool.submit
    pool.shutdown(wait=False, cancel_futures=True)


@pytest.fixture
def two_batches(provider_server: Stack) -> int:
    """Between 21 and 40 chunks that have no vector yet; returns how many."""
    chunks = int(ingest(provider_server.client, facts_pdf(60))["totalChunks"])
    assert 20 < chunks <= 40
    return chunks


@pytest.fixture
def many_batches(provider_server: Stack) -> int:
    """About 400 chunks that have no vector yet; returns how many."""
    chunks = int(ingest(provider_server.client, facts_pdf(800))["totalChunks"])
    assert 300 < chunks < 500
    return chunks
