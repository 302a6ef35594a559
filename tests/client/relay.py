"""Something between client and server that fails as networks and proxies do."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Literal

Fate = Literal["refused", "lost", "halved", "unfinished", "busy", "bad gateway", "another's page", "answered"]
BLOCK = 65536
BAD_GATEWAY = (
    b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<h1>502</h1>\r"
)
BUSY = (
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
    b'Content-Length: 52\r\n\r\n{"error":"RATE_LIMITED","message":"Try it later.  "}'
)
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<p>Hello</p>"
INSTEAD: dict[str, bytes] = {"busy": BUSY, "bad gateway": BAD_GATEWAY, "another's page": PAGE}


@dataclass
class Relay:
    """url: of the relay. fates: what happens to each connection in turn; those after them are answered.

    refused: it is closed at once. lost: the server does the work, and its answer does not come. halved: the
    answer breaks off in its first block. unfinished: a stream breaks off before its last event. connections:
    how many there were.
    """

    url: str
    fates: Sequence[Fate] = ()
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0

    def meet(self, number: int, client: socket.socket, server: tuple[str, int]) -> None:
        fate = self.fates[number] if number < len(self.fates) else "answered"
        if fate == "refused":
            return
        with socket.create_connection(server, timeout=60) as upstream:
            if fate in INSTEAD:
                self.requests.append(client.recv(BLOCK))
                client.sendall(INSTEAD[fate])
                return
            Thread(target=self._hand_up, args=(client, upstream), daemon=True).start()
            while block := upstream.recv(BLOCK):
                if fate == "lost":
                    return
                end = {"halved": len(block) // 2, "unfinished": block.find(b"event: done")}.get(fate, -1)
                client.sendall(block if end < 0 else block[:end])
                if end >= 0:
                    return

    def _hand_up(self, client: socket.socket, upstream: socket.socket) -> None:
        with suppress(OSError):  # the other side has closed it
            while block := client.recv(BLOCK):
                self.requests.append(block)
                upstream.sendall(block)


@contextmanager
def relay(port: int, *fates: Fate) -> Iterator[Relay]:
    """A relay before the server on this port of loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as open_ones:
        between = Relay(f"http://127.0.0.1:{listener.getsockname()[1]}", fates)

        def serve(number: int, client: socket.socket) -> None:
            try:
                with suppress(OSError):
                    between.meet(number, client, ("127.0.0.1", port))
            finally:
                _cut(client)

        def accept() -> None:
            with suppress(OSError):  # the listener is closed at the end
                while True:
                    client = listener.accept()[0]
                    open_ones.callback(_cut, client)
                    between.connections += 1
                    Thread(target=serve, args=(between.connections - 1, client), daemon=True).start()

        Thread(target=accept, daemon=True).start()
        yield between
        listener.shutdown(socket.SHUT_RDWR)


def _cut(connection: socket.socket) -> None:
    """Close it for both sides at once, though another thread may be reading from it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
