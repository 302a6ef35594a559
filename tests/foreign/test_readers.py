"""Every CollectionReader: the same records, the same answers."""

import math

import numpy as np
import pytest

from embeddings.stores.chroma_client import ChromaClient
from knowlex.base.errors import RetrievalFailed, VectorStoreFailed
from knowlex.base.retry import Retry
from rag_service.readers import ChromaReader, join_conditions, require_equal
from tests.foreign.filling import Fill, Given, in_chroma
from tests.support.chroma import ChromaServer
from tests.support.servers import port_of_nobody

EAST = np.array([1.0, 0.0, 0.0], dtype=np.float32)
DIRECTIONS = [
    Given("east", "one", {"page_number": 1}, (1.0, 0.0, 0.0)),
    Given("north east", "two", {"page_number": 2}, (1.0, 1.0, 0.0)),
    Given("north", "three", {"page_number": 3}, (0.0, 3.0, 0.0)),
    Given("west", "four", {"page_number": 4}, (-0.5, 0.0, 0.0)),
]
MIXED = [
    Given("a", "a", {"page_number": 5, "source_doc": "a.pdf", "draft": True}),
    Given("b", "b", {"page_number": 6, "source_doc": "b.pdf", "draft": False}),
    Given("c", "c", {"page_number": "5", "source_doc": "c.pdf"}),
    Given("d", "d", {"page_number": 5.0, "weight": 0.5}),
    Given("e", "e", None),
]


async def test_distances_are_cosine_distances_whatever_the_space_and_the_length(fill: Fill):
    reader = await fill(DIRECTIONS)

    found = {record.id: record.distance for record in await reader.nearest(EAST, 10)}

    expected = {"east": 0.0, "north east": 1 - math.sqrt(0.5), "north": 1.0, "west": 2.0}
    assert found == pytest.approx(expected, abs=1e-5)


async def test_no_more_than_asked_for_with_text_and_metadata(fill: Fill):
    reader = await fill(
        [one._replace(vector=(1.0 - n / 10, n / 10, 0.0)) for n, one in enumerate(DIRECTIONS)]
    )

    found = await reader.nearest(EAST, 2)

    assert [(one.id, one.text, one.metadata) for one in found] == [
        ("east", "one", {"page_number": 1}),
        ("north east", "two", {"page_number": 2}),
    ]


@pytest.mark.parametrize(
    ("equal", "expected"),
    [
        ({"page_number": 5}, "ad"),
        ({"page_number": "5"}, "c"),
        ({"page_number": [6, "5"]}, "bc"),
        ({"page_number": [5, 6]}, "abd"),
        ({"draft": True}, "a"),
        ({"draft": 1}, ""),
        ({"source_doc": "a.pdf", "draft": True}, "a"),
        ({"source_doc": "a.pdf", "draft": False}, ""),
        ({"source_doc": ["a.pdf", "b.pdf"], "page_number": [5, "6"]}, "a"),
        ({"nothing of the kind": "x"}, ""),
    ],
)
async def test_conditions_let_the_same_records_through(fill: Fill, equal: dict, expected: str):
    reader = await fill(MIXED)

    where = join_conditions([require_equal(key, value) for key, value in equal.items()])
    found = await reader.nearest(EAST, 10, where)

    assert "".join(sorted(record.id for record in found)) == expected


async def test_records_without_text_or_metadata(fill: Fill):
    reader = await fill([Given("bare", None, None)])

    (record,) = await reader.nearest(EAST, 5)

    assert (record.text, record.metadata) == ("", {})


async def test_a_vector_without_direction_is_unrelated(fill: Fill):
    reader = await fill([Given("zero", "zero", None, (0.0, 0.0, 0.0)), Given("east", "east")])

    found = await reader.nearest(EAST, 5)

    assert {record.id: record.distance for record in found} == pytest.approx({"east": 0, "zero": 1}, abs=1e-6)


async def test_counts(fill: Fill):
    reader = await fill(DIRECTIONS)
    await reader.ping()

    assert await reader.count() == 4


async def test_an_empty_collection_has_nothing(fill: Fill):
    reader = await fill([])

    assert await reader.count() == 0
    assert await reader.nearest(EAST, 5) == []


async def test_another_number_of_dimensions_is_told_with_both(fill: Fill):
    reader = await fill(DIRECTIONS)

    with pytest.raises(RetrievalFailed, match=r"\b3 dimensions.*\b2\b"):
        await reader.nearest(np.array([1.0, 0.0], dtype=np.float32), 5)


async def test_a_collection_that_is_not_there_has_nothing(client: ChromaClient):
    reader = ChromaReader(client, "never_made")
    await reader.ping()

    assert await reader.count() == 0
    assert await reader.nearest(EAST, 5) == []


async def test_a_collection_made_anew_with_other_dimensions(client: ChromaClient, chroma: ChromaServer):
    reader = await in_chroma(client, "cosine", DIRECTIONS)
    await reader.nearest(EAST, 1)
    others = ChromaClient(chroma.url)
    await others.delete_collection(reader.name)
    await others.create_collection(reader.name)
    await others.upsert(reader.name, ids=["x"], vectors=[np.ones(2, dtype=np.float32)], documents=["x"])
    await others.aclose()

    with pytest.raises(RetrievalFailed, match=r"\b2 dimensions.*\b3\b"):
        await reader.nearest(EAST, 5)


async def test_a_server_that_is_not_there():
    with port_of_nobody() as port:
        client = ChromaClient(f"http://127.0.0.1:{port}", retry=Retry(retries=0, base_s=0))
        reader = ChromaReader(client, "documents")

        for call in (reader.nearest(EAST, 5), reader.count(), reader.ping()):
            with pytest.raises(VectorStoreFailed):
                await call
