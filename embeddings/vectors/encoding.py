"""Arrays of pgvector's halfvec in PostgreSQL's binary form. Plain Python."""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEADER = struct.Struct(
    ">5i"
)  # dimensions of the array, nulls, type of the elements, their count, lower bound


def pack_halfvecs(vectors: NDArray[Any], element: int) -> bytes:
    """halfvec[] of the matrix's rows, as PostgreSQL receives it. element: the type's id in the database."""
    count, dimensions = vectors.shape
    rows = np.zeros(count, dtype=_row_type(dimensions))
    rows["bytes"], rows["dimensions"], rows["values"] = 4 + 2 * dimensions, dimensions, vectors
    return _HEADER.pack(1, 0, element, count, 1) + rows.tobytes()


def unpack_halfvecs(content: bytes) -> NDArray[np.float16]:
    """(rows, dimensions) of what PostgreSQL sends; all rows have one length."""
    dimensions = int.from_bytes(content[_HEADER.size + 4 : _HEADER.size + 6], "big")
    rows = np.frombuffer(content, dtype=_row_type(dimensions), offset=_HEADER.size)
    return np.asarray(rows["values"], dtype=np.float16)


def _row_type(dimensions: int) -> np.dtype[np.void]:
    return np.dtype(
        [("bytes", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"), ("values", ">f2", (dimensions,))]
    )
