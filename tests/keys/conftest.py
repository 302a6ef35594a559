"""A running Knowlex that asks for keys."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.keys.accounts import forget_accounts
from tests.keys.key_factory import as_key, make_key
from tests.support.stack import Stack


@pytest.fixture(scope="session")
def _keyed_stack(_session_stacks: Callable[..., Stack]) -> Stack:
    return _session_stacks(KNOWLEX_REQUIRE_API_KEY="true")


@pytest.fixture
def keyed(_keyed_stack: Stack) -> Stack:
    """Empty before each test, of keys too."""
    _keyed_stack.ensure_running()
    _keyed_stack.clean()
    return _keyed_stack


@pytest.fixture
def admin(keyed: Stack) -> httpx.Client:
    """Sends a key that may do everything."""
    return as_key(keyed, make_key(keyed, "admin"))


@pytest.fixture
def house(keyed: Stack) -> Iterator[Stack]:
    """Asks for keys; holds no account and no count of attempts at the start."""
    forget_accounts(keyed)
    assert keyed.broker is not None
    keyed.broker.client().flushall()
    yield keyed
    forget_accounts(keyed)
