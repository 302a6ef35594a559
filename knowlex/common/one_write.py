"""The head of a response and the beginning of its body in one call of the system, and one packet."""

import asyncio

AT_ONCE_BYTES = 64 * 1024  # copied to be sent with the head; what is larger is sent by itself


class HeadWithBody:
    """What a server's response writes to instead of its transport: the head waits for what follows.

    It waits until the event loop's next round at the longest, so a stream's head is not kept back. The reader
    would wake up twice otherwise.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head, self._begun = b"", False

    def write(self, data: bytes) -> None:
        if self._head:
            self._follow(data)
        elif self._begun or data.startswith(b"HTTP/1.1 100"):
            self._transport.write(data)
        else:
            self._head, self._begun = data, True
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def _follow(self, data: bytes) -> None:
        head, self._head = self._head, b""
        if len(data) <= AT_ONCE_BYTES:
            self._transport.write(head + data)
        else:
            self._transport.write(head)
            self._transport.write(data)

    def _flush(self) -> None:
        head, self._head = self._head, b""
        if head and not self._transport.is_closing():
            self._transport.write(head)
