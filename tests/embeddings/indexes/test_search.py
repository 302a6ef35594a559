"""A search through the index: as many rows as there are, whatever is filtered, and the right ones."""

import math
from typing import Any

import pytest
from psycopg.sql import SQL

from documents.access import FULL
from embeddings import indexing
from embeddings.models import VectorIndex
from embeddings.search import dense
from embeddings.vectors.rows import vector_text
from knowlex.db import pool
from knowlex.db.threads import execute
from tests.embeddings.conftest import in_thread
from tests.embeddings.indexes.conftest import SIZE
from tests.provider import vector_of

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")

VECTOR = vector_text(vector_of("ships on the water", SIZE))


@pytest.fixture(params=[("ivfflat", "vector", 20_000), ("hnsw", "halfvec", 4000)], ids=lambda how: how[0])
def library(request, add_vectors, settings) -> int:
    """20,000 rows, and 3 in a collection of their own; one row in 100 is marked, one in 10,000 otherwise."""
    settings.VECTOR_INDEX, settings.VECTOR_INDEX_STORAGE, rows = request.param
    add_vectors(rows, clusters=500)
    add_vectors(3, collection="small")
    execute("UPDATE documents_chunk SET page_number = chunk_index % 100, last_page = chunk_index % 10000")
    execute("ANALYZE documents_chunk")
    assert indexing.ensure_index(min_rows=1)
    VectorIndex.objects.update(exact_below=1000)
    return rows


async def found(where: str = "", *, narrow: bool | None = None, limit: int = 10, exact: bool = False) -> Any:
    """Chunk ids and plan of a search in `default`; narrow: as retrieval says it of a filter."""
    ids, *_ = await dense._collection(None, FULL)
    model = await dense.fetch_search_model(ids)
    assert model is not None
    assert model.index is not None
    if exact:
        model = model.exactly()
    elif narrow is not None:
        model = model.filtered(narrow=narrow)
    statement = dense.dense_statement(model, SQL(where))
    parameters = {"vector": VECTOR, "collections": ids, "limit": limit}
    rows = await pool.fetch_all(statement, parameters, setup=model.setup)
    plan = await pool.fetch_all(SQL("EXPLAIN ") + statement, parameters, setup=model.setup)
    return [row["chunk_id"] for row in rows], str(plan)


MARKED = """ AND EXISTS (SELECT FROM documents_chunk c WHERE c.id = e.chunk_id AND c.page_number = 7)"""
RARE = """ AND e.chunk_id IN (SELECT c.id FROM documents_chunk c WHERE c.last_page = 7)"""


async def test_an_index_serves_and_never_returns_fewer_rows_than_there_are(library):
    try:
        await _check_unfiltered()
        for limit in (10, library // 200):
            await _check_one_in_a_hundred(limit)
        await _check_one_in_ten_thousand(math.ceil(library / 10_000))
        await _check_small_collection()
    finally:
        await pool.close_pool()
        await in_thread(_drop)


async def _check_unfiltered() -> None:
    ids, plan = await found(limit=50)
    truth, _ = await found(limit=50, exact=True)
    assert "Index Scan using embeddings_vectors_" in plan
    assert len(ids) == len(set(ids)) == 50
    assert len(set(ids) & set(truth)) >= 43


async def _check_one_in_a_hundred(limit: int) -> None:
    """Even through the index, as if so many passed that it is asked."""
    truth, _ = await found(MARKED, exact=True, limit=limit)
    by_index, _ = await found(MARKED, narrow=False, limit=limit)
    assert len(by_index) == limit
    assert len(set(by_index) & set(truth)) >= 0.6 * limit
    narrow, plan = await found(MARKED, narrow=True, limit=limit)
    assert narrow == truth
    assert "embeddings_vectors_" not in plan


async def _check_one_in_ten_thousand(passing: int) -> None:
    for narrow in (True, False):
        ids, _ = await found(RARE, narrow=narrow)
        assert len(ids) == passing


async def _check_small_collection() -> None:
    ids, *_ = await dense._collection("small", FULL)
    model = await dense.fetch_search_model(ids)
    assert model is not None
    assert model.index is None
    rows = await pool.fetch_all(
        dense.dense_statement(model), {"vector": VECTOR, "collections": ids, "limit": 10}
    )
    assert len(rows) == 3


def _drop() -> None:
    VectorIndex.objects.all().delete()
