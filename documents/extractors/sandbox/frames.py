"""What a jailed child tells while it reads: framed messages over one pipe, to the parent only.

A frame is its kind (one byte), the length of its body (4 bytes, big endian) and the body. What comes out of
the jail is as little to be trusted as the file: the parent bounds every frame and checks what is in it.
"""

import os
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from select import POLLIN, poll
from typing import Protocol

from documents.extractors.sandbox.wire import MAX_RESULT_BYTES, BrokenResult

STARTED = b"+"  # sent before the file is touched; empty
PROGRESS = b"p"  # pages done, pages in all
PICTURE = b"i"  # a page number, width, height, and the page in grey, 8 bits a pixel, rows from the top
RESULT = b"r"  # the last one; see wire.py

MAX_PICTURE_PIXELS = 32 * 1024 * 1024  # A3 at 300 dpi has 17 million
_HEAD = struct.Struct("!cI")
_PROGRESS = struct.Struct("!II")
_PICTURE = struct.Struct("!III")
_MAX_BODY = {
    STARTED: 0,
    PROGRESS: _PROGRESS.size,
    PICTURE: _PICTURE.size + MAX_PICTURE_PIXELS,
    RESULT: MAX_RESULT_BYTES,
}
_BLOCK_BYTES = 1 << 20
_PROGRESS_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page as a picture. number: 1-based. grey: width * height bytes, 0 is black."""

    number: int
    width: int
    height: int
    grey: bytes

    def to_pnm(self) -> bytes:
        return b"P5\n%d %d\n255\n%b" % (self.width, self.height, self.grey)


class Report(Protocol):
    """How a reader in the jail tells of its work."""

    def progress(self, pages_done: int, pages_total: int) -> None:
        """May be called for every page: what follows the last frame too soon is not sent."""
        ...

    def picture(self, picture: PagePicture) -> None:
        """Waits until the parent has taken it. Pages in ascending order, only in a patient job."""
        ...


class Silent:
    """A Report for readers that nobody listens to."""

    def progress(self, pages_done: int, pages_total: int) -> None:
        pass

    def picture(self, picture: PagePicture) -> None:
        pass


class PipeReport:
    """The child's end of the pipe."""

    def __init__(self, target: int) -> None:
        self._target, self._next = target, 0.0

    def started(self) -> None:
        self._send(STARTED, b"")

    def progress(self, pages_done: int, pages_total: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PROGRESS_EVERY_S
            self._send(PROGRESS, _PROGRESS.pack(pages_done, pages_total))

    def picture(self, picture: PagePicture) -> None:
        self._send(PICTURE, _PICTURE.pack(picture.number, picture.width, picture.height), picture.grey)

    def result(self, packed: bytes) -> None:
        self._send(RESULT, packed)

    def _send(self, kind: bytes, *parts: bytes) -> None:
        for part in (_HEAD.pack(kind, sum(map(len, parts))), *parts):
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(self._target, rest) :]


def read_frames(descriptor: int, deadline: float) -> Iterator[tuple[bytes, bytes]]:
    """(kind, body) until the other end closes; a frame cut off by that is dropped.

    deadline: of time.monotonic(). Raises BrokenResult past it, and for a frame of unknown kind or size.
    """
    source = _Bounded(descriptor, deadline)
    while head := source.take(_HEAD.size):
        kind, length = _HEAD.unpack(head)
        if length > _MAX_BODY.get(kind, -1):
            raise BrokenResult("no such message")
        body = source.take(length)
        if body is None:
            return
        yield kind, body


def parse_progress(body: bytes) -> tuple[int, int]:
    """Raises BrokenResult."""
    if len(body) != _PROGRESS.size:
        raise BrokenResult("no progress")
    pages_done, pages_total = _PROGRESS.unpack(body)
    return pages_done, pages_total


def parse_picture(body: bytes) -> PagePicture:
    """Raises BrokenResult."""
    if len(body) < _PICTURE.size:
        raise BrokenResult("no picture")
    number, width, height = _PICTURE.unpack_from(body)
    grey = body[_PICTURE.size :]
    if not number or not width or not height or width * height != len(grey):
        raise BrokenResult("no picture")
    return PagePicture(number, width, height, grey)


class _Bounded:
    """Reads exact numbers of bytes from a pipe until a deadline."""

    def __init__(self, descriptor: int, deadline: float) -> None:
        self._descriptor, self._deadline = descriptor, deadline
        self._poller = poll()
        self._poller.register(descriptor, POLLIN)

    def take(self, size: int) -> bytes | None:
        """None if the pipe ends before."""
        blocks: list[bytes] = []
        while size:
            left_s = self._deadline - time.monotonic()
            if left_s <= 0 or not self._poller.poll(1000 * left_s):
                raise BrokenResult("out of time")
            block = os.read(self._descriptor, min(size, _BLOCK_BYTES))
            if not block:
                return None
            blocks.append(block)
            size -= len(block)
        return b"".join(blocks)
