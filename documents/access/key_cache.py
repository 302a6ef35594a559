"""Checks keys without asking the database about each wrong one, however many come."""

import asyncio
import time
from collections.abc import Callable

from documents.access import keys
from documents.access.keys import LiveKey
from knowlex.base.errors import DatabaseUnavailable, Unauthorized
from knowlex.web.rate_limit import LocalWindows

REMEMBERED = 10_000  # digests of wrong keys, and of right ones
WRONG_S = 5.0  # so long a wrong key is known to be wrong: one that is put right works that late
RIGHT_S = 600.0
GUESSES, GUESS_WINDOW_S = 100, 60  # wrong keys of an address, after which keys not seen before have to wait:
PACE_S = 0.2
LIMIT_S = 4.8  # for an answer, with the database gone


class Doorkeeper:
    """Of one process. Keys themselves are not remembered, only their digests.

    A key that was right is looked up each time: revoked, it is refused at once. Nobody is locked out for
    others' guesses, which may come from the same address: a new key only waits a moment.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._wrong, self._right = _Recent(WRONG_S, clock), _Recent(RIGHT_S, clock)
        self._guesses = LocalWindows()
        self._lookups = _Lookups()

    async def key_of(self, text: str, address: str) -> LiveKey:
        """Raises Unauthorized; DatabaseUnavailable within 5 s."""
        prefix, digest = keys.prefix_of(text), keys.digest(text)
        if prefix is None or digest in self._wrong:
            raise Unauthorized(keys.REFUSED)
        if digest not in self._right and self._guesses.so_far(address)[0] >= GUESSES:
            await asyncio.sleep(PACE_S)
        key = await self._lookups.find(prefix)
        if key is None or not key.is_opened_by(text):
            self._wrong.add(digest)
            self._guesses.count(address, GUESS_WINDOW_S)
            raise Unauthorized(keys.REFUSED)
        self._right.add(digest)
        return key


class _Lookups:
    """One statement at a time; whoever comes meanwhile shares the next one, a crowd in all."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[LiveKey | None]] = {}
        self._running: asyncio.Task[None] | None = None

    async def find(self, prefix: str) -> LiveKey | None:
        found = self._waiting.setdefault(prefix, asyncio.get_running_loop().create_future())
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        try:
            async with asyncio.timeout(LIMIT_S):
                return await asyncio.shield(found)
        except TimeoutError:
            raise DatabaseUnavailable("The database did not answer in time.", retry_after_s=5) from None

    async def _run(self) -> None:
        while self._waiting:
            asked, self._waiting = self._waiting, {}
            try:
                live = await keys.live_keys(list(asked))
            except Exception as exc:  # noqa: BLE001 (told to all who wait, who raise it)
                _fail(asked, exc)
            else:
                for prefix, future in asked.items():
                    future.set_result(live.get(prefix))


def _fail(asked: dict[str, asyncio.Future[LiveKey | None]], exc: Exception) -> None:
    for future in asked.values():
        future.set_exception(exc)
        future.exception()  # looked at: those who waited may all have left


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
