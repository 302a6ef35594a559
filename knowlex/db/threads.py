"""Database work from threads, through Django's connection: retried, bounded in time, and let go of.

The same for the event loop is knowlex.db.pool.
"""

import logging
import socket
import struct
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, TypeVar

import psycopg
from django.db import InterfaceError, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from knowlex.base.errors import DatabaseUnavailable
from knowlex.base.retry import Retry

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


T = TypeVar("T")
log = logging.getLogger(__name__)

TRANSIENT = (OperationalError, InterfaceError)  # connection lost, deadlock, serialization, no connection free
# No try is begun later than this; a try that cannot connect takes at most 3 s more: 503 within 5 s, with half
# a second to spare for a busy machine.
_RETRY = Retry(retries=3, base_s=0.1, factor=1.0, deadline_s=1.5)


def with_retries(work: Callable[[], T]) -> T:
    """Run `work`, which opens its own transaction (if it needs one) and fetches all it returns.

    A transient failure is tried again up to three times, after 0.1 s each; inside somebody else's
    transaction there is no second try, since only its owner can begin it anew.
    Raises DatabaseUnavailable within 5 s.
    """
    if connection.in_atomic_block:
        return work()
    try:
        return _RETRY.call(lambda: _attempt(work), retry_on=TRANSIENT)
    except TRANSIENT as exc:
        log.error("database unavailable", extra={"error": type(exc).__name__})
        raise DatabaseUnavailable("The database cannot be reached.") from exc


def execute(sql: str, params: Any = None) -> list[tuple[Any, ...]]:
    """All rows of one statement; [] if it returns none."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall() if cursor.description else []


def release_connection() -> None:
    """Give this thread's connection back before a long piece of work; the next query takes another."""
    if not connection.in_atomic_block:
        connection.close()


def _attempt(work: Callable[[], T]) -> T:
    try:
        return work()
    except TRANSIENT:
        connection.close()  # it may be broken; the next try begins with a fresh one
        raise
