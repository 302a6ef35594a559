"""Database work from threads, through Django's connection: retries, renewed leases, a server that hangs.

The same for the event loop is knowlex.db.pool.
"""

import logging
import socket
import struct
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from threading import Event, Thread
from types import TracebackType
from typing import Any, TypeVar

import psycopg
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from knowlex.base.errors import DatabaseUnavailable
from knowlex.base.retry import Retry

T = TypeVar("T")
log = logging.getLogger(__name__)

TRANSIENT = (OperationalError, InterfaceError)  # connection lost, deadlock, serialization, no connection free
# No try is begun later than this; a try that cannot connect takes at most 3 s more: 503 within 5 s, with half
# a second to spare for a busy machine.
_RETRY = Retry(retries=3, base_s=0.1, factor=1.0, deadline_s=1.5)


def with_retries(work: Callable[[], T], *, reader: Sequence[str] | None = None) -> T:
    """Run `work`, which opens its own transaction (if it needs one) and fetches all it returns.

    A transient failure is tried again up to three times, after 0.1 s each; inside somebody else's
    transaction there is no second try, since only its owner can begin it anew. reader: the principals of a
    caller with limits, for whom the database itself hides documents; only for work that reads.
    Raises DatabaseUnavailable within 5 s.
    """
    if connection.in_atomic_block:
        return work()
    try:
        return _RETRY.call(lambda: _attempt(work, reader), retry_on=TRANSIENT)
    except TRANSIENT as exc:
        log.error("database unavailable", extra={"error": type(exc).__name__})
        raise DatabaseUnavailable("The database cannot be reached.") from exc


def execute(sql: str, params: Any = None) -> list[tuple[Any, ...]]:
    """Return all rows of one statement; [] if it returns none."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall() if cursor.description else []


def release_connection() -> None:
    """Give this thread's connection back before a long piece of work; the next query takes another."""
    if not connection.in_atomic_block:
        connection.close()


def _attempt(work: Callable[[], T], reader: Sequence[str] | None) -> T:
    try:
        if reader is None:
            return work()
        with transaction.atomic():
            execute("SELECT documents_read_as(%s::text[])", [list(reader)])
            return work()
    except TRANSIENT:
        connection.close()  # it may be broken; the next try begins with a fresh one
        raise


RENEWAL_S = 3.0


class Heartbeat:
    """Calls `renew` while the block runs, in a thread with a database connection of its own.

    A lease that could not be renewed in time ends; what was done under it is then thrown away.
    """

    def __init__(self, renew: Callable[[], object]) -> None:
        self._renew_lease = renew
        self._done = Event()
        self._thread = Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join(5)

    def _beat(self) -> None:
        try:
            while not self._done.wait(RENEWAL_S):
                self._renew()
        finally:
            connection.close()

    def _renew(self) -> None:
        try:
            with_retries(self._renew_lease)
        except DatabaseUnavailable:
            log.warning("a lease could not be renewed")


PATIENCE_S = 0.5  # of silence before the server is asked; then after as long again
ANSWER_S = 1.0  # with the time to connect anew, callers still answer 503 within 5 s
SSL_REQUEST = struct.pack("!ii", 8, 80877103)  # PostgreSQL answers it with one byte, before anything else


def notice_silence() -> None:
    """Make statements of this process raise OperationalError, from now on, once their server is found dead.

    libpq itself waits for an answer for ever. A slow statement must not be cut off, so a silent server is
    first asked on a fresh socket whether it is alive. psycopg has no hook for it, so its `wait` is replaced:
    tests/faults/test_database.py, test_a_database_that_hangs_is_told_within_5_s_and_used_again_after.
    """
    connection_created.connect(_watch, dispatch_uid="knowlex.silence")


def _watch(connection: BaseDatabaseWrapper, **_: Any) -> None:
    raw: psycopg.Connection[Any] = connection.connection
    wait = raw.wait

    def watched(gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        return wait(_unless_silent(gen, raw), *args, **kwargs)

    raw.wait = watched  # type: ignore[method-assign]


def _unless_silent(gen: Generator[Any, Any, Any], raw: "psycopg.Connection[Any]") -> Generator[Any, Any, Any]:
    """Return the same generator of a psycopg operation; it is sent something false when nothing has come."""
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
