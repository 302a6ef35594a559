"""Tokens of models by UTC day, in Valkey, for all processes together: of all, and of keys with a ceiling.

Only what has a ceiling is counted. What is under way when a ceiling is reached is finished, so that a day can
take a little more than that. While Valkey is away nothing is counted and nothing refused.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.conf import settings

from knowlex.base.errors import DailyTokensSpent
from knowlex.runtime import background
from knowlex.runtime.valkey import OptionalValkey, Word

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
        self._valkey = OptionalValkey(timeout_s=TIMEOUT_S, rest_s=PAUSE_S, without="tokens are not counted")

    async def require_tokens(self) -> None:
        ceilings = _ceilings()
        if not ceilings:
            return
        replies = await self._valkey.ask_all(*(("GET", ceiling.counter) for ceiling in ceilings))
        for ceiling, spent in zip(ceilings, replies or [], strict=False):
            if int(spent or 0) >= ceiling.tokens:
                raise DailyTokensSpent(ceiling.refusal, retry_after_s=_seconds_left_today())

    async def add(self, tokens: int) -> None:
        counters = [ceiling.counter for ceiling in _ceilings()]
        if counters:
            await self._valkey.ask_all(*(command for key in counters for command in _add(key, tokens)))

    async def spent(self) -> int | None:
        """Return what was spent today by all; None where there is no ceiling, or Valkey is away."""
        if settings.DAILY_TOKENS is None:
            return None
        replies = await self._valkey.ask_all(("GET", _counter()))
        return None if replies is None else int(replies[0] or 0)

    async def is_spent(self) -> bool:
        """Tell whether the ceiling of all is reached."""
        return (await self.spent() or 0) >= (settings.DAILY_TOKENS or float("inf"))

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        await self._valkey.close()


@dataclass(frozen=True, slots=True)
class _Ceiling:
    """counter: the name in Valkey. refusal: said when the ceiling is reached."""

    counter: str
    tokens: int
    refusal: str


def _ceilings() -> list[_Ceiling]:
    """Return what holds for this request, if anything does."""
    ceilings, spender = [], _spender.get()
    if settings.DAILY_TOKENS is not None:
        ceilings.append(_Ceiling(_counter(), settings.DAILY_TOKENS, f"The day's tokens are spent, {LATER}"))
    if spender is not None:
        refusal = f"This API key's {spender.daily_tokens} tokens a day are spent, {LATER}"
        ceilings.append(_Ceiling(f"{_counter()}:{spender.key_id}", spender.daily_tokens, refusal))
    return ceilings


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
