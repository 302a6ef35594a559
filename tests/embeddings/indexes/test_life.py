"""The vector index: none without need, rows never fewer than exist, its recall known and kept."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from documents.models import Document
from embeddings import indexing, services
from embeddings.indexing import building, measuring
from embeddings.indexing.kinds import PREFIX, Index, explain_unsupported, ivfflat_build_bytes, lists_for
from embeddings.models import EmbeddingModel, IndexMeasurement, VectorIndex
from embeddings.queue import INDEX_LOCK
from knowlex.db.threads import execute
from tests.embeddings.indexes.conftest import SIZE, relations, state
from tests.support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")

_BUILDING = "SELECT 1 FROM pg_stat_progress_create_index WHERE command = 'CREATE INDEX CONCURRENTLY'"


def _in_own_connection(work: Callable[[], Any]) -> Any:
    try:
        return work()
    finally:
        connection.close()


def test_there_is_no_index_until_there_are_rows_for_one(add_vectors):
    add_vectors(300)
    assert indexing.ensure_index() is None
    assert indexing.ensure_index(min_rows=301) is None
    name = indexing.ensure_index(min_rows=300)
    assert relations() == {name}
    assert indexing.ensure_index(min_rows=300) is None


def test_a_build_measures_what_it_made(add_vectors, monkeypatch):
    monkeypatch.setattr(measuring, "SAMPLE", 500)
    add_vectors(400)
    indexing.ensure_index(min_rows=1)

    (measured,) = IndexMeasurement.objects.all()

    assert (measured.kind, measured.storage, measured.rows, measured.lists) == ("ivfflat", "vector", 400, 40)
    assert measured.reason == "built: first"
    assert measured.sample == 400  # all that there are
    assert measured.recall >= measuring.TARGET
    assert (state().effort, state().recall, state().serves) == (measured.effort, measured.recall, True)


def test_the_index_is_built_anew_when_the_data_have_outgrown_it(add_vectors):
    add_vectors(100)
    first = indexing.ensure_index(min_rows=1)
    add_vectors(200)
    assert indexing.ensure_index(min_rows=1) is None
    add_vectors(200)

    second = indexing.ensure_index(min_rows=1)

    assert relations() == {second} != {first}
    assert (state().rows, state().lists) == (500, 45)
    assert IndexMeasurement.objects.first().reason == "built: grown"


def test_the_index_is_built_anew_when_most_of_its_rows_have_gone(add_vectors):
    replaced = add_vectors(300)
    add_vectors(100)
    indexing.ensure_index(min_rows=1)
    Document.objects.filter(id=replaced).delete()
    add_vectors(300)

    assert indexing.ensure_index(min_rows=1) is not None
    assert IndexMeasurement.objects.first().reason == "built: replaced"


def test_an_index_goes_when_there_is_no_need_of_it_any_more(add_vectors):
    document = add_vectors(300)
    indexing.ensure_index(min_rows=200)
    Document.objects.filter(id=document).delete()

    assert indexing.ensure_index(min_rows=200) is None
    assert relations() == set()
    assert not VectorIndex.objects.exists()


@pytest.mark.parametrize("kind", ["ivfflat", "hnsw"])
@pytest.mark.parametrize("storage", ["vector", "halfvec"])
def test_every_kind_and_storage_finds_what_an_exact_search_finds(add_vectors, settings, kind, storage):
    settings.VECTOR_INDEX, settings.VECTOR_INDEX_STORAGE = kind, storage
    add_vectors(600)

    indexing.ensure_index(min_rows=1)

    ((definition,),) = execute("SELECT pg_get_indexdef(%s::regclass)", [relations().pop()])
    assert f"USING {kind} (((vector)::{storage}({SIZE})) {storage}_cosine_ops)" in definition
    assert state().recall >= measuring.TARGET


def test_another_setting_builds_the_new_index_before_the_old_one_goes(add_vectors, settings, monkeypatch):
    add_vectors(300)
    first = indexing.ensure_index(min_rows=1)
    settings.VECTOR_INDEX = "hnsw"
    there: list[set[str]] = []
    real = building.measure

    def look(index: Index, **how: Any) -> Any:
        there.append(relations())
        assert state().kind == "ivfflat"  # what searches use while the new one is looked at
        return real(index, **how)

    monkeypatch.setattr(building, "measure", look)
    second = indexing.ensure_index(min_rows=1)

    assert there == [{first, second}]
    assert relations() == {second}
    assert state().kind == "hnsw"


def test_without_an_index_by_setting_the_one_there_is_goes(add_vectors, settings):
    add_vectors(300)
    indexing.ensure_index(min_rows=1)
    settings.VECTOR_INDEX = "none"

    assert indexing.ensure_index(min_rows=1) is None
    assert relations() == set()


def test_vectors_too_long_for_an_index_are_said_to_be():
    assert explain_unsupported(2000, "hnsw", "vector") == ""
    assert "KNOWLEX_VECTOR_INDEX_STORAGE=halfvec" in explain_unsupported(3072, "hnsw", "vector")
    assert explain_unsupported(3072, "ivfflat", "halfvec") == ""
    assert explain_unsupported(8192, "ivfflat", "halfvec").startswith("8192 dimensions are more than")


def test_what_a_crash_left_behind_is_cleaned_up(add_vectors):
    add_vectors(200)
    name = indexing.ensure_index(min_rows=1)
    execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [name])

    again = indexing.ensure_index(min_rows=1)

    assert again not in (None, name)
    assert relations() == {again}


def test_builds_that_fail_leave_no_more_than_one_behind(add_vectors, monkeypatch):
    add_vectors(200)
    serving = indexing.ensure_index(min_rows=1)

    def fails(*_: object, **__: object) -> None:
        raise OperationalError("the server stops")

    with monkeypatch.context() as patch:
        patch.setattr(building, "measure", fails)
        for _ in range(3):
            with pytest.raises(OperationalError):
                indexing.rebuild(services.active_model())

    assert VectorIndex.objects.get().number == 1
    assert len(relations()) == 2
    assert serving in relations()


def test_what_an_earlier_release_built_goes_where_there_are_too_few_rows_for_one(add_vectors, model):
    add_vectors(50)
    execute(
        f"CREATE INDEX {PREFIX}{model.pk} ON embeddings_embedding "
        f"USING ivfflat ((vector::vector({SIZE})) vector_cosine_ops) WHERE model_id = {model.pk}"
    )

    assert indexing.ensure_index() is None

    assert relations() == set()


def test_upkeep_looks_at_a_model_that_has_become_active_though_nothing_was_written(
    add_vectors, model, monkeypatch
):
    monkeypatch.setattr(building, "_seen", None)
    add_vectors(50)
    EmbeddingModel.objects.filter(pk=model.pk).update(activated_at=None)
    looked_at: list[EmbeddingModel] = []
    monkeypatch.setattr(building, "ensure_index", looked_at.append)
    monkeypatch.setattr(building, "_WRITES", "SELECT 7")
    indexing.maintain_indexes()
    assert looked_at == []

    EmbeddingModel.objects.filter(pk=model.pk).update(activated_at=timezone.now())
    indexing.maintain_indexes()
    indexing.maintain_indexes()

    assert looked_at == [model]


def test_the_index_of_a_model_that_is_gone_goes_too(add_vectors, model):
    add_vectors(200)
    indexing.ensure_index(min_rows=1)
    EmbeddingModel.objects.filter(pk=model.pk).delete()

    indexing.maintain_indexes()

    assert relations() == set()
    assert not IndexMeasurement.objects.exists()


class _Poor:
    """An index that finds half of what it should below a certain effort."""

    def __init__(self, enough: int) -> None:
        self.enough, self.tried = enough, list[int]()

    def look(self, effort: int) -> measuring.RecallMeasurement:
        self.tried.append(effort)
        return measuring.RecallMeasurement(effort, 1.0 if effort >= self.enough else 0.5, 60, 1.0, 9.0)


INDEX = Index(1, SIZE, 1, "ivfflat", "vector", 300)


@pytest.mark.parametrize(("now", "enough", "expected"), [(None, 100, 108), (32, 100, 108), (64, 5, 5)])
def test_the_effort_goes_up_and_down_with_what_is_found(now, enough, expected):
    assert measuring._choose(INDEX, now, _Poor(enough).look).effort == expected


def test_an_effort_that_is_about_right_is_left_alone():
    poor = _Poor(40)
    poor.look = lambda effort: measuring.RecallMeasurement(effort, 0.97, 60, 1.0, 9.0)

    assert measuring._choose(INDEX, 45, poor.look).effort == 45


def test_poor_recall_raises_the_probes_and_is_on_record(add_vectors):
    add_vectors(2000, clusters=200)
    indexing.ensure_index(min_rows=1)
    VectorIndex.objects.update(effort=1)

    looked = indexing.measure_now(services.active_model(), reason="asked for")

    assert looked.recall >= measuring.TARGET
    assert state().effort == looked.effort > 1
    assert [m.reason for m in IndexMeasurement.objects.all()] == ["asked for", "built: first"]


def test_an_index_that_cannot_be_brought_to_find_enough_is_not_used(add_vectors, monkeypatch):
    add_vectors(2000, clusters=2000)
    monkeypatch.setattr(Index, "efforts", lambda self: [1])

    indexing.ensure_index(min_rows=1)

    assert (state().serves, state().recall < measuring.TARGET) == (False, True)


def test_only_the_last_measurements_are_kept(add_vectors, monkeypatch):
    monkeypatch.setattr(measuring, "MEASUREMENTS_KEPT", 3)
    add_vectors(100)
    indexing.ensure_index(min_rows=1)
    for n in range(5):
        indexing.measure_now(services.active_model(), reason=f"{n}")

    assert [m.reason for m in IndexMeasurement.objects.all()] == ["4", "3", "2"]


def test_upkeep_measures_again_only_what_has_changed_and_not_at_once(add_vectors, monkeypatch):
    add_vectors(300)
    indexing.ensure_index(min_rows=100)
    model = services.active_model()
    assert building.measure_if_due(model) is False  # nothing has changed

    add_vectors(30)
    assert building.measure_if_due(model) is True  # but the last one is not an hour old
    assert IndexMeasurement.objects.count() == 1

    monkeypatch.setattr(building, "MEASURED_EVERY", timedelta(0))
    assert building.measure_if_due(model) is False
    assert [m.reason for m in IndexMeasurement.objects.all()] == ["schedule", "built: first"]


def test_two_never_build_at_once(add_vectors):
    add_vectors(100)
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [INDEX_LOCK])
        assert indexing.ensure_index(min_rows=1) is None
    other.close()
    wait_until(lambda: indexing.ensure_index(min_rows=1), 10, "the lock to end with its session")


def test_vectors_are_stored_while_an_index_is_being_built(add_vectors):
    """The build waits for a transaction that began before it; meanwhile others store and commit."""
    add_vectors(300)
    other = connection.copy()
    with ThreadPoolExecutor(1) as builder:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("DELETE FROM embeddings_embedding WHERE model_id = 0")  # holds a lock on the table
        building_now = builder.submit(_in_own_connection, lambda: indexing.ensure_index(min_rows=1))
        wait_until(lambda: execute(_BUILDING), 30, "the build to begin")
        add_vectors(50)
        assert not building_now.done()
        other.rollback()
        assert building_now.result(60) is not None
    other.close()
    assert VectorIndex.objects.get().rows == 300


def test_a_build_that_deadlocks_with_an_analyze_is_begun_again(add_vectors):
    """The ANALYZE waits for the build's lock, the build for its transaction; one of them is ended."""
    add_vectors(300)
    other = connection.copy()
    with ThreadPoolExecutor(1) as builder:
        with other.cursor() as cursor:
            cursor.execute("SET deadlock_timeout = '5s'")  # so that the build, with 1 s, finds it first
            cursor.execute("BEGIN")
            cursor.execute("DELETE FROM embeddings_embedding WHERE model_id = 0")  # holds a lock on the table
            building_now = builder.submit(_in_own_connection, lambda: indexing.ensure_index(min_rows=1))
            wait_until(lambda: execute(_BUILDING), 30, "the build to begin")
            with suppress(OperationalError):  # on a busy machine it may be this one that is ended
                cursor.execute("ANALYZE embeddings_embedding")
            other.rollback()
        assert {building_now.result(60)} == relations()
    other.close()
    assert VectorIndex.objects.get().serves


