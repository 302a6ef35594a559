"""The vectors in a process's memory are those of PostgreSQL at every question, read once."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from documents.access.scopes import FULL
from documents.models import Chunk, Document
from embeddings.external import mirror
from embeddings.models import Embedding, EmbeddingModel
from knowlex.db.pool import close_pool
from rag import services
from rag.retrievers.hybrid import HybridRetriever
from rag.types.question import Mode, Question
from rag.types.retrieval import Retrieval
from tests.provider import Provider
from tests.rag.conftest import AddDocument
from tests.rag.test_hybrid import BREAD, RING, TEA, run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def reads(settings: Any, embedder: Provider, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many vectors each statement asked for, of a store in memory."""
    part = {"class": "embeddings.stores.memory.MemoryStore"}
    settings.KNOWLEX = {**settings.KNOWLEX, "VECTOR_STORE": part}
    asked: list[int] = []
    vectors = mirror.read_vectors

    def counted(model_id: int, collection_id: UUID, ids: list[bytes], dimensions: int) -> Any:
        asked.append(len(ids))
        return vectors(model_id, collection_id, ids, dimensions)

    monkeypatch.setattr(mirror, "read_vectors", counted)
    return asked


@pytest.fixture
def library(reads: list[int], add_document: AddDocument) -> None:
    add_document(RING, BREAD)
    add_document(TEA)


async def ask(text: str, collection: str = "default", mode: Mode = "dense") -> Retrieval:
    ids = await services.resolve_collections((collection,), access=FULL)
    return await HybridRetriever().retrieve(Question(text, ids, top_k=5, mode=mode))


def contents(text: str, collection: str = "default", mode: Mode = "dense") -> list[str]:
    return [passage.content for passage in run(ask(text, collection, mode)).passages]


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_it_finds_what_postgresql_finds(library: None, reads: list[int], mode: Mode):
    assert contents("Which bread bakes for minutes?", mode=mode) == [BREAD, TEA, RING]
    assert contents("green tea", mode=mode)[0] == TEA
    assert reads == [3]  # once, for both questions


def test_only_what_has_come_is_read(library: None, reads: list[int], add_document: AddDocument):
    contents("bread")
    add_document("Bread is made of flour.", "Rye bread is dark.")
    assert len(contents("bread")) == 5
    assert reads == [3, 2]


def test_what_has_gone_goes(library: None, reads: list[int]):
    contents("bread")
    Document.objects.filter(original_filename="file0.pdf").delete()
    assert contents("bread") == [TEA]
    assert reads == [3]


def test_a_vector_that_is_made_anew_is_read_anew(library: None, reads: list[int]):
    contents("bread")
    ring, tea = (Embedding.objects.get(chunk__content=text) for text in (RING, TEA))
    Embedding.objects.filter(chunk_id=ring.chunk_id).delete()
    Embedding.objects.create(
        chunk_id=ring.chunk_id, model_id=ring.model_id, collection_id=ring.collection_id, vector=tea.vector
    )
    assert contents(TEA)[:2] in ([RING, TEA], [TEA, RING])
    assert reads == [3, 1]


def test_collections_are_kept_apart(library: None, reads: list[int], add_document: AddDocument):
    add_document("Bread is made of flour.", collection="kitchen")
    assert contents("bread", "kitchen") == ["Bread is made of flour."]
    assert reads == [1]


def test_models_are_kept_apart(library: None, reads: list[int]):
    first = EmbeddingModel.objects.get(active=True)
    second = EmbeddingModel.objects.create(name="other", provider="openai", dimensions=first.dimensions)
    tea = Embedding.objects.get(chunk__content=TEA)
    for chunk in Chunk.objects.all():
        Embedding.objects.create(
            chunk_id=chunk.id, model_id=second.id, collection_id=tea.collection_id, vector=tea.vector
        )
    found = run(ask(RING)).passages
    assert (found[0].content, found[0].distance) == (RING, 0.0)
    assert reads == [3]


def test_questions_at_once_wait_for_one_load(library: None, reads: list[int]):
    async def crowd() -> list[Retrieval]:
        return await asyncio.gather(*(ask("bread") for _ in range(20)))

    assert [len(found.passages) for found in run(crowd())] == [3] * 20
    assert reads == [3]


def test_questions_of_several_loops_share_what_is_held(library: None, reads: list[int]):
    async def one() -> int:
        try:
            return len((await ask("bread")).passages)
        finally:
            await close_pool()

    assert [asyncio.run(one()) for _ in range(3)] == [3, 3, 3]
    assert reads == [3]


def test_large_collections_come_in_pieces(library: None, reads: list[int], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mirror, "STAMPS", 2)
    monkeypatch.setattr(mirror, "PAGE_BYTES", 4 * 2 * 1536)
    assert contents("Which bread bakes for minutes?") == [BREAD, TEA, RING]
    assert reads == [2, 1]


def test_without_room_it_is_searched_in_postgresql(
    library: None, reads: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mirror, "MOST_BYTES", 4 * 1536 * 2)
    assert contents("Which bread bakes for minutes?") == [BREAD, TEA, RING]
    assert reads == []


def test_what_nobody_searches_makes_room(
    library: None, reads: list[int], add_document: AddDocument, monkeypatch: pytest.MonkeyPatch
):
    add_document("Bread is made of flour.", collection="kitchen")
    monkeypatch.setattr(mirror, "MOST_BYTES", 4 * 1536 * 3)
    contents("bread")
    assert contents("bread", "kitchen") == ["Bread is made of flour."]
    assert reads == [3]  # the second had no room
    monkeypatch.setattr(mirror, "UNUSED_S", 0.0)
    add_document("Rye bread is dark.", collection="kitchen")
    assert len(contents("bread", "kitchen")) == 2
    assert reads == [3, 2]
    assert len(contents("bread")) == 3
    assert reads == [3, 2, 3]
