"""Clients that belong to an event loop: one each, made on first use, forgotten with the loop."""

import asyncio
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """`get()` gives the running loop's own instance; `take()` hands it over for closing."""

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._instances: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        self._changing = Lock()  # a loop may begin in one thread while another one looks at all of them

    def get(self) -> T:
        loop = asyncio.get_running_loop()
        instance = self._instances.get(loop)
        if instance is None:
            instance = self._build()
            with self._changing:
                self._instances[loop] = instance
        return instance

    def take(self) -> T | None:
        """Remove and return the running loop's instance; None if there was none."""
        with self._changing:
            return self._instances.pop(asyncio.get_running_loop(), None)

    def everywhere(self) -> list[tuple[asyncio.AbstractEventLoop, T]]:
        """Return the instances of all loops of this process; for other threads."""
        with self._changing:
            return list(self._instances.items())