@pytest.mark.parametrize(("dimensions", "lists", "storage"), [(8, 200, "vector"), (64, 250, "halfvec")])
def test_the_memory_of_a_build_is_what_pgvector_asks_for(dimensions: int, lists: int, storage: str):
    """Learn it from its refusal, which names whole megabytes, rounded up."""
    execute(
        f"CREATE TABLE vectors_of_this_test AS SELECT array_agg(random())::{storage} AS vector"
        f" FROM generate_series(1, {13_000 * dimensions}) AS n GROUP BY n % 13000"
    )
    try:
        execute("SET maintenance_work_mem = '4MB'")
        with pytest.raises(OperationalError, match="memory required") as refused:
            execute(
                f"CREATE INDEX ON vectors_of_this_test USING ivfflat"
                f" ((vector::{storage}({dimensions})) {storage}_l2_ops) WITH (lists = {lists})"
            )
    finally:
        execute("RESET maintenance_work_mem")
        execute("DROP TABLE vectors_of_this_test")
    required = int(re.search(r"memory required is (\d+) MB", str(refused.value))[1])
    assert required == ivfflat_build_bytes(lists, dimensions, storage) // 2**20 + 1


@pytest.mark.parametrize("rows", [10_000, 1_000_000, 10_000_000])
@pytest.mark.parametrize("megabytes", [64, 256, 1024, 4096])
def test_an_index_has_as_many_lists_as_its_build_has_memory_for(rows: int, megabytes: int):
    lists = lists_for(rows, 384, "vector", megabytes << 20)
    assert ivfflat_build_bytes(lists, 384, "vector") <= megabytes << 20
    fits_more = ivfflat_build_bytes(lists + 1, 384, "vector") <= megabytes << 20
    assert lists == round(2 * rows**0.5) or not fits_more
