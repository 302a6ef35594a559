"""Single commands to Valkey from the event loop, for what every request asks of it.

redis-py's connections without its client and its pool, with which a command takes 64 microseconds of CPU
instead of 26, and two at once 108 instead of 30; each question asks four times.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any, TypeAlias

import redis.asyncio
from django.conf import settings
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError, ResponseError

from knowlex.base.event_loops import PerLoop

log = logging.getLogger(__name__)

Word: TypeAlias = str | bytes | int
MAX_CONNECTIONS = 16
PARTS = 5  # of a limit: while the event loop is busy, or has no processor, one of them passes at most


class _Wait:
    """Has a limit end after so many parts in which the event loop could have read a reply."""

    __slots__ = ("_left", "_limit", "_loop", "_part_s", "_timer")

    def __init__(self, limit: asyncio.Timeout, part_s: float) -> None:
        self._limit, self._part_s, self._left = limit, part_s, PARTS
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(part_s, self._pass)

    def _pass(self) -> None:
        self._left -= 1
        if self._left:
            self._timer = self._loop.call_later(self._part_s, self._pass)
        else:
            self._limit.reschedule(self._loop.time())

    def end(self) -> None:
        self._timer.cancel()


class Valkey:
    """Of one event loop. Connections are made when they are needed, and kept.

    timeout_s: for a command in all, with making a connection, or the wait for one where all are in use.
    """

    def __init__(self, url: str, timeout_s: float) -> None:
        self._connections: Any = redis.asyncio.ConnectionPool.from_url(
            url, retry=Retry(NoBackoff(), 0), socket_timeout=None, socket_connect_timeout=None
        )
        self._timeout_s = timeout_s
        self._idle: list[Any] = []
        self._room = asyncio.Semaphore(MAX_CONNECTIONS)

    async def ask(self, *command: Word) -> Any:
        """Return the reply: bytes, int, None or a list. Raises as `ask_all`."""
        (reply,) = await self.ask_all([command])
        return reply

    async def ask_all(self, commands: Sequence[Sequence[Word]]) -> list[Any]:
        """Return the replies to all of them, sent at once. Raises redis' RedisError, OSError, TimeoutError.

        Those that found their connection dead are sent again, so they must be safe to run twice.
        """
        async with asyncio.timeout(None) as limit:
            waiting = _Wait(limit, self._timeout_s / PARTS)
            try:
                return await self._answered(commands)
            finally:
                waiting.end()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().disconnect()

    async def _answered(self, commands: Sequence[Sequence[Word]]) -> list[Any]:
        async with self._room:
            while self._idle:
                try:
                    return await self._asked(self._idle.pop(), commands)
                except Disconnected:
                    continue
            return await self._asked(self._connections.make_connection(), commands)

    async def _asked(self, connection: Any, commands: Sequence[Sequence[Word]]) -> list[Any]:
        """A connection that may owe a reply is never used again."""
        try:
            await connection.send_packed_command(connection.pack_commands(commands))
            replies = [await connection.read_response() for _ in commands]
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        self._idle.append(connection)
        return replies


class OptionalValkey:
    """Valkey for what can do without it; of one process, with a client for each event loop.

    After a failure it is left alone for rest_s, so that its absence delays one request, not each.
    timeout_s: of all commands of one call. without: what the log says of a failure.
    """

    def __init__(self, *, timeout_s: float, rest_s: float, without: str) -> None:
        self._clients: PerLoop[Valkey] = PerLoop(lambda: Valkey(settings.REDIS_URL, timeout_s))
        self._rest_s, self._without = rest_s, without
        self._rests_until = 0.0

    @property
    def rests(self) -> bool:
        return time.monotonic() < self._rests_until

    async def ask_all(self, *commands: Sequence[Word]) -> list[Any] | None:
        """Return the replies to all of them, sent at once; None where they cannot be had. Raises nothing."""
        if self.rests:
            return None
        try:
            return await self._clients.get().ask_all(commands)
        except (RedisError, OSError, TimeoutError) as exc:
            if isinstance(exc, ResponseError) and str(exc).startswith("WRONGTYPE"):
                return None  # another program's value under this key alone
            self._rests_until = time.monotonic() + self._rest_s
            log.warning(self._without, extra={"error": type(exc).__name__, "rests_s": self._rest_s})
            return None

    async def close(self) -> None:
        """Close this event loop's connections."""
        client = self._clients.take()
        if client is not None:
            await client.close()
