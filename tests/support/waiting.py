"""Waiting for a condition instead of sleeping for a guess."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(condition: Callable[[], T], timeout_s: float = 30.0, what: str = "the condition") -> T:
    """Poll until the condition is true and return its value; fails, naming `what`, when time is up.

    timeout_s: patience with a crowded machine, unless how soon it is true is what is tested.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"Waited {timeout_s:g} s in vain for {what}; last value: {value!r}")
        time.sleep(0.02)
