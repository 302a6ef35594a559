"""A store outside PostgreSQL says what is near; PostgreSQL says what is there, and how near it is."""

from typing import Any

import pytest
from django.utils import timezone

from documents.access import FULL
from documents.models import Collection, Document
from embeddings.indexing import ensure_index, explain_refusal
from embeddings.models import Embedding, EmbeddingModel, VectorIndex
from embeddings.search import vector_store
from embeddings.search.dense import search_chunks
from knowlex.base.errors import VectorStoreFailed, VectorStoreTimeout
from knowlex.runtime.metrics import REGISTRY
from rag.retrievers import external, scope
from rag.retrievers.hybrid import HybridRetriever
from rag.types.question import Filters, Mode, Question
from tests.outside.conftest import fill
from tests.outside.spying import SpyingStore
from tests.rag.conftest import AddDocument
from tests.rag.test_hybrid import BREAD, RING, TEA, retrieve, run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def library(spy: SpyingStore, add_document: AddDocument) -> SpyingStore:
    add_document(RING, BREAD)
    add_document(TEA)
    fill(spy)
    return spy


def contents(text: str, *collections: str, mode: Mode = "hybrid", **options: int) -> list[str]:
    return [passage.content for passage in retrieve(text, *collections, mode=mode, **options).passages]


def test_the_store_is_asked_once_for_the_collections_and_a_little_more(library: SpyingStore):
    collection = Collection.objects.get(name="default")
    found = retrieve("Which bread bakes for minutes?")
    assert [p.content for p in found.passages] == [BREAD, TEA, RING]
    assert (found.passages[0].dense_rank, found.passages[0].sparse_rank) == (1, 1)
    assert library.asked == [((collection.id,), 40 + vector_store.MORE)]
    assert {"vector_store", "search", "embed"} <= found.stage_ms.keys()


@pytest.mark.parametrize("mode", ["hybrid", "dense"])
def test_what_is_gone_is_not_found_though_the_store_has_it(library: SpyingStore, mode: Mode):
    Document.objects.filter(original_filename="file0.pdf").delete()
    assert contents("bread minutes", mode=mode) == [TEA]


def test_what_the_store_puts_into_another_collection_is_not_found_there(
    library: SpyingStore, add_document: AddDocument
):
    add_document("Bread is made of flour.", collection="kitchen")
    fill(library)
    kitchen = Collection.objects.get(name="kitchen")
    for chunk_id, point in library.points.items():
        library.points[chunk_id] = type(point)(
            **{name: getattr(point, name) for name in point.__slots__} | {"collection_id": kitchen.id}
        )
    assert contents("bread", "kitchen") == ["Bread is made of flour."]


def test_what_the_store_has_not_got_yet_is_found_while_it_knows_too_few(library: SpyingStore):
    library.points.clear()
    assert contents("bread minutes") == [BREAD, TEA, RING]
    assert contents("bread minutes", mode="dense") == [BREAD, TEA, RING]


