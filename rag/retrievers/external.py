"""The nearest chunks by a store outside PostgreSQL, which does not know the filters of a question."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from embeddings.search import vector_store
from embeddings.search.dense import SearchModel
from embeddings.types import Vector
from knowlex.db.pool import fetch_one
from rag.retrievers import statements
from rag.retrievers.scope import Scope

STEP = 4  # times as many are asked for, while too few of them pass the filters
MOST = 5000  # chunks that a store is asked for


async def find_nearest(
    model: SearchModel, scope: Scope, vector: Vector, parameters: Mapping[str, Any]
) -> list[UUID] | None:
    """Return the ids for a search by `model`.

    None where all that pass the filters are to be compared instead: too few of the nearest do, or the store
    cannot hold the collections.

    parameters: those of the search (vector, collections, limit and the filters'). The store is asked while
    nothing of the database is held. Raises VectorStoreFailed, DatabaseUnavailable.
    """
    collections, limit = parameters["collections"], parameters["limit"]
    if not scope.condition:
        return await vector_store.fetch_nearest(
            model.space, vector, collections=collections, limit=limit + vector_store.MORE
        )
    asked = limit * STEP
    while True:
        nearest = await vector_store.fetch_nearest(model.space, vector, collections=collections, limit=asked)
        if nearest is None:
            return None
        passing = await _select_passing(model, scope, nearest, parameters)
        if len(passing) >= limit:
            return passing
        if len(nearest) < asked or asked >= MOST:
            return None
        asked = min(MOST, asked * STEP)


async def _select_passing(
    model: SearchModel, scope: Scope, nearest: Sequence[UUID], parameters: Mapping[str, Any]
) -> list[UUID]:
    statement = statements.select_passing(model.id, scope.condition.conditions)
    row = await fetch_one(statement, {**parameters, "near": nearest}, reader=parameters["principals"] or None)
    return row["ids"] if row else []
