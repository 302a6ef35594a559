"""Tokens of models by UTC day, in Valkey, for all processes together: of all, and of keys with a ceiling.

Only what has a ceiling is counted. What is under way when a ceiling is reached is finished, so that a day can
take a little more than that. While Valkey is away nothing is counted and nothing refused.
"""

import logging
import time
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from redis.exceptions import RedisError

from knowlex.base.errors import DailyTokensSpent
from knowlex.base.event_loops import PerLoop
from knowlex.runtime import background
from knowlex.runtime.valkey import Valkey, Word

log = logging.getLogger(__name__)
TIMEOUT_S = 0.5
PAUSE_S = 2.0  # after a failure Valkey is left alone, so that its absence delays one question, not each
KEPT_S = 2 * 24 * 3600
LATER = "ask again after midnight UTC."


@dataclass(frozen=True, slots=True)
class Spender:
    """An API key with a ceiling of its own."""

    key_id: UUID
    daily_tokens: int


_spender: ContextVar[Spender | None] = ContextVar("spender", default=None)


def charge_to(spender: Spender | None) -> None:
    """Count what this request spends for this key, too, from now on."""
    _spender.set(spender)


class DailyTokens:
    """The ledger of `knowlex.base.spending`. Raises nothing but DailyTokensSpent."""

    def __init__(self) -> None:
        self._clients: PerLoop[Valkey] = PerLoop(lambda: Valkey(settings.REDIS_URL, TIMEOUT_S))
        self._away_until = 0.0

    async def require_tokens(self) -> None:
        limits = _limits()
        replies = await self._ask([("GET", limit.counter) for limit in limits]) if limits else None
        for limit, spent in zip(limits, replies or [], strict=False):
            if int(spent or 0) >= limit.ceiling:
                raise DailyTokensSpent(limit.refusal, retry_after_s=_seconds_left_today())

    async def add(self, tokens: int) -> None:
        counters = [limit.counter for limit in _limits()]
        if counters:
            await self._ask([command for key in counters for command in _add(key, tokens)])

    async def spent(self) -> int | None:
        """Return what was spent today by all; None where there is no ceiling, or Valkey is away."""
        if settings.DAILY_TOKENS is None:
            return None
        replies = await self._ask([("GET", _counter())])
        return None if replies is None else int(replies[0] or 0)

    async def is_spent(self) -> bool:
        """Tell whether the ceiling of all is reached."""
        return (await self.spent() or 0) >= (settings.DAILY_TOKENS or float("inf"))

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        client = self._clients.take()
        if client is not None:
            await client.close()

    async def _ask(self, commands: Sequence[Sequence[Word]]) -> list[Any] | None:
        if time.monotonic() < self._away_until:
            return None
        try:
            return await self._clients.get().ask_all(commands)
        except (RedisError, OSError, TimeoutError) as exc:
            self._away_until = time.monotonic() + PAUSE_S
            log.warning("tokens are not counted", extra={"error": type(exc).__name__})
            return None


@dataclass(frozen=True, slots=True)
class _Limit:
    """counter: the name in Valkey. refusal: said when the ceiling is reached."""

    counter: str
    ceiling: int
    refusal: str


def _limits() -> list[_Limit]:
    """Return what holds for this request, if anything does."""
    limits, spender = [], _spender.get()
    if settings.DAILY_TOKENS is not None:
        limits.append(_Limit(_counter(), settings.DAILY_TOKENS, f"The day's tokens are spent, {LATER}"))
    if spender is not None:
        refusal = f"This API key's {spender.daily_tokens} tokens a day are spent, {LATER}"
        limits.append(_Limit(f"{_counter()}:{spender.key_id}", spender.daily_tokens, refusal))
    return limits


def _counter() -> str:
    return f"knowlex:tokens:{datetime.now(UTC):%Y-%m-%d}"


def _add(counter: str, tokens: int) -> tuple[tuple[Word, ...], ...]:
    return ("INCRBY", counter, tokens), ("EXPIRE", counter, KEPT_S)


def _seconds_left_today() -> int:
    now = datetime.now(UTC)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return int((midnight - now).total_seconds()) + 1


daily_tokens = DailyTokens()
background.before_end(daily_tokens.aclose)
