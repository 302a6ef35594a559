"""Tar archives as streams. What is read comes from anybody: sizes are checked before a byte is taken.

The tarfile module reads extended headers of any size into memory; here an archive has plain ones only.
"""

import gzip
import io
import tarfile
import time
import zlib
from collections.abc import Iterator
from typing import IO

from knowlex.base.errors import InvalidInput

BLOCK = 512
PIECE = 256 * 1024
GZIP_MAGIC = b"\x1f\x8b"


class ArchiveWriter:
    """Members one after the other; `close` writes the end, without closing the file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._time = file, int(time.time())

    def add(self, name: str, content: bytes) -> None:
        self.add_pieces(name, len(content), iter([content]))

    def add_pieces(self, name: str, size: int, pieces: Iterator[bytes]) -> None:
        """`pieces` must add up to `size`. Raises ValueError if they do not."""
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = size, self._time, 0o600
        self._file.write(info.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict"))
        left = size
        for piece in pieces:
            left -= len(piece)
            self._file.write(piece)
        if left:
            raise ValueError(f"{name} changed its size while it was read")
        self._file.write(bytes(-size % BLOCK))

    def close(self) -> None:
        self._file.write(bytes(2 * BLOCK))


class ArchiveReader:
    """Members in the order in which they must come; gzip is recognised by its first bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        buffered = io.BufferedReader(file)  # type: ignore[type-var]  # a raw or buffered stream, both will do
        compressed = buffered.peek(2)[:2] == GZIP_MAGIC
        self._file: io.BufferedIOBase = gzip.GzipFile(fileobj=buffered) if compressed else buffered

    def next(self, *names: str) -> tuple[str, int]:
        """(name, size) of the next member, which must have one of these names. Raises InvalidInput."""
        header = self._read(BLOCK)
        try:
            info = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
        except (tarfile.TarError, UnicodeDecodeError, ValueError):
            raise _broken_archive(f"{names[0]} was expected") from None
        if info.name not in names or not info.isreg() or info.size < 0:
            raise _broken_archive(f"{names[0]} was expected")
        return info.name, info.size

    def content(self, name: str, size: int, *, limit: int) -> bytes:
        """All of a member, which must not be larger than `limit`."""
        return b"".join(self.pieces(name, size, limit=limit))

    def pieces(self, name: str, size: int, *, limit: int) -> Iterator[bytes]:
        """The same block by block. Raises InvalidInput."""
        if size > limit:
            raise _broken_archive(f"{name} has {size} bytes, more than the {limit} that are allowed")
        left = size
        while left:
            piece = self._read(min(left, PIECE))
            left -= len(piece)
            yield piece
        self._read(-size % BLOCK)

    def _read(self, size: int) -> bytes:
        try:
            found = self._file.read(size)
        except (OSError, EOFError, zlib.error) as exc:
            raise _broken_archive("it cannot be read, or is cut off") from exc
        if len(found) != size:
            raise _broken_archive("it is cut off")
        return found


def _broken_archive(why: str) -> InvalidInput:
    return InvalidInput(f"The file is no sound export of a collection: {why}.")
