"""Whatever the filters and the mode, found is what plain Python picks out of all chunks."""

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

import pytest

from documents.models import Chunk, Document
from rag.retrievers import scope
from rag.retrievers.hybrid import HybridRetriever
from rag.retrievers.words import CandidateQuery, Matching, QueryWords
from rag.types.question import Filters, MetadataFilter, Mode, Question
from tests.rag.conftest import AddDocument, add_document, embedder  # noqa: F401
from tests.rag.test_hybrid import run

pytestmark = pytest.mark.django_db(transaction=True)

MODES: tuple[Mode, ...] = ("hybrid", "dense", "sparse", "exact")
FIRST_DAY = datetime(2026, 3, 1, tzinfo=UTC)
VALUES: list[Any] = [
    "2026",
    2026,
    2026.5,
    -3,
    True,
    False,
    "a'b\"c\\d",
    "日本",
    "2026-03-02",
    "2026-03-02T12:00",
]
KEYS = ["year", "a.b", "ключ", "tags"]
TAGS = ["red", "blue", "it's"]
TITLES = ["", "One", 'Two "2"', "日本"]


@pytest.fixture
def chunks(add_document: AddDocument) -> list[Chunk]:  # noqa: F811
    draw = random.Random(5)
    for n in range(12):
        created = FIRST_DAY + timedelta(hours=draw.choice([0, 23, 24, 30, 48]), seconds=-draw.choice([0, 1]))
        contents = [f"The fact of place{n} and number{m}." for m in range(3)]
        document = add_document(*contents, metadata=some_metadata(draw), created_at=created)
        for chunk in document.chunks.all():
            page = draw.choice([None, 1, 2, 3])
            chunk.page_number = page
            chunk.last_page = page and page + draw.choice([0, 0, 2])
            chunk.chapter, chunk.section = draw.choice(TITLES), draw.choice(TITLES)
            chunk.save()
    return list(Chunk.objects.select_related("document"))


def some_metadata(draw: random.Random) -> dict[str, Any]:
    flat: dict[str, Any] = {"tags": draw.sample(TAGS, draw.randrange(3))} if draw.random() < 0.7 else {}
    for place in (flat, flat.setdefault("custom", {})):
        for key in KEYS[:3]:
            if draw.random() < 0.4:
                value = draw.choice(VALUES)
                place[key] = [value, draw.choice(VALUES)] if draw.random() < 0.3 else value
    return flat


def some_filters(draw: random.Random, ids: list[UUID]) -> Filters:
    def some(choices: list[Any]) -> tuple[Any, ...]:
        return tuple(draw.sample(choices, draw.choice([1, 2]))) if draw.random() < 0.25 else ()

    day = FIRST_DAY.date() + timedelta(days=draw.randrange(3))
    return Filters(
        document_ids=tuple(draw.sample(ids, 5)) if draw.random() < 0.2 else None,
        tags=some(TAGS),
        metadata=tuple(some_condition(draw) for _ in range(draw.choice([0, 0, 1, 1, 2]))),
        created_from=day if draw.random() < 0.2 else None,
        created_until=day if draw.random() < 0.2 else None,
        page_from=draw.choice([None, None, None, 2]),
        page_to=draw.choice([None, None, None, 2]),
        chapters=some(TITLES[1:]),
        sections=some(TITLES[1:]),
    )


def some_condition(draw: random.Random) -> MetadataFilter:
    key = draw.choice(KEYS)
    if draw.random() < 0.6:
        return MetadataFilter(key, any_of=tuple(draw.sample(VALUES + TAGS, draw.choice([1, 3]))))
    low, high = draw.choice([(None, 2026), (2026, None), (-10, 2026.2), (None, "2026-03-02"), ("2026", None)])
    return MetadataFilter(key, at_least=low, at_most=high)


def passes(chunk: Chunk, filters: Filters) -> bool:
    document: Document = chunk.document
    created = document.created_at
    last = chunk.last_page if chunk.last_page is not None else chunk.page_number
    checks = [
        filters.document_ids is None or document.id in filters.document_ids,
        not filters.tags or any(tag in document.metadata.get("tags", []) for tag in filters.tags),
        filters.created_from is None or created >= midnight(filters.created_from),
        filters.created_until is None or created < midnight(filters.created_until) + timedelta(days=1),
        filters.page_from is None or (last is not None and last >= filters.page_from),
        filters.page_to is None or (chunk.page_number is not None and chunk.page_number <= filters.page_to),
        not filters.chapters or chunk.chapter in filters.chapters,
        not filters.sections or chunk.section in filters.sections,
        *(holds(document.metadata, condition) for condition in filters.metadata),
    ]
    return all(checks)


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def holds(metadata: dict[str, Any], wanted: MetadataFilter) -> bool:
    return any(fits(value, wanted) for value in values_of(metadata, wanted.key))


def values_of(metadata: dict[str, Any], key: str) -> Iterator[Any]:
    for place in (metadata, metadata.get("custom", {})):
        if key in place:
            yield from place[key] if isinstance(place[key], list) else [place[key]]


def fits(value: Any, wanted: MetadataFilter) -> bool:
    if wanted.any_of and not any(kind(value) == kind(one) and value == one for one in wanted.any_of):
        return False
    low, high = wanted.at_least, wanted.at_most
    if any(bound is not None and kind(bound) != kind(value) for bound in (low, high)):
        return False
    under = high is None or value <= high or (len(str(high)) == 10 and str(value).startswith(str(high)))
    return (low is None or value >= low) and under


def kind(value: Any) -> type:
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


@pytest.mark.parametrize("matching", ["each", "indexed", "capped"])
def test_every_mode_finds_what_passes(
    chunks: list[Chunk], matching: Matching, monkeypatch: pytest.MonkeyPatch
):
    if matching != "each":
        monkeypatch.setattr(scope, "NARROW", 0)
        monkeypatch.setattr(scope, "FEW", 0)
        monkeypatch.setattr(
            QueryWords, "candidate_query", lambda words: CandidateQuery(words.all_known(), matching)
        )
    draw = random.Random(11)
    ids = sorted({chunk.document_id for chunk in chunks})
    wanted = [Filters(), *(some_filters(draw, ids) for _ in range(80))]
    expected = [{chunk.id for chunk in chunks if passes(chunk, filters)} for filters in wanted]
    assert sum(map(bool, expected)) > 30  # most find something
    collections = (chunks[0].document.collection_id,)

    async def found() -> list[tuple[Filters, Mode, set[UUID], set[UUID]]]:
        retriever, results = HybridRetriever(), []
        for filters, ids in zip(wanted, expected, strict=True):
            for mode in MODES:
                question = Question("fact", collections, top_k=50, mode=mode, filters=filters)
                retrieval = await retriever.retrieve(question)
                results.append((filters, mode, {p.chunk_id for p in retrieval.passages}, ids))
        return results

    for filters, mode, got, right in run(found()):
        assert got == right, (mode, filters)
