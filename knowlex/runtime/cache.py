"""What may be forgotten at any time, in Valkey, for all processes together.

Nobody fails for its sake and nobody waits long: a Valkey that does not answer in TIMEOUT_S is left alone for
REST_S, so that its absence delays one request in a while, not each. KNOWLEX_CACHE=off: nothing is connected.
The broker lives in the same Valkey, whose memory is not for us to fill: each kind of value has a number of
slots, and a new value takes the place of the one that was in its slot.
"""

import asyncio
import hashlib
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.conf import settings
from prometheus_client import Counter

from knowlex.base.event_loops import PerLoop
from knowlex.runtime.metrics import REGISTRY, by_labels
from knowlex.runtime.valkey import OptionalValkey, Word

log = logging.getLogger(__name__)

TIMEOUT_S = 0.2
REST_S = 5.0
MAX_WAITING = 200  # values that are on their way to Valkey; with more, new ones are not kept
GATHERED_S = 0.02  # values that come within it are sent together
AT_ONCE = 10  # to make them all takes a millisecond, in which nobody is served
SLOTS = {"answer": 4096, "question_vector": 16_384}
_DIGEST_BYTES = 32

_lookups = Counter(
    "knowlex_cache_lookups",
    "Answers and questions' vectors looked for.",
    ["kind", "result"],
    registry=REGISTRY,
)
_lookups_of = by_labels(_lookups)


def enabled() -> bool:
    return bool(settings.CACHE)


def count(kind: str, *, hit: bool) -> None:
    _lookups_of(kind, "hit" if hit else "miss").inc()


@dataclass(frozen=True, slots=True)
class _Value:
    """make: None makes nothing."""

    kind: str
    key: str
    make: Callable[[], bytes | None]
    ttl_s: int

    def command(self) -> tuple[Word, ...] | None:
        made = self.make()
        if made is None:
            return None
        digest = _digest(self.key)
        return "SET", _slot(self.kind, digest), digest + made, "EX", self.ttl_s


@dataclass(slots=True)
class _Waiting:
    """Of one event loop: the values on their way, and the task that takes them there."""

    values: deque[_Value] = field(default_factory=deque)
    writing: asyncio.Task[None] | None = None


class SharedCache:
    """Of one process; a client for each event loop."""

    def __init__(self) -> None:
        self._valkey = OptionalValkey(timeout_s=TIMEOUT_S, rest_s=REST_S, without="cache cannot be used")
        self._waiting: PerLoop[_Waiting] = PerLoop(_Waiting)
        self._on_the_way: dict[tuple[str, str], Callable[[], bytes | None]] = {}

    async def get(self, kind: str, key: str) -> bytes | None:
        """Return the value; None if it is not there, or cannot be had in time. kind: of SLOTS.

        Who asks right after a `put` of this process finds it, though Valkey may not have it yet.
        """
        if (made := self._on_the_way.get((kind, key))) is not None:
            return made()
        digest = _digest(key)
        replies = await self._asked(("GET", _slot(kind, digest)))
        found = replies[0] if replies else None
        if not isinstance(found, bytes) or found[:_DIGEST_BYTES] != digest:
            return None
        return found[_DIGEST_BYTES:]

    def put(self, kind: str, key: str, value: Callable[[], bytes | None], ttl_s: int) -> None:
        """Keep what `value` makes (None: nothing; it must not raise) for a while. Nobody waits for it."""
        waiting = self._waiting.get()
        if self._is_away() or len(waiting.values) >= MAX_WAITING:
            return
        self._on_the_way[kind, key] = value
        waiting.values.append(_Value(kind, key, value, ttl_s))
        if waiting.writing is None or waiting.writing.done():
            waiting.writing = asyncio.create_task(self._write(waiting.values))
            waiting.writing.add_done_callback(lambda _: self._forget(waiting.values))

    async def close(self) -> None:
        """This loop's connections, when what is being written is written."""
        waiting = self._waiting.take()
        if waiting is not None and waiting.writing is not None:
            await asyncio.wait([waiting.writing], timeout=GATHERED_S + 2 * TIMEOUT_S)
            waiting.writing.cancel()
        await self._valkey.close()

    async def _write(self, values: deque[_Value]) -> None:
        while values:
            await asyncio.sleep(GATHERED_S)
            batch = list(islice(values, AT_ONCE))
            commands = [command for value in batch if (command := value.command()) is not None]
            if commands:
                await self._asked(*commands)
            for value in batch:
                self._on_the_way.pop((value.kind, value.key), None)
                values.popleft()

    def _forget(self, values: deque[_Value]) -> None:
        """Drop what the end of the loop, or a mistake, kept from being written."""
        while values:
            value = values.popleft()
            self._on_the_way.pop((value.kind, value.key), None)

    def _is_away(self) -> bool:
        return not enabled() or self._valkey.rests

    async def _asked(self, *commands: tuple[Word, ...]) -> list[Any] | None:
        """Return the replies; None where nothing can be had."""
        return await self._valkey.ask_all(*commands) if enabled() else None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _slot(kind: str, digest: bytes) -> str:
    return f"knowlex:cache:{kind}:{int.from_bytes(digest[:8]) % SLOTS[kind]}"


shared = SharedCache()
