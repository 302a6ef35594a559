"""Streams for clients of HTTP/1.0, who know no chunks: the body ends with the connection."""

from collections.abc import Awaitable, Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

Send = Callable[[Any], Awaitable[None]]


def unchunked(cycle: RequestResponseCycle) -> Send:
    """`cycle.send` that writes a body whose length nobody tells as it is; uvicorn would send it in chunks.

    After a request by HTTP/1.0 uvicorn closes the connection in any case.
    """
    send, unbounded = cycle.send, False

    async def sending(message: Any) -> None:
        nonlocal unbounded
        if message["type"] == "http.response.start":
            unbounded = not any(name.lower() == b"content-length" for name, _ in message.get("headers", ()))
            cycle.chunked_encoding = False if unbounded else None
        elif unbounded:
            cycle.expected_content_length = len(message.get("body", b""))  # of this part, all it can check
        await send(message)

    return sending
