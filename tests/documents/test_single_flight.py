"""Equal work at once: one does it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from documents.ingest.single_flight import SingleFlight
from knowlex.base.errors import DependencyUnavailable, KnowlexError, UnreadableDocument
from tests.support.waiting import wait_until


class Work:
    """Blocks until released, then returns or raises; knows how often it was begun."""

    def __init__(self, *endings: Callable[[], str]) -> None:
        self.begun, self.go, self._endings = 0, Event(), endings

    def __call__(self) -> str:
        self.begun += 1
        ending = self._endings[min(self.begun, len(self._endings)) - 1]
        assert self.go.wait(60)
        return ending()


def fail(error: KnowlexError) -> Callable[[], str]:
    def raise_it() -> str:
        raise error

    return raise_it


class Key:
    """Knows how often it was looked up, which happens under the lock: who looked waits for this flight."""

    def __init__(self) -> None:
        self.lookups = 0

    def __hash__(self) -> int:
        self.lookups += 1
        return 1


def run_together(work: Work, number: int = 5) -> list[Any]:
    """What each of `number` callers with the same key got: the result or the error."""
    flights: SingleFlight[str] = SingleFlight()
    key = Key()

    def call(caller: int) -> str | KnowlexError:
        try:
            return flights.run(key, work)
        except KnowlexError as exc:
            return exc

    with ThreadPoolExecutor(number) as threads:
        calls = [threads.submit(call, caller) for caller in range(number)]
        wait_until(lambda: key.lookups == number + 1)  # the one that works looks twice
        work.go.set()
        return [call.result(60) for call in calls]


@pytest.mark.parametrize(
    "error", [UnreadableDocument("no text"), DependencyUnavailable("busy", retry_after_s=7)]
)
def test_those_who_waited_share_the_refusal(error: KnowlexError) -> None:
    results = run_together(Work(fail(error), lambda: "never"))

    assert [type(result) for result in results] == [type(error)] * 5
    assert {result.message for result in results} == {error.message}
    assert {getattr(result, "retry_after_s", None) for result in results} == {
        getattr(error, "retry_after_s", None)
    }


def test_after_any_other_failure_the_next_one_tries() -> None:
    results = run_together(Work(fail(KnowlexError("a bug")), lambda: "stored"))

    assert sorted(str(result) for result in results) == ["a bug"] + ["stored"] * 4


def test_other_keys_do_not_wait() -> None:
    flights: SingleFlight[str] = SingleFlight()

    assert flights.run("a", lambda: flights.run("b", lambda: "done")) == "done"


def test_unforeseen_exception_frees_the_key() -> None:
    flights: SingleFlight[str] = SingleFlight()
    with pytest.raises(ZeroDivisionError):
        flights.run("key", lambda: str(1 // 0))

    assert flights.run("key", lambda: "free") == "free"
