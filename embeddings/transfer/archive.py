"""Tar archives as streams, with vectors of sentences. Whatever is read is checked for its size first.

The tarfile module reads extended headers of any size into memory; here only plain ones count.
The vectors of sentences are float16, a row for each sentence of one chunk after the other.
"""

import gzip
import io
import tarfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import accumulate, pairwise
from typing import IO
from uuid import UUID

from django.db import connection

from embeddings.transfer.shapes import read_matrix
from embeddings.types import EmbeddedText, Vector
from embeddings.vectors import binary
from knowlex.base.errors import InvalidInput
from knowlex.db.threads import execute

MAX_BYTES = 512 * 2**20  # of one document; some 60,000 chunks at 384 dimensions
Bounds = list[list[int]]  # for each chunk where its sentences start and end, one after the other
_FROM = """
    FROM embeddings_sentencevectors s JOIN documents_chunk c ON c.id = s.chunk_id
    WHERE c.document_id = %s AND s.model_id = %s AND c.chunk_index = ANY(%s) ORDER BY c.chunk_index
"""
_BOUNDS = f"SELECT c.chunk_index, s.bounds {_FROM}"
_VECTORS = f"SELECT array_send(s.vectors) {_FROM}"
_AT_ONCE = 200


def fetch_bounds(document_id: UUID, model_id: int, chunks: list[int], dimensions: int) -> Bounds:
    """Return those of each chunk, by index; [] if none has any, or if they are too many for an archive."""
    bounds_of = dict(execute(_BOUNDS, [document_id, model_id, chunks]))
    bounds = [bounds_of.get(chunk, []) for chunk in chunks]
    return bounds if 0 < count_bytes(bounds, dimensions) <= MAX_BYTES else []


def count_bytes(bounds: Bounds, dimensions: int) -> int:
    """Return the size of the sentences' vectors in an archive."""
    return sum(map(len, bounds)) * dimensions  # two numbers a sentence, two bytes a number


def read_pieces(document_id: UUID, model_id: int, chunks: list[int]) -> Iterator[bytes]:
    """Yield some chunks' rows at a time. In a transaction."""
    with closing(connection.chunked_cursor()) as cursor:
        cursor.execute(_VECTORS, [document_id, model_id, chunks])
        while rows := cursor.fetchmany(_AT_ONCE):
            yield b"".join(binary.unpack_halfvecs(row[0]).astype("<f2").tobytes() for row in rows)


def join_sentences(
    vectors: Sequence[Vector], bounds: Bounds, content: bytes, name: str
) -> list[EmbeddedText]:
    """Return each chunk's vector with those of its sentences. Raises InvalidInput: zero or not finite."""
    dimensions = len(vectors[0])
    sentences = read_matrix(content, "<f2", dimensions, name)
    rows = pairwise(accumulate((len(own) // 2 for own in bounds), initial=0))
    return [
        EmbeddedText(vector, sentences[first:last], tuple(zip(own[::2], own[1::2], strict=True)))
        for vector, own, (first, last) in zip(vectors, bounds, rows, strict=True)
    ]


BLOCK = 512
PIECE = 256 * 1024
GZIP_MAGIC = b"\x1f\x8b"
_EXTENDED = (tarfile.XHDTYPE, tarfile.XGLTYPE)
_ORDER = (
    "The order is manifest.json, then of each document document.json, its vectors and sentences, and the "
    "original, then end.json"
)


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
        """Return (name, size) of the next member, which must have one of these names.

        What `tar` adds when somebody packs the members by hand is passed over: folders, "./" before names,
        headers with finer times. Raises InvalidInput.
        """
        expected = " or ".join(names)
        while True:
            header = self._read(BLOCK)
            try:
                info = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
            except (tarfile.TarError, UnicodeDecodeError, ValueError):
                raise _broken_archive(f"{expected} was expected, and it ends or is damaged there") from None
            if info.size < 0:
                raise _broken_archive(f"{expected} was expected")
            if info.type in _EXTENDED and info.size <= PIECE:
                self._read(info.size + -info.size % BLOCK)
            elif not info.isdir():
                break
        name = info.name.removeprefix("./")
        if name not in names or not info.isreg():
            raise _broken_archive(f"{expected} was expected, and {name[:100]!r} came. {_ORDER}")
        return name, info.size

    def content(self, name: str, size: int, *, limit: int) -> bytes:
        """Return all of a member, which must not be larger than `limit`."""
        return b"".join(self.pieces(name, size, limit=limit))

    def pieces(self, name: str, size: int, *, limit: int) -> Iterator[bytes]:
        """Yield the same block by block. Raises InvalidInput."""
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
            content = self._file.read(size)
        except (OSError, EOFError, zlib.error) as exc:
            raise _broken_archive("it cannot be read, or is cut off") from exc
        if len(content) != size:
            raise _broken_archive("it is cut off")
        return content


def _broken_archive(why: str) -> InvalidInput:
    return InvalidInput(f"The file is no sound export of a collection: {why}.")
