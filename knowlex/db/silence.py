"""A database that hangs: its connections stay open, and nothing answers. libpq would wait for ever.

A slow statement must not be cut off, so a server that is silent is asked on a fresh socket whether it is
alive: PostgreSQL answers the question for TLS with one byte, before anything else.
"""

import asyncio
import socket
import struct
import time
from collections.abc import Coroutine, Generator, Mapping
from typing import Any, Literal, TypeVar

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from knowlex.base.errors import DatabaseUnavailable
from knowlex.base.event_loops import PerLoop
from knowlex.base.time_limits import finish_within

T = TypeVar("T")

PATIENCE_S = 0.5  # of silence before the server is asked; then after as long again
ANSWER_S = 1.0  # with the time to connect anew, callers still answer 503 within 5 s
# PostgreSQL ends a session whose host has left it without any answer for 20 s, and with it its locks.
LET_GO_OF_LOST_HOSTS = """
    SELECT set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '5', false),
        set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '20s', false)
"""
State = Literal["alive", "silent", "absent"]  # absent: refuses, as while it starts
SSL_REQUEST = struct.pack("!ii", 8, 80877103)


def notice_silence() -> None:
    """Make statements of this process raise OperationalError, from now on, once their server is found dead.

    psycopg has no hook for it, so its `wait` is replaced:
    tests/faults/test_database.py, test_a_database_that_hangs_is_told_within_5_s_and_used_again_after.
    """
    connection_created.connect(_watch, dispatch_uid="knowlex.silence")


def free_locks_of_lost_hosts() -> None:
    """Have PostgreSQL notice, in each session that comes from now on, that this host is gone.

    By itself it waits for two hours, and whatever a transaction has locked, such as the turn to claim a
    document, is locked for all others (tests/scaling/test_hosts.py).
    """
    connection_created.connect(_limit_absence, dispatch_uid="knowlex.absence")


def _limit_absence(connection: BaseDatabaseWrapper, **_: Any) -> None:
    raw: psycopg.Connection[Any] = connection.connection
    if not raw.info.host.startswith("/"):
        raw.execute(LET_GO_OF_LOST_HOSTS)


async def finish_unless_silent(
    work: Coroutine[Any, Any, T], *, within_s: float, database: Mapping[str, Any]
) -> T:
    """Return the work's result, as `finish_within` does. Raises DatabaseUnavailable, too, once the server has
    left two questions in a row unanswered. database: as in Django's DATABASES.
    """

    async def until_silent() -> None:
        silent = 0
        while silent < 2:
            silent = silent + 1 if await _probes.get().ask(database) == "silent" else 0
            if not silent:
                await asyncio.sleep(PATIENCE_S)

    try:
        return await finish_within(
            work, within_s=within_s, until_hopeless=until_silent, patience_s=PATIENCE_S
        )
    except TimeoutError:
        raise DatabaseUnavailable("The database did not answer in time.", retry_after_s=5) from None


class _Probes:
    """The questions of one event loop: all who wait share the answer to one."""

    def __init__(self) -> None:
        self._running: asyncio.Task[State] | None = None

    async def ask(self, database: Mapping[str, Any]) -> "State":
        if self._running is None or self._running.done():
            asking = asyncio.to_thread(_ask, database["HOST"], "", int(database["PORT"] or 5432))
            self._running = asyncio.create_task(asking)
        return await asyncio.shield(self._running)


_probes: PerLoop[_Probes] = PerLoop(_Probes)


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
                if _ask(raw.info.host, raw.info.hostaddr, raw.info.port) != "alive":
                    raise psycopg.OperationalError("the database does not answer")
                heard = time.monotonic()
            state = gen.send(ready)
    except StopIteration as stop:
        return stop.value


def _ask(host: str, address: str, port: int) -> State:
    """host: as libpq names it, a folder for a Unix socket; address: its IP address, or ""."""
    try:
        with _connect(host, address, port) as probe:
            probe.sendall(SSL_REQUEST)
            return "alive" if probe.recv(1) else "absent"
    except (TimeoutError, BlockingIOError):  # the second: so many wait already that no more are let in
        return "silent"
    except OSError:
        return "absent"


def _connect(host: str, address: str, port: int) -> socket.socket:
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
