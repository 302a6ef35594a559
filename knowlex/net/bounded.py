"""Hooks for an HTTP client: an answer that is too large, or too slow as a whole, is cut off while it is read.

The client's own timeouts bound only the wait for the next bytes: a byte a second would hold a worker.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, cast

import httpx2

from knowlex.net.proxies import proxy_of

_BEGAN = "knowlex.began"
HEADERS = {"Accept-Encoding": "identity"}  # what is read is what is held: no bytes that unpack to gigabytes


class _Budget:
    def __init__(self, response: httpx2.Response, max_bytes: int, timeout_s: float) -> None:
        self._request = response.request
        self._left = max_bytes
        self._ends = response.request.extensions[_BEGAN] + timeout_s
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("The answer is compressed.", request=self._request)

    def spend(self, block: bytes) -> bytes:
        self._left -= len(block)
        if self._left < 0:
            raise httpx2.ReadError("The answer is too large.", request=self._request)
        if time.monotonic() > self._ends:
            raise httpx2.ReadTimeout("The answer takes too long.", request=self._request)
        return block


class _SyncStream(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream, budget: _Budget) -> None:
        self._inner, self._budget = inner, budget

    def __iter__(self) -> Iterator[bytes]:
        for block in self._inner:
            yield self._budget.spend(block)

    def close(self) -> None:
        self._inner.close()


class _AsyncStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, budget: _Budget) -> None:
        self._inner, self._budget = inner, budget

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for block in self._inner:
            yield self._budget.spend(block)

    async def aclose(self) -> None:
        await self._inner.aclose()


def sync_client(url: str, *, max_bytes: int, timeout_s: float) -> httpx2.Client:
    """For a worker. Redirects are not followed: only the configured host is ever spoken to.

    Raises ValueError for a proxy that cannot be spoken to.
    """

    def began(request: httpx2.Request) -> None:
        request.extensions[_BEGAN] = time.monotonic()

    def bound(response: httpx2.Response) -> None:
        stream = cast(httpx2.SyncByteStream, response.stream)
        response.stream = _SyncStream(stream, _Budget(response, max_bytes, timeout_s))

    return httpx2.Client(
        timeout=timeout_s,
        headers=HEADERS,
        follow_redirects=False,
        **route(url),
        event_hooks={"request": [began], "response": [bound]},
    )


def route(url: str) -> dict[str, Any]:
    """Options of a client that speaks to `url` alone: the proxy, if any, and the certificates that are known.

    The environment is read here and not by the client, which has rules of its own for proxies.
    """
    return {"proxy": proxy_of(url), "verify": httpx2.create_ssl_context(), "trust_env": False}


def async_hooks(*, max_bytes: int, timeout_s: float) -> dict[str, list[Callable[..., Any]]]:
    """`event_hooks` of an asynchronous client."""

    async def began(request: httpx2.Request) -> None:
        request.extensions[_BEGAN] = time.monotonic()

    async def bound(response: httpx2.Response) -> None:
        stream = cast(httpx2.AsyncByteStream, response.stream)
        response.stream = _AsyncStream(stream, _Budget(response, max_bytes, timeout_s))

    return {"request": [began], "response": [bound]}
