"""Checks keys without asking the database about each wrong one, however many come."""

import time
from collections.abc import Callable

from documents import keys
from documents.keys import KeyHolder
from knowlex.common.errors import RateLimited, Unauthorized
from knowlex.common.ratelimit import LocalWindows

REMEMBERED = 10_000  # digests of wrong keys, and of right ones
WRONG_S = 5.0  # so long a wrong key is known to be wrong: one that is put right works that late
RIGHT_S = 600.0
GUESSES, GUESS_WINDOW_S = (
    300,
    60,
)  # wrong keys of an address, after which keys not seen before are not looked up


class Doorkeeper:
    """Of one process. Keys themselves are not remembered, only their digests.

    A key that was right is looked up each time: revoked, it is refused at once.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._wrong, self._right = _Recent(WRONG_S, clock), _Recent(RIGHT_S, clock)
        self._guesses = LocalWindows()

    async def holder_of(self, key: str, address: str) -> KeyHolder:
        """Raises Unauthorized, RateLimited (too many wrong keys from here), DatabaseUnavailable."""
        if not keys.is_well_formed(key):
            raise Unauthorized(keys.REFUSED)
        digest = keys.digest(key)
        if digest in self._wrong:
            raise Unauthorized(keys.REFUSED)
        if digest not in self._right:
            self._check_guesses(address)
        holder = await keys.authenticate(key)
        if holder is None:
            self._wrong.add(digest)
            self._guesses.count(address, GUESS_WINDOW_S)
            raise Unauthorized(keys.REFUSED)
        self._right.add(digest)
        return holder

    def _check_guesses(self, address: str) -> None:
        count, left_s = self._guesses.so_far(address)
        if count >= GUESSES:
            raise RateLimited("Too many wrong API keys, try again later.", retry_after_s=int(left_s) + 1)


class _Recent:
    """A bounded set whose members are forgotten after a while, the oldest first."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds, self._clock = seconds, clock
        self._until: dict[str, float] = {}

    def __contains__(self, member: str) -> bool:
        return self._until.get(member, 0.0) > self._clock()

    def add(self, member: str) -> None:
        self._until.pop(member, None)  # so that it goes to the end
        if len(self._until) >= REMEMBERED:
            del self._until[next(iter(self._until))]
        self._until[member] = self._clock() + self._seconds
