"""Reads a request's body off an ASGI connection: counted, timed, and never held in memory."""

import asyncio
import io
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from knowlex.base.errors import PayloadTooLarge, RequestTimeout, StorageUnavailable

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]

IN_MEMORY_BYTES = 256 * 1024
GRACE_S = 0.05  # beyond all patience: for reading what came while the event loop was busy
MIN_BYTES_PER_S = 1000  # on average, once the client's patience_s are over


class ClientGone(Exception):
    """The client has closed the connection: there is nobody to answer."""


class RequestBody:
    """One request's body. It is read when a view wants it, so that a refusal costs nothing.

    declared: Content-Length, None where the client does not say (chunked). complete: all of it has come.
    patience_s: how long to wait for a single byte, and for the average to reach MIN_BYTES_PER_S.
    """

    def __init__(self, headers: list[tuple[bytes, bytes]], receive: Receive, *, patience_s: float) -> None:
        named = {name.lower(): value for name, value in headers}
        length = named.get(b"content-length", b"")
        chunked = b"transfer-encoding" in named
        self.declared = int(length) if length.isdigit() and not chunked else (None if chunked else 0)
        self.complete = self.declared == 0
        self.receive = receive
        self._patience_s = patience_s
        self._is_sending = named.get(b"expect", b"").lower() != b"100-continue"

    async def read(self, limit: int, spool_dir: Path) -> BinaryIO:
        """Return the whole body as a file at its start, on disk if it is large; the caller closes it.

        limit: in bytes. Raises PayloadTooLarge (before reading, if declared so), RequestTimeout, ClientGone,
        StorageUnavailable (no room, or no folder to write to).
        """
        if self.declared is not None and self.declared > limit:
            raise _too_large(limit)
        if self.complete:
            return io.BytesIO()
        spool = self._spool(spool_dir)
        try:
            await self._fill(spool, limit)
            with _storing():
                spool.seek(0)
        except BaseException:
            with suppress(OSError):  # what is left in its buffer finds no room either
                spool.close()
            raise
        return spool

    def _spool(self, folder: Path) -> BinaryIO:
        if self.declared is not None and self.declared <= IN_MEMORY_BYTES:
            return io.BytesIO()
        spooled = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES, dir=str(folder))  # noqa: SIM115
        return cast(BinaryIO, spooled)

    async def _fill(self, spool: BinaryIO, limit: int) -> None:
        started, size = time.monotonic(), 0
        while not self.complete:
            chunk = await self._next(self._patience_s)
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            elapsed = time.monotonic() - started
            if elapsed > self._patience_s and size < elapsed * MIN_BYTES_PER_S and not self.complete:
                self._is_sending = False
                raise RequestTimeout("The request body arrives too slowly.")
            with _storing():
                spool.write(chunk)

    async def _next(self, patience_s: float) -> bytes:
        self._is_sending = True
        message = await self._receive_within(patience_s) or await self._receive_within(GRACE_S)
        if message is None:
            self._is_sending = False
            raise RequestTimeout("The request body does not arrive.")
        if message["type"] == "http.disconnect":
            raise ClientGone
        self.complete = not message.get("more_body", False)
        chunk: bytes = message.get("body", b"")
        return chunk

    async def _receive_within(self, seconds: float) -> Message | None:
        """Return the next message, None if nothing comes in time."""
        try:
            async with asyncio.timeout(seconds) as limit:
                return await self.receive()
        except TimeoutError:
            if limit.expired():
                return None
            raise

    async def discard(self, *, max_bytes: int, seconds: float) -> None:
        """Throw away what is still to come, within limits; never raises for what the client does.

        Closing a socket with unread bytes resets it, and the client loses the answer that says why.
        A client that waits for `100 Continue` sends nothing, so there is nothing to wait for.
        """
        if self.complete or not self._is_sending:
            return
        with suppress(TimeoutError, RequestTimeout, ClientGone):
            async with asyncio.timeout(seconds):
                while not self.complete and max_bytes > 0:
                    max_bytes -= len(await self._next(seconds))


@asynccontextmanager
async def cancelled_when_gone(body: RequestBody) -> AsyncIterator[None]:
    """Cancel the block when the client leaves, and raise ClientGone. The body must be complete."""
    task = asyncio.current_task()
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await body.receive())["type"] != "http.disconnect":
            pass
        gone = True
        if task is not None:
            task.cancel()

    watcher = asyncio.create_task(watch())
    try:
        yield
    except asyncio.CancelledError:
        if gone and task is not None:
            task.uncancel()
            raise ClientGone from None
        raise
    finally:
        watcher.cancel()


@contextmanager
def _storing() -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise StorageUnavailable("The request body cannot be stored for reading.") from exc


def _too_large(limit: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"The request body is larger than {limit} bytes.")
