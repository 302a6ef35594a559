"""A vector as a statement's parameter, in pgvector's binary form: nothing is written out or parsed.

Only where the statement's first mention of it is a cast to `vector`, since that decides how it is read.
"""

import struct
from typing import ClassVar

from psycopg import adapters
from psycopg.adapt import Dumper
from psycopg.pq import Format

from embeddings.types import Vector

_HEAD = struct.Struct(">HH")  # dimensions, and two bytes for later versions


class VectorParameter(bytes):
    """Of `parameter`; for psycopg's connections that are opened after this module was imported."""


class _VectorDumper(Dumper):
    """Without a type of its own: the type `vector` has another number in each database."""

    format: ClassVar[Format] = Format.BINARY  # type: ignore[misc]
    oid = 0

    def dump(self, obj: VectorParameter) -> bytes:
        return obj


def vector_parameter(vector: Vector) -> VectorParameter:
    """Every float32 arrives as it is."""
    return VectorParameter(_HEAD.pack(len(vector), 0) + vector.astype(">f4").tobytes())


adapters.register_dumper(VectorParameter, _VectorDumper)
