"""A running Knowlex that asks for keys."""

from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import MakeStack, stacks
from tests.keys.accounts import forget_accounts
from tests.keys.key_factory import as_key, make_key
from tests.support.stack import Stack

ASKS_FOR_KEYS = {"KNOWLEX_REQUIRE_API_KEY": "true", "DJANGO_SETTINGS_MODULE": "tests.keys.settings"}


make_folder_stack = pytest.fixture(stacks, scope="package")


@pytest.fixture(scope="package")
def _keyed_stack(make_folder_stack: MakeStack) -> Stack:
    return make_folder_stack(**ASKS_FOR_KEYS)


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
    forget_attempts(keyed)
    yield keyed
    forget_accounts(keyed)


def forget_attempts(stack: Stack) -> None:
    """Of all accounts, and the accounts."""
    forget_accounts(stack)
    assert stack.broker is not None
    stack.broker.client().flushall()
