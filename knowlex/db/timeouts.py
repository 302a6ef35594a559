"""A database that hangs is noticed: libpq itself waits for its answer for ever.

A slow statement must not be cut off, so a silent server is first asked on a fresh socket whether it is alive.
"""

import socket
import struct
import time
from collections.abc import Generator
from typing import Any

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

PATIENCE_S = 0.5  # of silence before the server is asked; then after as long again
ANSWER_S = 1.0  # with the time to connect anew, callers still answer 503 within 5 s
SSL_REQUEST = struct.pack("!ii", 8, 80877103)  # PostgreSQL answers it with one byte, before anything else


def notice_silence() -> None:
    """From now on in this process, a statement raises OperationalError once its server is found dead."""
    connection_created.connect(_watch, dispatch_uid="knowlex.silence")


def _watch(connection: BaseDatabaseWrapper, **_: Any) -> None:
    raw: psycopg.Connection[Any] = connection.connection
    wait = raw.wait

    def watched(gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        return wait(_unless_silent(gen, raw), *args, **kwargs)

    raw.wait = watched  # type: ignore[method-assign]


def _unless_silent(gen: Generator[Any, Any, Any], raw: "psycopg.Connection[Any]") -> Generator[Any, Any, Any]:
    """The same generator of a psycopg operation; it is sent something false when nothing has come."""
    try:
        state = next(gen)
        heard = time.monotonic()
        while True:
            ready = yield state
            if ready:
                heard = time.monotonic()
            elif time.monotonic() - heard > PATIENCE_S:
                if not _is_alive(raw):
                    raise psycopg.OperationalError("the database does not answer")
                heard = time.monotonic()
            state = gen.send(ready)
    except StopIteration as stop:
        return stop.value


def _is_alive(raw: "psycopg.Connection[Any]") -> bool:
    host, port = raw.info.host, raw.info.port
    try:
        with _connected(host, raw.info.hostaddr, port) as probe:
            probe.sendall(SSL_REQUEST)
            return bool(probe.recv(1))
    except OSError:
        return False


def _connected(host: str, address: str, port: int) -> socket.socket:
    """host: as libpq names it, a folder for a Unix socket."""
    if not host.startswith("/"):
        return socket.create_connection((address or host, port), ANSWER_S)
    probe = socket.socket(socket.AF_UNIX)
    probe.settimeout(ANSWER_S)
    try:
        probe.connect(f"{host}/.s.PGSQL.{port}")
    except OSError:
        probe.close()
        raise
    return probe
