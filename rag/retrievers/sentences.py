"""The SQL that gives a passage its sentences: where they stand, and how similar each is to the question."""

from functools import lru_cache
from typing import Any

from psycopg.sql import SQL

# For what has been chosen already, in the same round trip: of `c`, the passage's chunk, by the model that the
# question's %(vector)s is of. Both vectors have length 1: the inner product is the cosine. The question's is
# made a halfvec once by its own SELECT; an array is unnested in its order.
COLUMNS = SQL("sentences.bounds::text AS bounds, sentences.similarities")
NO_COLUMNS = SQL("NULL AS bounds, NULL AS similarities")
JOIN = SQL("""
LEFT JOIN LATERAL (
    SELECT s.bounds, ARRAY(
        SELECT (-(one.vector <#> (SELECT %(vector)s::vector::halfvec)))::real
        FROM (SELECT unnest(s.vectors) AS vector) AS one
    ) AS similarities
    FROM embeddings_sentencevectors AS s WHERE s.chunk_id = c.id AND s.model_id = {model}
) AS sentences ON true
""")


@lru_cache(maxsize=2048)
def _pairs(bounds: str | None) -> tuple[tuple[int, int], ...]:
    """bounds: as PostgreSQL writes an array. The same passages come again and again."""
    places = [int(place) for place in (bounds or "").strip("{}").split(",") if place]
    return tuple(zip(places[::2], places[1::2], strict=True))


def take(row: dict[str, Any]) -> None:
    """Turn the columns into those fields of `Passage`; a chunk without stored sentences has none."""
    row["bounds"] = _pairs(row["bounds"])
    row["similarities"] = tuple(row["similarities"] or ())
