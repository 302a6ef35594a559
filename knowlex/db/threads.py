"""Database work from threads, through Django's connection: retries and renewed leases.

The same for the event loop is knowlex.db.pool.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import Any, TypeVar

import psycopg
from django.db import InterfaceError, InternalError, OperationalError, connection, transaction

from knowlex.base.errors import DatabaseUnavailable
from knowlex.base.retry import Retry

T = TypeVar("T")
log = logging.getLogger(__name__)

TRANSIENT = (OperationalError, InterfaceError)  # connection lost, deadlock, serialization, no connection free
# No try is begun later than this. A server that hangs is found silent after 1.5 s, and connecting anew takes
# 2 s more (knowlex.settings): 503 within 5 s, with a second to spare for a busy machine.
FRESH_S = 1.0  # that a failure counts for those who waited
_RETRY = Retry(retries=3, base_s=0.1, factor=1.0, deadline_s=1.5)


@dataclass(slots=True)
class _Outcomes:
    """When this process last did without the database, and with it, by `time.monotonic()`."""

    failed_at: float = float("-inf")
    served_at: float = float("-inf")


_last = _Outcomes()
_waited: ContextVar[tuple[float, float]] = ContextVar("waited", default=(float("inf"), float("inf")))


def note_wait(since: float) -> None:
    """Note that this context's work had to wait for its turn, from `since` (`time.monotonic()`) until now.

    Should the database have been found gone meanwhile, `with_retries` does not try once more: finding out
    takes seconds, and would add up from one who waits to the next.
    """
    _waited.set((min(since, _waited.get()[0]), monotonic()))


def with_retries(work: Callable[[], T], *, reader: Sequence[str] | None = None) -> T:
    """Run `work`, which opens its own transaction (if it needs one) and fetches all it returns.

    A transient failure is tried again up to three times, after 0.1 s each; inside somebody else's
    transaction there is no second try, since only its owner can begin it anew. reader: the principals of a
    caller with limits, for whom the database itself hides documents; only for work that reads.
    Raises DatabaseUnavailable within 5 s; at once where this context has just found it gone.
    """
    if connection.in_atomic_block:
        return work()
    if _was_found_gone():
        raise DatabaseUnavailable("The database cannot be reached.")
    try:
        result = _RETRY.call(lambda: _attempt(work, reader), retry_on=TRANSIENT)
    except TRANSIENT as exc:
        log.error("database unavailable", extra={"error": type(exc).__name__})
        if getattr(exc.__cause__, "sqlstate", None) is None:  # it did not even say what is wrong
            _last.failed_at = monotonic()
            _waited.set((_last.failed_at, _last.failed_at))
        raise DatabaseUnavailable("The database cannot be reached.") from exc
    except InternalError as exc:
        if isinstance(exc.__cause__, psycopg.errors.ReadOnlySqlTransaction):
            raise DatabaseUnavailable("The database takes no writes at the moment.") from exc
        raise
    _last.served_at = monotonic()
    return result


def _was_found_gone() -> bool:
    """Tell if that was just now, while this context waited, and nobody has been served since."""
    since, until = _waited.get()
    fresh = monotonic() - _last.failed_at < FRESH_S
    return fresh and since <= _last.failed_at <= until and _last.served_at < _last.failed_at


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
