"""Database work from threads, through Django's connection: retried, bounded in time, and let go of.

The same for the event loop is knowlex.db.pool.
"""

import logging
from collections.abc import Callable
from contextlib import closing
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection

from knowlex.base.errors import DatabaseUnavailable
from knowlex.base.retry import Retry

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
