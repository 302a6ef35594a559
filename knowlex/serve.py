"""The web process: uvicorn on a socket that `up` has bound already, or on KNOWLEX_HOST and KNOWLEX_PORT."""

import argparse
import asyncio
import os
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from knowlex.base.readiness import report_ready

GRACE_S = 5  # for requests that are running when the server is told to stop
# libuv accepts one connection of a socket in each turn of the loop, and a busy loop's turns are long: of
# 1,000 clients who came at once some waited for 3 s to be refused. So it listens on copies of it, too.
ACCEPTED_AT_ONCE = 8
DATE_EVERY_S = 1.0


class Server(uvicorn.Server):
    _wake: Callable[[], object] | None = None

    async def main_loop(self) -> None:
        """Wake for the date of the responses and when told to stop, not ten times a second: for nothing."""
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(stopped.set)
        while not await self.on_tick(0):
            ticking = loop.call_later(DATE_EVERY_S, stopped.set)
            await stopped.wait()
            ticking.cancel()
            stopped.clear()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._wake:
            self._wake()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in sockets or ():
            # Else `dup` lets it block, for all who share it, until the loop has the copy: whoever wants to
            # accept what another process took meanwhile would stand still until the next client comes.
            listener.setblocking(False)
        copies = [listener.dup() for listener in sockets or () for _ in range(ACCEPTED_AT_ONCE - 1)]
        await super().startup([*sockets, *copies] if sockets else None)
        if self.started:
            report_ready()


def server_config() -> uvicorn.Config:
    return uvicorn.Config(
        "knowlex.asgi:application",
        loop="uvloop",
        http="knowlex.web.server:HttpProtocol",  # httptools, with limits and errors in JSON
        ws="none",
        interface="asgi3",
        log_config=None,  # Django's LOGGING is the one configuration
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the peer's address is the socket's, not what a header claims
        timeout_keep_alive=15,
        timeout_graceful_shutdown=GRACE_S,
    )


def bind_socket(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Bind a socket that does not listen yet: until the application is there, clients are refused at once.

    shared: other processes of this user may bind the same port so, too. Raises OSError.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((host, port))
    return listener


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fd", type=int, help="an inherited socket that is bound already")
    parser.add_argument("--shared", action="store_true", help="share the port with other web processes")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "knowlex.settings")
    if options.fd is not None:
        listener = socket.socket(fileno=options.fd)
    else:
        from django.conf import settings

        listener = bind_socket(settings.HOST, settings.PORT, shared=options.shared)
    Server(server_config()).run(sockets=[listener])


if __name__ == "__main__":
    main()
