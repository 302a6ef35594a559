"""What is written of a response: its head goes with what follows, and never waits for long."""

import asyncio
from typing import Any, cast

from knowlex.web.server import AT_ONCE_BYTES, HeadWithBody


class Written:
    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.pieces.append(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def written(*steps: bytes | str) -> list[bytes]:
    """What these writes come to; "wait" lets the loop go round, "close" closes."""
    transport = Written()

    async def response() -> None:
        joined = HeadWithBody(cast(Any, transport), asyncio.get_running_loop())
        for step in steps:
            if isinstance(step, bytes):
                joined.write(step)
            elif step == "wait":
                await asyncio.sleep(0)
            else:
                joined.close()
        await asyncio.sleep(0)

    asyncio.run(response())
    return transport.pieces


def test_a_head_goes_with_its_body() -> None:
    assert written(b"HTTP/1.1 200 OK\r\n\r\n", b"body", b"more") == [b"HTTP/1.1 200 OK\r\n\r\nbody", b"more"]


def test_a_head_whose_body_comes_later_goes_at_once() -> None:
    assert written(b"HTTP/1.1 200 OK\r\n\r\n", "wait", b"body") == [b"HTTP/1.1 200 OK\r\n\r\n", b"body"]


def test_a_head_without_a_body_goes_before_the_end() -> None:
    assert written(b"HTTP/1.1 204 No\r\n\r\n", "close", "wait") == [b"HTTP/1.1 204 No\r\n\r\n"]
    assert written(b"HTTP/1.1 204 No\r\n\r\n") == [b"HTTP/1.1 204 No\r\n\r\n"]


def test_a_large_body_is_not_copied() -> None:
    body = b"x" * (AT_ONCE_BYTES + 1)

    assert written(b"HTTP/1.1 200 OK\r\n\r\n", body) == [b"HTTP/1.1 200 OK\r\n\r\n", body]


def test_a_client_that_waits_for_leave_to_send_gets_it_at_once() -> None:
    leave, head = b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"

    assert written(leave, "wait", head, b"body") == [leave, head + b"body"]
