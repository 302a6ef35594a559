"""Who is served now and who is told to come again, by how long questions take at the moment. Plain Python.

A question is worked on by this process, except while a chat model writes. For how long a new one will be is
expected from those that ended lately: with n at work when it came, itself included, each took s seconds for
each of the n, so the next one takes (n + 1) * s. That is Little's law for a server that shares itself among
all; s follows by itself what the questions, the machine and its other work make of it. One that is expected
to take too long is refused before anything is done for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

from knowlex.base.errors import DependencyUnavailable

LEAST = 32  # at work at once, whatever is expected: what takes long and is not crowded needs no refusal
KEPT = 0.98  # of what was measured, with each question that ends: the last fifty count for most of it
FIRST_S = 0.02  # for each question at work, while nothing is measured
RETRY_AFTER_S = 5
REMEMBERED = 1000.0  # what FIRST_S weighs: n, summed over those that ended


class Place:
    """Of one question, from `Admission.enter` to `leave`."""

    __slots__ = ("_admission", "_begun", "_left", "_together", "_worked_s", "_working")

    def __init__(self, admission: "Admission") -> None:
        self._admission, self._working, self._left, self._worked_s = admission, False, False, 0.0
        self.step_in()
        self._together = admission.at_work

    def step_in(self) -> None:
        if not (self._working or self._left):
            self._admission.at_work += 1
            self._working, self._begun = True, monotonic()

    def step_out(self) -> bool:
        """Return whether it was at work."""
        if not self._working:
            return False
        self._admission.at_work -= 1
        self._working = False
        self._worked_s += monotonic() - self._begun
        return True

    def leave(self, *, served: bool) -> None:
        """served: it took what questions take, unlike one that was refused for what it asked."""
        self.step_out()
        self._left = True
        if served:
            self._admission.note(self._worked_s, self._together)


class Admission:
    """Of one process. limit_s: what a question may be expected to be worked on."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s, self.at_work = limit_s, 0
        self._worked_s, self._together = FIRST_S * REMEMBERED, REMEMBERED

    @property
    def expected_s(self) -> float:
        """Return for how long one that came now would be worked on."""
        return (self.at_work + 1) * self._worked_s / self._together

    def enter(self) -> Place:
        """Raises DependencyUnavailable for one too many."""
        if self.at_work >= LEAST and self.expected_s > self.limit_s:
            raise DependencyUnavailable("The server is busy, try again later.", retry_after_s=RETRY_AFTER_S)
        return Place(self)

    def note(self, worked_s: float, together: int) -> None:
        """Note a question that ended. together: how many were at work when it came, itself included."""
        self._worked_s = self._worked_s * KEPT + worked_s
        self._together = self._together * KEPT + together


_place: ContextVar[Place | None] = ContextVar("place", default=None)


@contextmanager
def holding(place: Place) -> Iterator[None]:
    """Have `elsewhere` know of the place, in this context."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


@contextmanager
def elsewhere() -> Iterator[None]:
    """While somebody else works at the question, a chat model's server: that leaves room here."""
    place = _place.get()
    if place is None or not place.step_out():
        yield
        return
    try:
        yield
    finally:
        place.step_in()
