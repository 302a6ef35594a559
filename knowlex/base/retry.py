"""The only retry loop of Knowlex: SDK retries are off, and Celery retries nothing."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Retry:
    """Try once and then up to `retries` more times, waiting `base_s`, 2 x, 4 x ... in between.

    factor 1.0 gives constant waits. A failure that carries `retry_after_s` (a server's `Retry-After`)
    waits at least that long; one that asks for more than `max_wait_s` is not retried at all.
    `deadline_s` bounds the whole, waits included, from the first try: a wait that would pass it is not begun.
    """

    retries: int
    base_s: float
    factor: float = 2.0
    max_wait_s: float = 30.0
    deadline_s: float | None = None

    def call(self, attempt: Callable[[], T], *, retry_on: tuple[type[Exception], ...]) -> T:
        """Run `attempt`; raises what the last try raised."""
        started = time.monotonic()
        for tried in range(self.retries + 1):
            try:
                return attempt()
            except retry_on as exc:
                time.sleep(self.wait_or_raise(exc, tried, started))
        raise AssertionError("unreachable: the last try returns or raises")

    async def acall(self, attempt: Callable[[], Awaitable[T]], *, retry_on: tuple[type[Exception], ...]) -> T:
        """Run a coroutine function likewise, waiting without holding a thread."""
        started = time.monotonic()
        for tried in range(self.retries + 1):
            try:
                return await attempt()
            except retry_on as exc:
                await asyncio.sleep(self.wait_or_raise(exc, tried, started))
        raise AssertionError("unreachable: the last try returns or raises")

    def wait_or_raise(self, exc: Exception, tried: int, started: float) -> float:
        """Return the seconds until the next try, after `tried` retries.

        started: when the first try began, by `time.monotonic()`.
        Raises the failure if there is to be none.
        """
        wait = max(self.base_s * self.factor**tried, getattr(exc, "retry_after_s", None) or 0.0)
        elapsed = time.monotonic() - started
        out_of_time = self.deadline_s is not None and elapsed + wait >= self.deadline_s
        if tried >= self.retries or wait > self.max_wait_s or out_of_time:
            raise exc
        log.warning("retrying", extra={"error": type(exc).__name__, "try": tried + 1, "wait_s": wait})
        return wait


def retry_after_seconds(header: str) -> float | None:
    """Return the header's seconds or HTTP date as seconds from now, at least 0; None if it is neither."""
    try:
        return max(0.0, float(header)) if float(header) < float("inf") else None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError, TypeError):
        return None