def test_only_so_many_vectors_are_compared_for_a_store_that_knows_too_few(
    library: SpyingStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(vector_store, "SCANNED", 2)
    library.points.clear()
    assert contents("minutes", mode="dense", depth=41) == []


def test_distances_are_those_of_the_stored_vectors(library: SpyingStore):
    for chunk_id, point in library.points.items():
        library.points[chunk_id] = type(point)(
            **{name: getattr(point, name) for name in point.__slots__} | {"vector": point.vector[::-1]}
        )
    found = retrieve(RING, mode="dense").passages
    assert (found[0].content, found[0].distance) == (RING, 0.0)


@pytest.mark.parametrize("mode", ["sparse", "exact"])
def test_words_are_found_while_the_store_is_down(library: SpyingStore, mode: Mode):
    library.failing = VectorStoreFailed("refused")
    assert contents("bread", mode=mode) == [BREAD]
    assert library.asked == []


def count_failures(error: type[VectorStoreFailed]) -> float:
    return REGISTRY.get_sample_value("knowlex_vector_store_failures_total", {"error": error.__name__}) or 0.0


@pytest.mark.parametrize("error", [VectorStoreFailed, VectorStoreTimeout])
def test_a_store_that_is_down_fails_the_search_and_is_counted(
    library: SpyingStore, error: type[VectorStoreFailed]
):
    before = count_failures(error)
    library.failing = error("refused")
    with pytest.raises(error):
        retrieve("bread")
    assert count_failures(error) == before + 1
    library.failing = None
    assert contents("bread")[0] == BREAD


def test_narrow_filters_need_no_store(library: SpyingStore):
    library.failing = VectorStoreFailed("refused")
    wanted = Filters(document_ids=(Document.objects.get(original_filename="file1.pdf").id,))
    assert filtered("minutes", wanted) == [TEA]


def filtered(text: str, filters: Filters, **options: int) -> list[str]:
    collection = Collection.objects.get(name="default")
    question = Question(text, (collection.id,), top_k=3, mode="dense", filters=filters)
    found = run(HybridRetriever(**options).retrieve(question))
    return [passage.content for passage in found.passages]


@pytest.fixture
def many(spy: SpyingStore, add_document: AddDocument, monkeypatch: pytest.MonkeyPatch) -> SpyingStore:
    """100 chunks, the farther from "fact" the later; filters are never narrow."""
    add_document(*(" ".join(["fact", *(f"word{m}" for m in range(n))]) for n in range(90)))
    add_document(*(f"fact {' '.join(f'other{m}' for m in range(100 + n))}" for n in range(10)))
    fill(spy)
    monkeypatch.setattr(scope, "NARROW", 0)
    return spy


def test_wide_filters_ask_for_more_until_enough_pass(many: SpyingStore):
    first = Filters(document_ids=(Document.objects.get(original_filename="file0.pdf").id,))
    assert filtered("fact", first, depth=3, candidates=3) == ["fact", "fact word0", "fact word0 word1"]
    assert [limit for _, limit in many.asked] == [12]


def test_filters_that_the_nearest_do_not_pass_compare_all_that_do(
    many: SpyingStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(external, "MOST", 60)
    last = Filters(document_ids=(Document.objects.get(original_filename="file1.pdf").id,))
    found = filtered("fact", last, depth=3, candidates=3)
    assert [text.count("other") for text in found] == [100, 101, 102]
    assert [limit for _, limit in many.asked] == [12, 48, 60]


def test_a_chunk_is_explained_without_the_store(library: SpyingStore):
    library.failing = VectorStoreFailed("refused")
    collection = Collection.objects.get(name="default")
    chunk = Embedding.objects.select_related("chunk").get(chunk__content=TEA).chunk
    question = Question("tea", (collection.id,), top_k=3)
    assert run(HybridRetriever().examine(question, chunk.id)).dense_rank == 1


def test_no_vector_index_is_built_and_an_old_one_goes(library: SpyingStore, settings: Any):
    model = EmbeddingModel.objects.get(active=True)
    VectorIndex.objects.create(
        model=model, number=1, kind="ivfflat", storage="vector", rows=3, effort=1, serves=True,
        exact_below=0, built_at=timezone.now(),
    )  # fmt: skip
    assert "spying" in explain_refusal(model)
    assert contents("bread")[0] == BREAD  # not through the index, which is not even there
    assert ensure_index(model, min_rows=1) is None
    assert not VectorIndex.objects.exists()


def test_plain_search_goes_the_same_way(library: SpyingStore):
    hits = run(search_chunks(TEA, access=FULL, collection=None, limit=2))
    assert [hit.content for hit in hits] == [TEA, BREAD]
    assert hits[0].distance == 0.0
    assert [limit for _, limit in library.asked] == [2 + vector_store.MORE]
    library.failing = VectorStoreTimeout("slow")
    with pytest.raises(VectorStoreTimeout):
        run(search_chunks(TEA, access=FULL, collection=None, limit=2))
