"""Equal work at once: one does it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from documents.flights import SingleFlight
from knowlex.common.errors import DatabaseUnavailable, KnowlexError, UnreadableDocument
from tests.support.waiting import wait_until


class Work:
    """Blocks until released, then returns or raises; knows how often it was begun."""

    def __init__(self, *endings: Callable[[], str]) -> None:
        self.begun, self.go, self._endings = 0, Event(), endings

    def __call__(self) -> str:
        self.begun += 1
        ending = self._endings[min(self.begun, len(self._endings)) - 1]
        assert self.go.wait(10)
        return ending()


def fail(error: KnowlexError) -> Callable[[], str]:
    def raise_it() -> str:
        raise error

    return raise_it


def run_together(work: Work, number: int = 5) -> list[str]:
    """What each of `number` callers with the same key got: the result or the error's class."""
    flights: SingleFlight[str] = SingleFlight()
    boarding: list[int] = []

    def call(caller: int) -> str:
        boarding.append(caller)
        try:
            return flights.run("key", work)
        except KnowlexError as exc:
            return type(exc).__name__

    with ThreadPoolExecutor(number) as threads:
        calls = [threads.submit(call, caller) for caller in range(number)]
        wait_until(lambda: len(boarding) == number and work.begun)
        work.go.set()
        return [call.result(10) for call in calls]


def test_those_who_waited_learn_that_the_document_is_unreadable() -> None:
    work = Work(fail(UnreadableDocument("no text")))

    results = run_together(work)

    assert results == ["UnreadableDocument"] * 5


def test_after_a_passing_failure_the_next_one_tries() -> None:
    work = Work(fail(DatabaseUnavailable("gone")), lambda: "stored")

    results = run_together(work)

    assert sorted(results) == ["DatabaseUnavailable"] + ["stored"] * 4


def test_other_keys_do_not_wait() -> None:
    flights: SingleFlight[str] = SingleFlight()

    assert flights.run("a", lambda: flights.run("b", lambda: "done")) == "done"


def test_unforeseen_exception_frees_the_key() -> None:
    flights: SingleFlight[str] = SingleFlight()
    with pytest.raises(ZeroDivisionError):
        flights.run("key", lambda: str(1 // 0))

    assert flights.run("key", lambda: "free") == "free"
