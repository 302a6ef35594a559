"""The nearest chunks by a vector store outside PostgreSQL, and the SQL that holds them to the truth."""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.conf import settings
from psycopg.sql import SQL, Composable, Composed, Literal

from embeddings.external.mirror import Mirror
from embeddings.indexing.kinds import exact_search
from embeddings.protocols import VectorStore
from embeddings.types import Space, Vector
from knowlex.base.errors import VectorStoreFailed, VectorStoreTimeout
from knowlex.runtime.components import component, kept

log = logging.getLogger(__name__)

MORE = 16  # asked for beyond what is needed: the store may still hold what is gone
SCANNED = 1_000_000  # vectors; where the store knows too few, so many are compared in PostgreSQL at most
failures: Final[Counter[str]] = Counter()  # of this process, by the error's type

# What the store says of distance and collection counts for nothing: both are looked up here. Where too few of
# its chunks are there, because they are gone or it has not got the others yet, all are looked at instead.
_CANDIDATES = SQL("""
    WITH given AS MATERIALIZED (
        SELECT e.chunk_id, e.vector <=> %(vector)s::vector AS distance
        FROM unnest(%(near)s::uuid[]) AS near (chunk_id)
        JOIN embeddings_embedding e ON e.chunk_id = near.chunk_id AND e.model_id = {model}
        WHERE true{where} ORDER BY distance, e.chunk_id LIMIT %(limit)s
    ), found AS (
        SELECT CASE WHEN count(*) >= %(limit)s THEN true ELSE EXISTS (
            SELECT FROM embeddings_embedding e WHERE e.model_id = {model}{collections}
            OFFSET {scanned} LIMIT 1
        ) END AS enough FROM given
    )
    (SELECT chunk_id, distance FROM given WHERE (SELECT enough FROM found) ORDER BY distance, chunk_id)
    UNION ALL SELECT chunk_id, distance FROM ({exact}) everything WHERE NOT (SELECT enough FROM found)
""")


def is_outside() -> bool:
    """Whether vectors are searched outside PostgreSQL."""
    return "VECTOR_STORE" in settings.KNOWLEX


def store_name() -> str:
    """ "qdrant", "chroma", "memory"; "" where PostgreSQL itself is searched."""
    return str(settings.KNOWLEX["VECTOR_STORE"]["class"]).split(".")[-2] if is_outside() else ""


async def ping_store() -> bool:
    """Whether vectors can be searched, as far as PostgreSQL is not concerned. Raises VectorStoreFailed."""
    if is_outside():
        await component("VECTOR_STORE", VectorStore).ping()
    return True


def candidate_search(model_id: int, where: Composable, collections: Composable) -> Composed:
    """SELECT of (chunk_id, distance), closest first, for the parameters near (ids), vector and limit.

    where: the whole condition on e. collections: the part of it that says which collections are read.
    """
    return _CANDIDATES.format(
        model=Literal(model_id),
        where=where,
        collections=collections,
        scanned=Literal(SCANNED),
        exact=exact_search(model_id, where),
    )


async def fetch_nearest(
    space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
) -> list[UUID] | None:
    """At most `limit` chunks, each once, closest first; the store's word only. None: it cannot hold them.

    Nothing of the database is held meanwhile. Raises VectorStoreFailed, VectorStoreTimeout, and where vectors
    are kept in this process DatabaseUnavailable.
    """
    try:
        async with asyncio.timeout(settings.ANSWER_TIMEOUT_S):
            found = await _searched().nearest(space, vector, collections=collections, limit=limit)
    except TimeoutError as exc:
        raise _count_failure(VectorStoreTimeout("The vector store did not answer in time.")) from exc
    except VectorStoreFailed as exc:
        raise _count_failure(exc) from exc.__cause__
    return None if found is None else list(dict.fromkeys(one.chunk_id for one in found))


def _searched() -> VectorStore | Mirror:
    """The store itself; one in this process by way of who fills it."""
    store = component("VECTOR_STORE", VectorStore)
    return kept(("VECTOR_STORE", "mirror"), lambda: Mirror(store)) if store_name() == "memory" else store


def _count_failure(error: VectorStoreFailed) -> VectorStoreFailed:
    failures[type(error).__name__] += 1
    log.error("vector store failed", extra={"error": type(error).__name__, "reason": error.message})
    return error
