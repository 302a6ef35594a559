"""Clients that belong to an event loop: one each, made on first use, forgotten with the loop."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """`get()` gives the running loop's own instance; `take()` hands it over for closing."""

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._instances: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def get(self) -> T:
        loop = asyncio.get_running_loop()
        instance = self._instances.get(loop)
        if instance is None:
            instance = self._instances[loop] = self._build()
        return instance

    def take(self) -> T | None:
        """The running loop's instance, forgotten here; None if there was none."""
        return self._instances.pop(asyncio.get_running_loop(), None)

    def everywhere(self) -> list[tuple[asyncio.AbstractEventLoop, T]]:
        """The instances of all loops of this process; for other threads."""
        return list(self._instances.items())
