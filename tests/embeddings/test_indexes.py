"""The vector index: none without need, rows never fewer than exist, rebuilt as the data grow."""

import pytest
from django.db import connection

from documents.access import FULL
from embeddings import indexes, search, services
from embeddings.store import vector_text
from knowlex.common import async_db
from knowlex.common.database import execute
from knowlex.common.ids import new_id
from tests.embeddings.conftest import in_thread
from tests.provider import vector_of

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")


@pytest.fixture(autouse=True)
def _no_index_is_left(transactional_db):
    yield
    for (name,) in execute("SELECT relname FROM pg_class WHERE relname LIKE %s", [f"{indexes.PREFIX}%"]):
        execute(f"DROP INDEX {connection.ops.quote_name(name)}")


def embed(add_document, count: int, collection: str = "default") -> None:
    add_document([f"{collection} water and ships {n}" for n in range(count)], collection=collection)
    services.request_embeddings(access=FULL)
    while services.embed_batch(new_id()):
        pass


def lists() -> int:
    ((lists_,),) = execute(
        "SELECT option_value::int FROM pg_class, pg_options_to_table(reloptions) WHERE relname = %s",
        [f"{indexes.PREFIX}{services.active_model().pk}"],
    )
    return int(lists_)


def test_there_is_no_index_until_there_are_rows_for_one(add_document):
    embed(add_document, 30)
    assert indexes.ensure_index() is None
    assert indexes.ensure_index(min_rows=31) is None
    assert indexes.ensure_index(min_rows=30) is not None
    assert indexes.ensure_index(min_rows=30) is None


def test_the_index_is_built_anew_when_the_data_have_outgrown_it(add_document):
    embed(add_document, 20)
    indexes.ensure_index(min_rows=1)
    before = lists()
    embed(add_document, 100)
    indexes.ensure_index(min_rows=1)
    assert (before, lists()) == (4, 11)


def test_an_index_that_a_crash_left_invalid_is_built_anew(add_document):
    embed(add_document, 20)
    name = indexes.ensure_index(min_rows=1)
    execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [name])
    assert indexes.ensure_index(min_rows=1) == name


async def test_a_search_by_index_finds_as_many_rows_as_there_are(add_document, monkeypatch):
    await in_thread(embed, add_document, 60)
    await in_thread(embed, add_document, 5, collection="small")
    await in_thread(indexes.ensure_index, min_rows=1)
    monkeypatch.setattr(search, "EXACT_BELOW", 0)
    try:
        for collection, expected in (("default", 50), ("small", 5)):
            ids = await search._collection_ids(collection, FULL)
            model = await search.search_model(ids)
            assert model is not None
            assert model.indexed
            hits = await search.search("ships on the water", access=FULL, collection=collection, limit=50)
            assert len(hits) == expected
            assert [hit.distance for hit in hits] == sorted(hit.distance for hit in hits)
        plan = await async_db.fetch_all(
            search.SQL("EXPLAIN ") + search.dense_statement(model),
            {"vector": vector_text(vector_of("ships", 32)), "collections": ids, "limit": 5},
            setup=(*indexes.SETUP, search.SQL("SET LOCAL enable_seqscan = off")),
        )
        assert indexes.PREFIX in str(plan) or "embeddings_by_collection" in str(plan)
    finally:
        await async_db.close_pool()
