"""Fixtures of the whole suite. `pytest` needs nothing running: PostgreSQL and Valkey come from wheels.

In-process tests (`@pytest.mark.django_db`) use the database `test_knowlex`; every stack of
processes uses one of its own.
"""

import os
import secrets
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import httpx
import pytest
from hypothesis import settings
from pytest_django import DjangoDbBlocker

from tests.support import environment

environment.set_environment()

import django

django.setup()

from knowlex.embedded.services import EmbeddedValkey
from tests.provider import Provider
from tests.support import commands
from tests.support.pdf import make_pdf
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.waiting import wait_until

__all__ = ["make_pdf", "wait_until"]

# The same examples in every run, and none fails because the machine is busy.
settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.load_profile("suite")

TEST_LIMIT_S = 240
# Folders whose files share servers of their own.
WITH_SERVERS = {"edges", "golden", "keys", "outbox", "service", "stores"}
# Folders whose tests take longest, the longest first.
LONG = (
    "keys", "faults", "stack", "sources", "platform", "answers", "embeddings", "scaling", "page", "client",
    "edges", "outbox", "golden", "history", "ingest", "stores", "service", "extraction", "rag",
)  # fmt: skip
MakeStack = Callable[..., Stack]
_numbers = count()


def pytest_configure(config: pytest.Config) -> None:
    """Processes of `pytest -n` are to choose a folder of their own before they read the settings."""
    if config.option.chaos_seed is None:
        config.option.chaos_seed = secrets.randbelow(10**6)  # those processes are told it with the options
    config.option.loadscopereorder = False  # the most tests first: those are quick ones
    if config.getoption("numprocesses", None):
        del os.environ["DJANGO_SETTINGS_MODULE"]  # with it, pytest-django reads the settings before conftest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first, lest one process has a long file at the end and the others nothing."""

    def rank(item: pytest.Item) -> int:
        folder = item.nodeid.split("/")[1]
        return LONG.index(folder) if folder in LONG else len(LONG)

    items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """`--dist loadfile`, but the files of a folder that share servers of their own start them once."""
    from xdist.scheduler import LoadFileScheduling

    class ByServers(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folder = nodeid.split("/")[1]
            return folder if folder in WITH_SERVERS else super()._split_scope(nodeid)

    return ByServers(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chaos-seed", type=int, help="what strikes when in tests/faults; else a random one")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    terminalreporter.write_line(f"Faults were drawn by --chaos-seed {config.option.chaos_seed}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The cluster of the test run; started once, when the first test needs it."""
    cluster = Postgres(environment.DATA_DIR)
    yield cluster
    cluster.stop(crash=True)


@pytest.fixture(scope="session")
def valkey() -> Iterator[EmbeddedValkey]:
    """The broker and cache of in-process tests (settings.REDIS_URL); stacks bring their own."""
    environment.DATA_DIR.mkdir(exist_ok=True)
    server = EmbeddedValkey(environment.DATA_DIR)
    server.start()
    server.wait_ready()
    yield server
    server.part.stop()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(postgres: Postgres, valkey: EmbeddedValkey) -> None:
    """pytest-django asks for this before it makes the test database: the moment to start the services."""


@pytest.fixture(scope="session", autouse=True)
def _commands_on_stacks(django_db_blocker: DjangoDbBlocker) -> None:
    commands.blocker = django_db_blocker


def stacks(postgres: Postgres) -> Iterator[MakeStack]:
    """`make_stack(workers=2, KNOWLEX_…="…")`: a running stack; it costs some seconds to start.

    workers=0: nobody works there, which is cheaper. It runs no longer than the fixture, for even at rest
    its processes take a hundredth of a core or two.
    """
    with ExitStack() as running:

        def make(*, workers: int = 2, cluster: Postgres | None = None, **env: str) -> Stack:
            folder = environment.FOLDER / f"s{next(_numbers)}"
            return running.enter_context(Stack(cluster or postgres, folder, workers=workers, env=env))

        yield make


make_stack = pytest.fixture(stacks)
make_module_stack = pytest.fixture(stacks, scope="module")
make_session_stack = pytest.fixture(stacks, scope="session")


@pytest.fixture(scope="session")
def _local_stack(make_session_stack: MakeStack) -> Stack:
    return make_session_stack()


@pytest.fixture
def server(_local_stack: Stack) -> Stack:
    """A running Knowlex with the defaults: local embedder, extractive synthesizer. Empty before each test."""
    _local_stack.ensure_running()
    _local_stack.clean()
    return _local_stack


@pytest.fixture
def client(server: Stack) -> httpx.Client:
    """Speaks to `server`."""
    return server.client


@pytest.fixture(scope="session")
def _provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
def provider(_provider: Provider) -> Provider:
    """The misbehaving OpenAI and Ollama; well-behaved, with an empty log, at the start of each test."""
    _provider.reset()
    return _provider


def provider_env(provider: Provider) -> dict[str, str]:
    """Embeddings and chat by the fake provider; any relevance is enough, chunks are small and many."""
    return {
        "OPENAI_API_KEY": "sk-test-3f1d9c",
        "OPENAI_BASE_URL": provider.openai_url,
        "OLLAMA_HOST": provider.url,
        "KNOWLEX_RELEVANCE_THRESHOLD": "0",
        "KNOWLEX_LLM_TIMEOUT_SECONDS": "4",
        "KNOWLEX_CHUNK_TOKENS": "50",
        "KNOWLEX_CHUNK_OVERLAP": "0",
    }


@pytest.fixture(scope="session")
def _provider_stack(make_session_stack: MakeStack, _provider: Provider) -> Stack:
    return make_session_stack(workers=4, **provider_env(_provider))


@pytest.fixture
def provider_server(_provider_stack: Stack, provider: Provider) -> Stack:
    """A running Knowlex whose embedder and chat model are `provider`. Empty at the start of each test."""
    _provider_stack.ensure_running()
    _provider_stack.clean()
    return _provider_stack


@pytest.fixture
def sample_pdf() -> Callable[..., bytes]:
    """`sample_pdf("page one", "page two", title="…", outline=[("Heading", 1)])`: the bytes of a small PDF."""
    return make_pdf


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """A test that hangs fails, its fixtures included, instead of holding up the whole run."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"{item.nodeid} took longer than {TEST_LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(TEST_LIMIT_S)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """A failed test shows what the processes of its stacks wrote."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, Stack):
                report.sections.append((f"log of {name}", value.log_tail()))
    return report
