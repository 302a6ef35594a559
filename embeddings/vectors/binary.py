"""Vectors in pgvector's binary form, as parameters and as arrays: nothing is written out or parsed.

A parameter needs a cast to `vector` where the statement mentions it first: that decides how it is read.
"""

import struct
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from psycopg import adapters
from psycopg.adapt import Dumper
from psycopg.pq import Format

from embeddings.types import Vector

_HEADER = struct.Struct(
    ">5i"
)  # dimensions of the array, nulls, type of the elements, their count, lower bound


def pack_halfvecs(vectors: NDArray[Any], element: int) -> bytes:
    """Return halfvec[] of the matrix's rows, as PostgreSQL receives it. element: the type's id there."""
    count, dimensions = vectors.shape
    rows = np.zeros(count, dtype=_row_type(dimensions))
    rows["bytes"], rows["dimensions"], rows["values"] = 4 + 2 * dimensions, dimensions, vectors
    return _HEADER.pack(1, 0, element, count, 1) + rows.tobytes()


def unpack_halfvecs(content: bytes) -> NDArray[np.float16]:
    """Return (rows, dimensions) of what PostgreSQL sends; all rows have one length."""
    dimensions = int.from_bytes(content[_HEADER.size + 4 : _HEADER.size + 6], "big")
    rows = np.frombuffer(content, dtype=_row_type(dimensions), offset=_HEADER.size)
    return np.asarray(rows["values"], dtype=np.float16)


def _row_type(dimensions: int) -> np.dtype[np.void]:
    return np.dtype(
        [("bytes", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"), ("values", ">f2", (dimensions,))]
    )


_VECTOR_HEADER = struct.Struct(">HH")  # dimensions, and two bytes for later versions


class BinaryParameter(bytes):
    """A value in PostgreSQL's binary form; for psycopg's connections that are opened after this import."""


class BinaryDumper(Dumper):
    """Sends no type of its own: pgvector's types have other numbers in each database."""

    format: ClassVar[Format] = Format.BINARY  # type: ignore[misc]
    oid = 0

    def dump(self, obj: BinaryParameter) -> bytes:
        return obj


def vector_parameter(vector: Vector) -> BinaryParameter:
    """Return the parameter; every float32 arrives as it is."""
    return BinaryParameter(_VECTOR_HEADER.pack(len(vector), 0) + vector.astype(">f4").tobytes())


adapters.register_dumper(BinaryParameter, BinaryDumper)
