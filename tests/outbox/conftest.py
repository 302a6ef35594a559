"""A Knowlex whose vectors are searched in a real Chroma server, by workers of its own."""

from collections.abc import Iterator

import pytest

from tests.conftest import MakeStack, provider_env, stacks
from tests.outbox.looking import Chroma
from tests.provider import Provider
from tests.support.stack import Stack


@pytest.fixture(scope="session")
def _chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chroma]:
    with Chroma(tmp_path_factory.mktemp("chroma")) as server:
        yield server


def chroma_env(provider: Provider, chroma: Chroma) -> dict[str, str]:
    store = {"KNOWLEX_VECTOR_STORE": "chroma", "VECTOR_STORE_URL": chroma.url}
    return {**provider_env(provider), **store, "VECTOR_STORE_TIMEOUT_SECONDS": "2"}


make_folder_stack = pytest.fixture(stacks, scope="package")


@pytest.fixture(scope="package")
def _outside_stack(make_folder_stack: MakeStack, _provider: Provider, _chroma: Chroma) -> Stack:
    return make_folder_stack(workers=2, **chroma_env(_provider, _chroma))


@pytest.fixture
def chroma(_chroma: Chroma) -> Chroma:
    """The server; it runs, and nothing is in it."""
    _chroma.ensure_running()
    _chroma.wipe()
    return _chroma


@pytest.fixture
def outside(_outside_stack: Stack, provider: Provider, chroma: Chroma) -> Stack:
    """A running Knowlex with the fake provider's embeddings, searched in `chroma`. Empty at first."""
    _outside_stack.ensure_running()
    _outside_stack.clean()
    _outside_stack.sql("UPDATE embeddings_outsidestore SET failures = 0, retry_at = NULL, error = ''")
    chroma.wipe()
    return _outside_stack
