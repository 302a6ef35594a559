"""A search of Chroma for collections that most of the nearest chunks belong to: without a filter.

A filter makes Chroma gather the ids of all records that pass: where those were 7,000 of 9,000, a search of 40
took 28 ms with it and 9 ms without, and the difference grows with the records.
"""

import time
from collections.abc import Collection

from embeddings.clients.chroma import ChromaClient, Found
from embeddings.types import Vector

MORE = 2  # times as many are asked for as are needed
MOST = 200  # of more, the records' metadata costs as much as the filter
KEPT_S, MOST_KEPT = 60.0, 1000


class WideSearch:
    """Remembers for a minute which collections it is of no use for."""

    def __init__(self, client: ChromaClient) -> None:
        self._client = client
        self._narrow: dict[tuple[str, frozenset[str]], float] = {}

    async def nearest(
        self, name: str, vector: Vector, collections: Collection[str], limit: int
    ) -> list[Found] | None:
        """The same as a search with a filter would find; None where that has to be asked."""
        key = (name, frozenset(collections))
        if limit > MOST or self._narrow.get(key, 0.0) > time.monotonic():
            return None
        asked = MORE * limit
        found = await self._client.query(name, vector, n_results=asked, include=("distances", "metadatas"))
        passing = [one for one in found if (one.metadata or {}).get("collection_id") in collections]
        if len(passing) >= limit or len(found) < asked:
            return passing[:limit]
        self._remember(key)
        return None

    def _remember(self, key: tuple[str, frozenset[str]]) -> None:
        if len(self._narrow) >= MOST_KEPT:
            self._narrow.clear()
        self._narrow[key] = time.monotonic() + KEPT_S
