"""HTTP to a chat model's server: connections of each event loop, bounded bodies, no redirects, no gzip."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress

import aiohttp
import httpx2
from pydantic_core import PydanticSerializationError, to_json

from knowlex.base.event_loops import PerLoop
from knowlex.net.json_client import open_session
from knowlex.net.proxies import proxy_of
from rag.chat.replies import RetryableFailure

CONNECTIONS = 1000
CONNECT_S = 5.0
CONNECTING = 0.9  # of what is left of a question's time
STALE = 5  # connections found closed before a request was sent on them
EXCERPT_BYTES = 8000
AFTERWARDS_S = 0.05  # for the end of a body whose last message has come, to use its connection again
UNREACHABLE = "The chat model could not be reached, or broke off its reply."


class Wire:
    """POSTs to one URL. Raises ValueError for a proxy that cannot be spoken to."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self._url, self._headers = url, {"Content-Type": "application/json", **(headers or {})}
        self._proxy = proxy_of(url)  # found once: aiohttp would look anew for every call
        self._sessions: PerLoop[aiohttp.ClientSession] = PerLoop(self._new_session)

    @asynccontextmanager
    async def post(self, body: bytes, ends: float) -> AsyncIterator[aiohttp.ClientResponse]:
        """Yield the response once it begins. ends: by `time.monotonic()`. Leaving early closes the
        connection.

        Raises RetryableFailure, TimeoutError.
        """
        with _no_reply():
            response = await self._send(body, ends)
        try:
            if response.headers.get("Content-Encoding", "identity") != "identity":
                raise RetryableFailure("The chat model's reply is compressed.")
            yield response
        finally:
            if not response.content.at_eof():
                response.close()
            response.release()

    async def _send(self, body: bytes, ends: float) -> aiohttp.ClientResponse:
        """Send the request, on another connection where the server has closed this one: some do after a
        stream.
        """
        async with asyncio.timeout(max(0.0, ends - time.monotonic())):
            for _ in range(STALE):
                try:
                    return await self._post(body, ends)
                except (aiohttp.ClientOSError, aiohttp.ClientConnectionResetError) as exc:
                    if exc.errno is not None:
                        raise
            return await self._post(body, ends)

    async def _post(self, body: bytes, ends: float) -> aiohttp.ClientResponse:
        """Send the request once. Connecting ends a little before the whole, so that an absent server is
        told from a slow one.
        """
        left = min(CONNECT_S, CONNECTING * max(0.0, ends - time.monotonic()))
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=left or CONNECT_S)
        session = self._sessions.get()
        return await session.post(self._url, data=body, allow_redirects=False, timeout=timeout)

    async def aclose(self) -> None:
        session = self._sessions.take()
        if session is not None:
            await session.close()

    def _new_session(self) -> aiohttp.ClientSession:
        secure = self._url.startswith("https:")
        ssl = httpx2.create_ssl_context() if secure else True  # with the certificates that embeddings trust
        return open_session(headers=self._headers, proxy=self._proxy, connections=CONNECTIONS, ssl=ssl)


async def read_block(response: aiohttp.ClientResponse, ends: float) -> bytes:
    """Return what has come of the body, b"" at its end. Raises RetryableFailure, TimeoutError."""
    with _no_reply():
        if response.content.is_eof():  # the rest of it is here: nothing to wait for
            return response.content.read_nowait()
        async with asyncio.timeout(max(0.0, ends - time.monotonic())):
            return await response.content.readany()


async def excerpt(response: aiohttp.ClientResponse, ends: float) -> str:
    """Return the beginning of an error's body; "" if it cannot be read."""
    found = b""
    with suppress(RetryableFailure):
        while len(found) < EXCERPT_BYTES and (block := await read_block(response, ends)):
            found += block
    return found[:EXCERPT_BYTES].decode("utf-8", "replace")


async def drain(response: aiohttp.ClientResponse) -> None:
    """Wait a moment for the end of a body whose last message has come: its connection can be used again."""
    if not response.content.at_eof():
        with suppress(TimeoutError, aiohttp.ClientError, OSError):
            async with asyncio.timeout(AFTERWARDS_S):
                await response.content.readany()


def json_body(content: object) -> bytes:
    """Encode as compact UTF-8; lone surrogates are left to the standard library."""
    try:
        return to_json(content)
    except PydanticSerializationError:
        return json.dumps(content).encode()


@contextmanager
def _no_reply() -> Iterator[None]:
    """Turn network errors into RetryableFailure; TimeoutError stays as it is."""
    try:
        yield
    except aiohttp.ClientError as exc:
        raise RetryableFailure(UNREACHABLE) from exc
    except TimeoutError:
        raise
    except (OSError, ValueError) as exc:
        raise RetryableFailure(UNREACHABLE) from exc
