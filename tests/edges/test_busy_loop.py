"""A server that was too busy to read does not blame the client: what has come meanwhile is read first."""

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import uvloop
from uvicorn.server import ServerState

from knowlex.base.errors import RequestTimeout
from knowlex.serve import ACCEPTED_AT_ONCE, Server, bind_socket
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


async def app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


def test_headers_that_came_with_the_end_of_patience_are_read() -> None:
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


def small_server() -> Server:
    server = Server(uvicorn.Config(app, interface="asgi3", lifespan="off", log_config=None))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    return server


def test_clients_who_come_together_are_accepted_together() -> None:
    clients = 10 * ACCEPTED_AT_ONCE

    async def turns_until_all_are_accepted() -> int:
        server = small_server()
        listener = bind_socket("127.0.0.1", 0)
        await server.startup([listener])
        waiting = [socket.create_connection(listener.getsockname()) for _ in range(clients)]
        turns = 0
        while len(server.server_state.connections) < clients and turns < clients:
            await asyncio.sleep(0)
            turns += 1
        for client in waiting:
            client.close()
        await server.shutdown([])
        return turns

    assert uvloop.run(turns_until_all_are_accepted()) < clients // 2


def test_a_process_that_joins_never_lets_the_socket_of_all_block() -> None:
    """A loop that wants to accept what another process took meanwhile would wait for the next client."""
    blocks: list[bool] = []

    class Watched(socket.socket):
        def dup(self) -> socket.socket:
            copy = super().dup()
            blocks.append(os.get_blocking(self.fileno()))
            return copy

    async def join() -> None:
        server, bound = small_server(), bind_socket("127.0.0.1", 0)
        os.set_blocking(bound.fileno(), False)  # as another process left it
        await server.startup([Watched(fileno=bound.detach())])
        await server.shutdown([])

    uvloop.run(join())
    assert blocks == [False] * (ACCEPTED_AT_ONCE - 1)
