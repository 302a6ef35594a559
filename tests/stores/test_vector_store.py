"""What every VectorStore does."""

from collections.abc import Sequence
from uuid import UUID

import numpy as np
import pytest

from embeddings.protocols import VectorStore
from embeddings.types import NearestChunk, Space, StoredChunk
from knowlex.base.errors import VectorStoreFailed
from tests.stores.points import DIMENSIONS, collection, exactly, point, vectors

A, B, C = collection("a"), collection("b"), collection("c")
QUESTION = vectors(1, seed=99)[0]


def ids(found: Sequence[NearestChunk]) -> list[UUID]:
    return [one.chunk_id for one in found]


async def all_held(store: VectorStore, space: Space) -> list[StoredChunk]:
    return [one async for page in store.list_chunks(space) for one in page]


async def test_the_nearest_and_their_distances_are_those_of_an_exact_search(store: VectorStore, space: Space):
    known = [point(number, vector) for number, vector in enumerate(vectors(200))]
    await store.put(space, known)
    for question in vectors(5, seed=2):
        found = await store.nearest(space, question, collections=[A], limit=40)
        expected = exactly(known, question, [A], 40)
        assert ids(found) == ids(expected)
        assert [one.distance for one in found] == pytest.approx([e.distance for e in expected], abs=2e-6)


async def test_collections_that_are_not_asked_for_are_not_searched(store: VectorStore, space: Space):
    known = [point(number, vector, "abc"[number % 3]) for number, vector in enumerate(vectors(90))]
    await store.put(space, known)
    for asked in ([A], [B, C], [C, A, B], [A, collection("empty")], [A, A]):
        found = await store.nearest(space, QUESTION, collections=asked, limit=20)
        assert ids(found) == ids(exactly(known, QUESTION, asked, 20))
    assert await store.nearest(space, QUESTION, collections=[collection("empty")], limit=20) == []
    assert await store.nearest(space, QUESTION, collections=[], limit=20) == []


async def test_a_limit_beyond_what_is_there_finds_all(store: VectorStore, space: Space):
    known = [point(number, vector) for number, vector in enumerate(vectors(7))]
    await store.put(space, known)
    found = await store.nearest(space, QUESTION, collections=[A], limit=4000)
    assert ids(found) == ids(exactly(known, QUESTION, [A], 7))
    assert await store.nearest(space, QUESTION, collections=[A], limit=0) == []


async def test_equal_vectors_are_all_found(store: VectorStore, space: Space):
    known = [point(number, QUESTION) for number in range(50)]
    await store.put(space, [*known, point(50, -QUESTION)])
    found = await store.nearest(space, QUESTION, collections=[A], limit=50)
    assert set(ids(found)) == {one.chunk_id for one in known}
    assert [one.distance for one in found] == pytest.approx([0] * 50, abs=2e-6)
    last = (await store.nearest(space, QUESTION, collections=[A], limit=51))[-1]
    assert last.distance == pytest.approx(2, abs=2e-6)


async def test_a_space_that_is_not_there_holds_nothing(store: VectorStore, space: Space):
    assert await store.nearest(space, QUESTION, collections=[A], limit=5) == []
    assert await all_held(store, space) == []
    await store.remove(space, [point(1, QUESTION).chunk_id])
    await store.drop(space)
    await store.put(space, [])
    assert await all_held(store, space) == []


async def test_what_is_put_twice_is_there_once_as_it_was_put_last(store: VectorStore, space: Space):
    first = [point(number, vector) for number, vector in enumerate(vectors(10))]
    await store.put(space, first)
    await store.put(space, first)
    moved = point(3, -first[3].vector, "b", chunk_hash="f" * 64, chapter="Two", page_number=None)
    await store.put(space, [moved])
    assert ids(await store.nearest(space, first[3].vector, collections=[B], limit=5)) == [moved.chunk_id]
    assert moved.chunk_id not in ids(await store.nearest(space, QUESTION, collections=[A], limit=50))
    held = await all_held(store, space)
    assert len(held) == 10
    assert StoredChunk(moved.chunk_id, str(B), "f" * 64) in held


