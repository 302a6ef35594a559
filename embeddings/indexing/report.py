"""The vector index of the active model as /health tells it."""

from collections.abc import Mapping
from typing import Any

from embeddings.external import nearest
from knowlex.base.times import utc_timestamp

# One row, or none before anything was embedded.
INDEX_STATE = """
    SELECT i.kind, i.storage, i.rows, i.effort, i.recall, i.measured_at, coalesce(i.serves, false) AS serves
    FROM embeddings_embeddingmodel m LEFT JOIN embeddings_vectorindex i ON i.model_id = m.id WHERE m.active
"""


def describe_index(row: Mapping[str, Any] | None) -> dict[str, Any]:
    """kind is "none" without an index; searches: "index" or "exact", or the store's name where vectors are
    searched outside PostgreSQL.

    rows: when it was built. One that finds too little makes nothing wrong, since searches are exact then, and
    is no reason to call the whole system degraded.
    """
    if store := nearest.store_name():
        return {"kind": "none", "searches": store}
    if row is None or row["kind"] is None:
        return {"kind": "none", "searches": "exact"}
    measured_at = row["measured_at"]
    return {
        "kind": row["kind"],
        "storage": row["storage"],
        "rows": row["rows"],
        "effort": row["effort"],
        "recall": row["recall"],
        "measured_at": utc_timestamp(measured_at) if measured_at else None,
        "searches": "index" if row["serves"] else "exact",
    }
