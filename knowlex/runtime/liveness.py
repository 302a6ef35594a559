"""Which workers are alive: each says so every few seconds in Valkey, by Valkey's own clock.

Celery's own way, a broadcast that waits for answers, takes a second and misses workers that are busy.
"""

import logging
import threading
import time
from collections.abc import Iterable
from typing import Any

import redis
import redis.asyncio
from django.conf import settings
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from knowlex.base.event_loops import PerLoop

log = logging.getLogger(__name__)

KEY = "knowlex:workers"
EVERY_S = 1.0
ALIVE_S = 3.5  # so that /health tells within 5 s that a worker is dead
TIMEOUT_S = 1.0

_BEAT = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 60)
"""
_ALIVE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
return redis.call('ZRANGEBYSCORE', KEYS[1], now - tonumber(ARGV[1]), '+inf')
"""
_lock = threading.Lock()
_client: Any = None
_counted: tuple[float, int] = (-EVERY_S - 1, 0)  # when, and how many


def beat(worker_id: str, processes: int) -> bool:
    """Say, every EVERY_S, that `worker_id` (host and pid) lives with so many processes; False if unheard."""
    global _client
    try:
        with _lock:
            if _client is None:
                _client = _connect_blocking()
            _client.eval(_BEAT, 1, KEY, f"{worker_id}={processes}")
    except (RedisError, OSError) as exc:
        log.debug("heartbeat not heard", extra={"error": type(exc).__name__})
        return False
    return True


def silence(worker_id: str, processes: int) -> None:
    """Stop counting the worker: it ends in order."""
    try:
        with _lock:
            if _client is not None:
                _client.zrem(KEY, f"{worker_id}={processes}")
    except (RedisError, OSError) as exc:
        log.debug("end of worker not heard", extra={"error": type(exc).__name__})


def count_alive_now() -> int:
    """Count as `count_alive` does, in a thread: Valkey is asked once in EVERY_S, however many rows want
    to know.
    """
    global _client, _counted
    with _lock:
        if time.monotonic() - _counted[0] > EVERY_S:
            try:
                if _client is None:
                    _client = _connect_blocking()
                members = _client.eval(_ALIVE, 1, KEY, ALIVE_S)
            except (RedisError, OSError) as exc:
                log.debug("workers not counted", extra={"error": type(exc).__name__})
                members = []
            _counted = time.monotonic(), _sum(members)
        return _counted[1]


def _connect_blocking() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S
    )


def _sum(members: Iterable[bytes]) -> int:
    return sum(int(bytes(member).rpartition(b"=")[2]) for member in members)


async def alive(client: redis.asyncio.Redis) -> int:
    """Worker processes that were heard of within ALIVE_S. Raises RedisError, OSError."""
    return _sum(await client.eval(_ALIVE, 1, KEY, ALIVE_S))


async def count_alive() -> int:
    """Count the same, over a client of the running loop's own; 0 if Valkey cannot be asked."""
    try:
        return await alive(_clients.get())
    except (RedisError, OSError) as exc:
        log.debug("workers not counted", extra={"error": type(exc).__name__})
        return 0


def _connect() -> redis.asyncio.Redis:
    return redis.asyncio.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=TIMEOUT_S,
        socket_connect_timeout=TIMEOUT_S,
        retry=Retry(NoBackoff(), 1),
    )


_clients: PerLoop[redis.asyncio.Redis] = PerLoop(_connect)
