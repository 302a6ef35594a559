"""A server that was too busy to read does not blame the client: what has come meanwhile is read first."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from knowlex.base.errors import RequestTimeout
from knowlex.web.body import RequestBody
from knowlex.web.server import HttpProtocol

LENGTH = [(b"content-length", b"4")]


class Wire(asyncio.Transport):
    """Of a connection that nobody reads."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.closed = b"", False

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


async def never() -> Any:
    await asyncio.get_running_loop().create_future()


def test_a_piece_that_came_with_the_end_of_patience_is_taken(tmp_path: Path) -> None:
    calls = iter([never])

    async def receive() -> dict[str, Any]:
        if wait := next(calls, None):
            await wait()
        return {"type": "http.request", "body": b"body", "more_body": False}

    body = asyncio.run(RequestBody(LENGTH, receive, patience_s=0.0).read(100, tmp_path))

    assert body.read() == b"body"


def test_a_piece_that_did_not_come_is_not_waited_for_twice(tmp_path: Path) -> None:
    with pytest.raises(RequestTimeout):
        asyncio.run(RequestBody(LENGTH, never, patience_s=0.0).read(100, tmp_path))


def test_headers_that_came_with_the_end_of_patience_are_read() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def served() -> bytes:
        protocol = HttpProtocol(uvicorn.Config(app, log_config=None), ServerState(), {})
        protocol.connection_made(wire := Wire())
        protocol._too_slow()
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert protocol._deadline is None
        await asyncio.gather(*protocol.tasks)
        protocol.connection_lost(None)
        return wire.written

    assert asyncio.run(served()).startswith(b"HTTP/1.1 204")
