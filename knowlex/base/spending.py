"""What models may take a day, for who calls them; `knowlex.runtime.spending` counts. Plain Python."""

from typing import Protocol

BYTES_PER_TOKEN = 4  # of English in UTF-8, OpenAI's rule of thumb; where a server does not say


class Ledger(Protocol):
    """Counts the tokens of a day, and knows who may spend how many."""

    async def require_tokens(self) -> None:
        """Raise DailyTokensSpent if nothing is left today."""
        ...

    async def add(self, tokens: int) -> None:
        """Count tokens that a model has taken. Raises nothing."""
        ...

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        ...


_ledger: Ledger | None = None


def keep_in(ledger: Ledger) -> None:
    """Have all models of this process counted here; without it nothing is limited."""
    global _ledger
    _ledger = ledger


async def require_tokens() -> None:
    """Raise DailyTokensSpent if nothing is left today."""
    if _ledger is not None:
        await _ledger.require_tokens()


async def add(told: object, *, text_bytes: int) -> None:
    """Count what a model has taken. told: by its server; text_bytes: of prompt and reply, for an estimate
    where that is no positive number.
    """
    if _ledger is not None:
        estimate = -(-text_bytes // BYTES_PER_TOKEN)
        await _ledger.add(told if isinstance(told, int) and 0 < told < 2**31 else estimate)


async def aclose() -> None:
    """Close this event loop's connections."""
    if _ledger is not None:
        await _ledger.aclose()
