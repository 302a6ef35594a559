"""Fetching what stands beside a hit, on real PostgreSQL."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from documents.access import FULL
from documents.models import Chunk, Document
from knowlex.base.errors import DatabaseUnavailable
from knowlex.db import pool, replica
from knowlex.db.pool import close_pool
from rag.answering import lifecycle, services
from rag.answering.pipeline import Pipeline
from rag.retrievers import neighbours
from rag.retrievers.hybrid import HybridRetriever
from rag.types.answer import Answer
from rag.types.context import Place
from rag.types.question import Filters, Mode, Question
from rag.types.retrieval import Passage, Retrieval
from tests.provider import Provider
from tests.rag.conftest import AddDocument
from tests.rag.factory import CannedSynthesizer, KeepOrder

pytestmark = pytest.mark.django_db(transaction=True)
T = TypeVar("T")

ONE, TWO, THREE = "The kit holds the following:", "A rope and a lamp.", "It rains on Sundays."


def run(work: Awaitable[T]) -> T:
    """In a loop of its own, whose connections are closed with it."""

    async def closing() -> T:
        try:
            return await work
        finally:
            await lifecycle.close()
            await close_pool()

    return asyncio.run(closing())


@pytest.fixture
def document(add_document: AddDocument) -> Document:
    add_document("Another document of another collection.", collection="other")
    return add_document(ONE, TWO, THREE)


def fetched(
    document: Document, *indexes: int, mode: Mode = "hybrid", **fields: Any
) -> tuple[Retrieval, tuple[Passage, ...]]:
    async def fetch() -> tuple[Retrieval, tuple[Passage, ...]]:
        ids = await services.resolve_collections(("default",), access=FULL)
        question = Question("What does the kit hold?", ids, top_k=5, mode=mode)
        retriever = HybridRetriever()
        found = await retriever.retrieve(question)
        places = [Place(document.id, index) for index in indexes]
        narrowed = Question(question.text, ids, top_k=5, mode=mode, **fields)
        return found, await retriever.neighbours(narrowed, found, places)

    return run(fetch())


def test_a_neighbour_is_known_as_a_hit_is(document: Document, provider: Provider) -> None:
    embedded = len(provider.calls("embeddings"))
    found, (neighbour,) = fetched(document, 1)
    hit = next(p for p in found.passages if p.content == TWO)
    assert (neighbour.chunk_id, neighbour.content, neighbour.title) == (hit.chunk_id, TWO, hit.title)
    assert neighbour.distance == pytest.approx(hit.distance)
    assert [s[:2] for s in neighbour.sentences] == [(0, len(TWO))]
    assert (neighbour.dense_rank, neighbour.sparse_rank) == (None, None)
    assert len(provider.calls("embeddings")) == embedded + 1  # the question, once


def test_a_place_that_is_not_there_brings_nothing(document: Document) -> None:
    assert fetched(document, 7)[1] == ()


def test_all_are_fetched_at_once(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    statements: list[object] = []

    async def counted(sql: Any, *args: Any, **kwargs: Any) -> list[pool.Row]:
        statements.append(sql)
        return await replica.fetch_all(sql, *args, **kwargs)

    monkeypatch.setattr(neighbours, "fetch_all", counted)
    assert {p.content for p in fetched(document, 0, 1, 2)[1]} == {ONE, TWO, THREE}
    assert len(statements) == 1


def test_what_the_question_may_not_read_is_no_neighbour(document: Document) -> None:
    assert fetched(document, 1, filters=Filters(page_from=2))[1] == ()
    assert fetched(Document.objects.get(collection__name="other"), 0)[1] == ()


def test_a_search_without_vectors_finds_neighbours_too(document: Document) -> None:
    (neighbour,) = fetched(document, 1, mode="sparse")[1]
    assert (neighbour.content, neighbour.distance) == (TWO, None)


def test_an_answer_can_do_without_them(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    async def gone(*args: Any, **kwargs: Any) -> None:
        raise DatabaseUnavailable("gone")

    monkeypatch.setattr(neighbours, "fetch_all", gone)
    assert fetched(document, 1)[1] == ()


def sampled(document: Document, count: int, **fields: Any) -> list[Passage]:
    async def fetch() -> list[Passage]:
        ids = await services.resolve_collections(("default",), access=FULL)
        question = Question("What does it hold?", ids, top_k=5)
        retriever = HybridRetriever()
        found = await retriever.retrieve(question)
        return list(await retriever.sample(replace(question, **fields), found, document.id, count))

    return run(fetch())


@pytest.mark.parametrize(
    ("count", "indexes"),
    [(1, [0]), (2, [0, 4]), (3, [0, 3, 5]), (7, [0, 1, 2, 3, 4, 5, 6]), (50, [0, 1, 2, 3, 4, 5, 6])],
)
def test_a_sample_is_spread_over_its_document(
    add_document: AddDocument, count: int, indexes: list[int]
) -> None:
    add_document("Another document.")
    document = add_document(*(f"Chapter {n} of it." for n in range(7)))
    found = sampled(document, count)
    assert [passage.chunk_index for passage in found] == indexes
    assert all(passage.distance is not None and passage.sentences for passage in found)


def test_a_sample_is_of_what_the_question_may_read(add_document: AddDocument) -> None:
    document = add_document(*(f"Chapter {n} of it." for n in range(7)))
    Chunk.objects.filter(document=document, chunk_index__lt=3).update(page_number=1, last_page=1)
    Chunk.objects.filter(document=document, chunk_index__gte=3).update(page_number=2, last_page=2)
    found = sampled(document, 2, filters=Filters(page_from=2))
    assert [passage.chunk_index for passage in found] == [3, 5]
    assert sampled(add_document("Elsewhere.", collection="other"), 2) == []


def test_an_answer_is_made_of_a_hit_and_what_completes_it(add_document: AddDocument) -> None:
    rope = "- a rope\n- a lamp"
    document = add_document(ONE, rope, "The kit is red.", "Rain.")
    Chunk.objects.filter(document=document, chunk_index=1).update(start_char=len(ONE) + 1)

    def only_the_first(text: str, found: Retrieval, calibration: object) -> Retrieval:
        judged = (p._replace(relevance=0.9 if p.content == ONE else 0.1) for p in found.passages)
        return replace(found, passages=tuple(judged))

    async def answer() -> Answer:
        ids = await services.resolve_collections(("default",), access=FULL)
        retriever = HybridRetriever(depth=2, candidates=2)
        made = Pipeline(retriever, KeepOrder(), only_the_first, CannedSynthesizer("It holds a rope [1]."))
        return await made.answer(Question("What does the kit hold?", ids, top_k=2))

    found = run(answer())
    assert {p.content for p in found.passages} == {ONE, "The kit is red."}
    assert [(p.content, p.relevance) for p in found.context] == [(ONE, 0.9), (rope, 0.9)]
