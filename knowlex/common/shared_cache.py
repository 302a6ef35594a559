"""What may be forgotten at any time, in Valkey, for all processes together.

Nobody fails for its sake and nobody waits long: a Valkey that does not answer in TIMEOUT_S is left alone for
REST_S, so that its absence delays one request in a while, not each. KNOWLEX_CACHE=off: nothing is connected.
The broker lives in the same Valkey, whose memory is not for us to fill: each kind of value has a number of
slots, and a new value takes the place of the one that was in its slot.
"""

import asyncio
import hashlib
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import redis.asyncio
from django.conf import settings
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from knowlex.common.per_loop import PerLoop

log = logging.getLogger(__name__)
T = TypeVar("T")

TIMEOUT_S = 0.2
REST_S = 5.0
MAX_WAITING = 200  # values that are on their way to Valkey; with more, new ones are not kept
SLOTS = {"answer": 4096, "question_vector": 16_384}
_DIGEST_BYTES = 32

# How often each kind of value was looked for: (kind, "hit" or "miss"). For the metrics; of this process.
lookups: Counter[tuple[str, str]] = Counter()


def enabled() -> bool:
    return bool(settings.CACHE)


def count(kind: str, *, hit: bool) -> None:
    lookups[kind, "hit" if hit else "miss"] += 1


class SharedCache:
    """Of one process; a client for each event loop."""

    def __init__(self) -> None:
        self._clients: PerLoop[redis.asyncio.Redis] = PerLoop(_connect)
        self._writing: PerLoop[set[asyncio.Task[None]]] = PerLoop(set)
        self._on_the_way: dict[tuple[str, str], Callable[[], bytes | None]] = {}
        self._rests_until = 0.0

    async def get(self, kind: str, key: str) -> bytes | None:
        """None if it is not there, or cannot be had in time. kind: of SLOTS.

        Who asks right after a `put` of this process finds it, though Valkey may not have it yet.
        """
        if (made := self._on_the_way.get((kind, key))) is not None:
            return made()
        digest = _digest(key)
        found = await self._asked(lambda client: client.get(_slot(kind, digest)))
        if not isinstance(found, bytes) or found[:_DIGEST_BYTES] != digest:
            return None
        return found[_DIGEST_BYTES:]

    def put(self, kind: str, key: str, value: Callable[[], bytes | None], ttl_s: int) -> None:
        """Keep what `value` makes (None: nothing; it must not raise) for a while. Nobody waits for it."""
        writing = self._writing.get()
        if self._is_away() or len(writing) >= MAX_WAITING:
            return
        self._on_the_way[kind, key] = value
        task = asyncio.create_task(self._put(kind, key, value, ttl_s))
        writing.add(task)
        task.add_done_callback(writing.discard)
        task.add_done_callback(lambda _: self._on_the_way.pop((kind, key), None))

    async def close(self) -> None:
        """This loop's connections, when what is being written is written."""
        writing = self._writing.take()
        if writing:
            await asyncio.wait(writing, timeout=2 * TIMEOUT_S)
        client = self._clients.take()
        if client is not None:
            await client.aclose()
            await client.connection_pool.aclose()

    async def _put(self, kind: str, key: str, value: Callable[[], bytes | None], ttl_s: int) -> None:
        made = value()
        if made is not None:
            digest = _digest(key)
            await self._asked(lambda client: client.set(_slot(kind, digest), digest + made, ex=ttl_s))

    def _is_away(self) -> bool:
        return not enabled() or time.monotonic() < self._rests_until

    async def _asked(self, ask: Callable[[redis.asyncio.Redis], Awaitable[T]]) -> T | None:
        if self._is_away():
            return None
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await ask(self._clients.get())
        except (RedisError, OSError, TimeoutError) as exc:
            self._rests_until = time.monotonic() + REST_S
            log.warning("cache cannot be used", extra={"error": type(exc).__name__, "rests_s": REST_S})
            return None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _slot(kind: str, digest: bytes) -> str:
    return f"knowlex:cache:{kind}:{int.from_bytes(digest[:8]) % SLOTS[kind]}"


def _connect() -> redis.asyncio.Redis:
    pool: Any = redis.asyncio.BlockingConnectionPool.from_url(
        settings.REDIS_URL,
        max_connections=16,
        timeout=TIMEOUT_S,
        socket_timeout=TIMEOUT_S,
        socket_connect_timeout=TIMEOUT_S,
        retry=Retry(NoBackoff(), 1),  # once more at once: the pooled connection may have died
    )
    return redis.asyncio.Redis(connection_pool=pool)


shared = SharedCache()
