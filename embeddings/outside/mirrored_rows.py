"""Reading a collection's vectors out of PostgreSQL in its binary form, a bounded piece at a time."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import numpy as np

from documents import collection_changes
from embeddings.types import Vector
from knowlex.common.database import execute, with_retries

STAMPS = 50_000  # ids and times in one statement: 1.2 MB
PAGE_BYTES = 4 << 20
_STATE = f"""
    SELECT {collection_changes.STATE} FROM documents_collection c WHERE c.id = %s
"""  # noqa: S608 - constants only
_STAMPS = """
    SELECT string_agg(uuid_send(chunk_id) || int8send((extract(epoch FROM created_at) * 1000000)::bigint), '')
    FROM (
        SELECT chunk_id, created_at FROM embeddings_embedding
        WHERE model_id = %s AND collection_id = %s AND chunk_id > %s ORDER BY chunk_id LIMIT %s
    ) page
"""
_VECTORS = """
    SELECT string_agg(uuid_send(chunk_id) || vector_send(vector), '') FROM embeddings_embedding
    WHERE model_id = %s AND collection_id = %s AND chunk_id = ANY(%s) AND vector_dims(vector) = %s
"""
_STAMPED = np.dtype([("id", "V16"), ("stamp", ">i8")])
_FIRST = UUID(int=0)


def state(collection_id: UUID) -> object:
    """Of the collection; None before its first change, and of one that is gone."""
    rows = with_retries(lambda: execute(_STATE, [collection_id]))
    return rows[0][0] if rows else None


def stamps(model_id: int, collection_id: UUID) -> dict[bytes, int]:
    """When each chunk's vector was made (microseconds), by the id's 16 bytes. Raises DatabaseUnavailable."""
    found: dict[bytes, int] = {}
    last = _FIRST
    while True:
        page = _array(_STAMPS, [model_id, collection_id, last, STAMPS], _STAMPED)
        ids = [one.tobytes() for one in page["id"]]
        found |= zip(ids, page["stamp"].tolist(), strict=True)
        if len(ids) < STAMPS:
            return found
        last = UUID(bytes=max(ids))


def vectors(
    model_id: int, collection_id: UUID, ids: Sequence[bytes], dimensions: int
) -> Iterator[tuple[bytes, Vector]]:
    """Of those that are still there, in any order. Raises DatabaseUnavailable."""
    row = np.dtype(
        [("id", "V16"), ("dimensions", ">i2"), ("unused", ">i2"), ("values", ">f4", (dimensions,))]
    )
    chunk_ids = [UUID(bytes=one) for one in ids]
    found = _array(_VECTORS, [model_id, collection_id, chunk_ids, dimensions], row)
    for one in found:
        yield one["id"].tobytes(), one["values"].astype(np.float32)


def page_size(dimensions: int) -> int:
    return max(1, PAGE_BYTES // (4 * max(1, dimensions)))


def _array(sql: str, params: Sequence[Any], row: np.dtype[Any]) -> Any:
    ((content,),) = with_retries(lambda: execute(sql, params))
    return np.frombuffer(bytes(content or b""), dtype=row)