async def test_what_is_removed_is_not_found(store: VectorStore, space: Space):
    known = [point(number, vector) for number, vector in enumerate(vectors(30))]
    await store.put(space, known)
    gone = [one.chunk_id for one in known[::2]]
    await store.remove(space, [*gone, point(999, QUESTION).chunk_id])
    await store.remove(space, gone)
    await store.remove(space, [])
    assert ids(await store.nearest(space, QUESTION, collections=[A], limit=50)) == ids(
        exactly(known[1::2], QUESTION, [A], 50)
    )
    await store.put(space, known[:1])
    assert known[0].chunk_id in ids(await store.nearest(space, QUESTION, collections=[A], limit=50))


async def test_a_dropped_space_can_be_filled_again(store: VectorStore, space: Space):
    other = Space(f"{space.name}8", 8, DIMENSIONS)
    await store.put(space, [point(1, QUESTION)])
    await store.put(other, [point(2, QUESTION)])
    await store.drop(space)
    assert await store.nearest(space, QUESTION, collections=[A], limit=5) == []
    assert ids(await store.nearest(other, QUESTION, collections=[A], limit=5)) == [
        point(2, QUESTION).chunk_id
    ]
    await store.put(space, [point(3, QUESTION)])
    assert [one.chunk_id for one in await all_held(store, space)] == [point(3, QUESTION).chunk_id]


async def test_all_that_is_held_is_told_page_by_page(store: VectorStore, space: Space):
    known = [point(number, vector) for number, vector in enumerate(vectors(900))]
    await store.put(space, known)
    pages = [page async for page in store.list_chunks(space)]
    assert len(pages) > 1
    assert sorted(one for page in pages for one in page) == sorted(
        StoredChunk(one.chunk_id, str(A), one.chunk_hash) for one in known
    )
    await store.remove(space, [one.chunk_id for one in known])
    assert await all_held(store, space) == []


async def test_a_large_batch_of_large_vectors_is_cut_as_the_server_needs_it(store: VectorStore, space: Space):
    wide = Space(space.name, space.model_id, 3072)
    known = [point(number, vector) for number, vector in enumerate(vectors(450, dimensions=3072))]
    await store.put(wide, known)
    assert len(await all_held(store, wide)) == 450
    assert (await store.nearest(wide, known[7].vector, collections=[A], limit=1))[0].chunk_id == known[
        7
    ].chunk_id


async def test_vectors_of_another_size_are_refused(store: VectorStore, space: Space):
    await store.put(space, [point(1, QUESTION)])
    with pytest.raises(VectorStoreFailed):
        await store.put(space, [point(2, np.ones(DIMENSIONS + 1))])
    with pytest.raises(VectorStoreFailed):
        await store.nearest(space, np.ones(DIMENSIONS + 1, np.float32), collections=[A], limit=5)
    assert ids(await store.nearest(space, QUESTION, collections=[A], limit=5)) == [
        point(1, QUESTION).chunk_id
    ]


async def test_whatever_texts_a_document_has_it_is_stored(store: VectorStore, space: Space):
    strange = 'A\x00"quoted\' \\ {"$ne": 1} \u202e😀 \U0010ffff' + "é" * 2000
    known = point(1, QUESTION, chapter=strange, section=strange, source_file=strange, book_id="'; --")
    await store.put(space, [known])
    assert ids(await store.nearest(space, QUESTION, collections=[A], limit=5)) == [known.chunk_id]
    assert await all_held(store, space) == [StoredChunk(known.chunk_id, str(A), known.chunk_hash)]


async def test_it_says_that_it_can_be_used(store: VectorStore):
    assert await store.ping() is None  # or it raises
