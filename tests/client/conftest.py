"""One test for both clients."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from inspect import isasyncgen, iscoroutine
from typing import Any

import pytest

from knowlex_client import AsyncKnowlex, Knowlex
from tests.support.stack import Stack


class Either:
    """A blocking or an asynchronous client, used alike: what yields gives a list."""

    def __init__(self, client: Knowlex | AsyncKnowlex, loop: asyncio.AbstractEventLoop) -> None:
        self._client, self._loop = client, loop

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        return lambda *given, **named: self._settle(method(*given, **named))

    def _settle(self, value: Any) -> Any:
        if iscoroutine(value):
            return self._loop.run_until_complete(value)
        if isasyncgen(value):
            return self._loop.run_until_complete(_collected(value))
        return list(value) if isinstance(value, Iterator) else value


async def _collected(items: AsyncGenerator[Any]) -> list[Any]:
    return [item async for item in items]


@pytest.fixture(params=[Knowlex, AsyncKnowlex])
def make_client(request: pytest.FixtureRequest) -> Iterator[Callable[..., Either]]:
    """`make_client(url, …)`: each kind of client in turn."""
    loop, made = asyncio.new_event_loop(), []

    def make(*given: Any, **named: Any) -> Either:
        made.append(Either(request.param(*given, **named), loop))
        return made[-1]

    yield make
    for client in made:
        client.aclose() if request.param is AsyncKnowlex else client.close()
    loop.close()


@pytest.fixture
def knowlex(server: Stack, make_client: Callable[..., Either]) -> Either:
    """Speaks to `server`."""
    return make_client(server.url)
