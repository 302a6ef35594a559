"""Which questions are worked on now, which wait, and which are told to come again. Plain Python.

This process works on some questions at a time, first come, first served; while a server elsewhere has one (a
chat model that writes, an embedding model), the next one has its turn. More at a time would make each of them
wait in every step, and those who are to be refused, too. For how long one that comes is here is expected from
those that ended lately: if each was here for s seconds for each of the n that were here when it came, itself
included, it will be (n + 1) * s. So s follows by itself what the questions, the machine and its other work
make of it, and one that is expected to be here for too long is refused before anything is done for it.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

from knowlex.base.errors import DependencyUnavailable

AT_ONCE = 32
KEPT = 0.98  # of what was measured, with each question that ends: the last fifty count for most of it
FIRST_S, FIRST_WEIGHT = 0.02, 1000.0  # s while nothing is measured, and the sum of n that it stands for
RETRY_AFTER_S = 5


class AdmittedQuestion:
    """Of one question that was let in. came: when, by `time.monotonic()`. counts: it is like others."""

    __slots__ = ("_admission", "_away_s", "_crowd", "_left", "_left_at", "came", "counts")

    def __init__(self, admission: "Admission", crowd: int) -> None:
        self._admission, self._crowd = admission, crowd
        self.came, self._away_s = monotonic(), 0.0
        self._left_at: float | None = None
        self._left = False
        self.counts = True

    def step_out(self) -> bool:
        """Return whether it was at work."""
        if self._left_at is not None or self._left:
            return False
        self._left_at = monotonic()
        self._admission.give_turn_back()
        return True

    def step_in(self) -> None:
        """Go on at once: what is nearly done does not wait for what has not begun."""
        if self._left_at is not None and not self._left:
            self._away_s += monotonic() - self._left_at
            self._left_at = None
            self._admission.at_work += 1

    def leave(self, *, served: bool) -> None:
        """served: it took what questions take, unlike one that was refused for what it asked."""
        self.step_out()
        self._left = True
        if served and self.counts and self._left_at is not None:
            self._admission.note(self._left_at - self.came - self._away_s, self._crowd)


class Admission:
    """Of one event loop. limit_s: how long a question may be expected to be here."""

    def __init__(self, limit_s: float, at_once: int = AT_ONCE) -> None:
        self._limit_s, self._at_once = limit_s, at_once
        self.at_work = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._here_s, self._crowds = FIRST_S * FIRST_WEIGHT, FIRST_WEIGHT

    @property
    def crowd(self) -> int:
        return self.at_work + len(self._waiting)

    @property
    def expected_s(self) -> float:
        """Return for how long one that came now would be here."""
        return (self.crowd + 1) * self._here_s / self._crowds

    async def enter(self) -> AdmittedQuestion:
        """Wait for a turn. Raises DependencyUnavailable at once for a question too many."""
        if self.crowd >= self._at_once and self.expected_s > self._limit_s:
            raise DependencyUnavailable("The server is busy, try again later.", retry_after_s=RETRY_AFTER_S)
        place = AdmittedQuestion(self, self.crowd + 1)
        if self.at_work < self._at_once:
            self.at_work += 1
            return place
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.give_turn_back()
            raise
        return place

    def give_turn_back(self) -> None:
        self.at_work -= 1
        while self._waiting and self.at_work < self._at_once:
            turn = self._waiting.popleft()
            if not turn.cancelled():
                self.at_work += 1
                turn.set_result(None)

    def note(self, here_s: float, crowd: int) -> None:
        """Note a question that ended. crowd: how many were here when it came, itself included."""
        self._here_s = self._here_s * KEPT + here_s
        self._crowds = self._crowds * KEPT + crowd


_place: ContextVar[AdmittedQuestion | None] = ContextVar("place", default=None)


@contextmanager
def holding(place: AdmittedQuestion) -> Iterator[None]:
    """Have `elsewhere` and `came` know of the place, in this context."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


@contextmanager
def elsewhere() -> Iterator[None]:
    """While another server has the question, there is room for the next one."""
    place = _place.get()
    if place is None or not place.step_out():
        yield
        return
    try:
        yield
    finally:
        place.step_in()


def leave_out_of_estimate() -> None:
    """Say that what is served is no question: how long it takes tells nothing of how long questions do."""
    place = _place.get()
    if place is not None:
        place.counts = False


def came() -> float:
    """Return when the question came that is being worked on, by `time.monotonic()`; else now."""
    place = _place.get()
    return monotonic() if place is None else place.came
