"""A vector store's server that is gone, hangs or talks nonsense: told as one kind of error, and soon."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from embeddings.protocols import VectorStore
from embeddings.stores.qdrant import QdrantStore
from embeddings.stores.server import StoreCaller
from embeddings.types import Space
from knowlex.base.errors import VectorStoreFailed, VectorStoreTimeout
from knowlex.base.retry import Retry
from knowlex.net.json_client import JsonWire
from tests.stores.conftest import STORES
from tests.stores.points import collection, point, vectors
from tests.support.qdrant import QdrantServer
from tests.support.servers import ServerProcess

A = collection("a")
QUESTION = vectors(1, seed=99)[0]
KNOWN = [point(number, vector) for number, vector in enumerate(vectors(20))]
SHORT_S, TRIES = 0.3, 4


@pytest.fixture(params=STORES)
async def served(
    request: pytest.FixtureRequest, servers: Callable[[str], ServerProcess], space: Space
) -> AsyncIterator[tuple[ServerProcess, VectorStore]]:
    """A server and a store that speaks to it and has KNOWN in it; running again for the next test."""
    server = servers(request.param)
    store = STORES[request.param](url=server.url, timeout_s=20.0)
    await store.put(space, KNOWN)
    yield server, store
    await store.aclose()
    server.pause(on=False)
    server.ensure_running()


async def nearest(store: VectorStore, space: Space, limit: int = 5) -> list[UUID]:
    return [one.chunk_id for one in await store.nearest(space, QUESTION, collections=[A], limit=limit)]


async def test_a_killed_server_is_told_of_at_once_and_used_again_when_it_is_back(
    served: tuple[ServerProcess, VectorStore], space: Space
):
    server, store = served
    before = await nearest(store, space)
    server.kill()
    began = time.monotonic()
    outcomes = await asyncio.gather(*(nearest(store, space) for _ in range(50)), return_exceptions=True)
    assert {type(one) for one in outcomes} == {VectorStoreFailed}
    assert time.monotonic() - began < 15
    with pytest.raises(VectorStoreFailed):
        await store.put(space, KNOWN)
    with pytest.raises(VectorStoreFailed):
        await store.ping()

    server.start()
    assert await nearest(store, space) == before
    await store.remove(space, [KNOWN[0].chunk_id])
    assert len(await nearest(store, space, limit=50)) == len(KNOWN) - 1


async def test_a_server_that_was_killed_in_the_middle_of_questions_answers_the_later_ones(
    served: tuple[ServerProcess, VectorStore], space: Space
):
    """Each of a hundred ends: with its neighbours, or with the error."""
    server, store = served
    expected = await nearest(store, space)
    asked = [asyncio.create_task(nearest(store, space)) for _ in range(100)]
    await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
    await asyncio.to_thread(server.kill)
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert all(one == expected or isinstance(one, VectorStoreFailed) for one in outcomes)


async def test_a_server_that_hangs_costs_its_tries_and_no_more(
    served: tuple[ServerProcess, VectorStore], space: Space, request: pytest.FixtureRequest
):
    server, store = served
    hasty = type(store)(url=server.url, timeout_s=SHORT_S)
    server.pause(on=True)
    began = time.monotonic()
    with pytest.raises(VectorStoreTimeout, match=r"^Connection to vector store timed out after 0\.3s$"):
        await nearest(hasty, space)
    took_s = time.monotonic() - began
    assert SHORT_S * TRIES <= took_s < SHORT_S * TRIES + 8
    began = time.monotonic()
    with pytest.raises(VectorStoreTimeout):
        await hasty.ping()
    assert time.monotonic() - began < took_s  # without another try
    server.pause(on=False)
    assert len(await nearest(store, space)) == 5
    await hasty.aclose()


async def test_a_question_that_is_given_up_does_not_wait(
    served: tuple[ServerProcess, VectorStore], space: Space
):
    server, store = served
    server.pause(on=True)
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(SHORT_S):
            await nearest(store, space)
    assert time.monotonic() - began < SHORT_S + 8  # of the 20 s that it may take
    server.pause(on=False)


async def test_what_another_client_drops_is_made_again(
    served: tuple[ServerProcess, VectorStore], space: Space
):
    server, store = served
    other = type(store)(url=server.url, timeout_s=20.0)
    await other.drop(space)
    assert await nearest(store, space) == []
    await store.remove(space, [KNOWN[0].chunk_id])
    await store.put(space, KNOWN[:3])
    assert len(await nearest(other, space)) == 3
    await other.aclose()


async def test_several_that_make_a_space_at_once_make_one(
    served: tuple[ServerProcess, VectorStore], space: Space
):
    server, store = served
    fresh = Space(f"{space.name}1", 71, space.dimensions)
    others = [type(store)(url=server.url, timeout_s=20.0) for _ in range(8)]
    await asyncio.gather(*(one.put(fresh, [known]) for one, known in zip(others, KNOWN, strict=False)))
    assert set(await nearest(store, fresh, limit=50)) == {one.chunk_id for one in KNOWN[:8]}
    for one in others:
        await one.aclose()


def test_each_event_loop_has_connections_of_its_own(servers: Callable[[str], ServerProcess]):
    """As tasks do that run one loop after another with the store of their process."""
    store = QdrantStore(url=servers("qdrant").url, timeout_s=20.0)

    async def used(number: int) -> int:
        space = Space("loops", 73, len(QUESTION))
        await store.put(space, [KNOWN[number]])
        found = await nearest(store, space)
        await store.aclose()
        return len(found)

    assert [asyncio.run(used(number)) for number in (0, 1)] == [1, 2]


@pytest.fixture
def qdrant(servers: Callable[[str], ServerProcess]) -> Iterator[QdrantServer]:
    """One that can be made to misbehave."""
    server = servers("qdrant")
    assert isinstance(server, QdrantServer)
    server.behave()
    yield server
    server.behave()


@pytest.fixture
async def store_of_qdrant(qdrant: QdrantServer, space: Space) -> AsyncIterator[QdrantStore]:
    store = QdrantStore(url=qdrant.url, timeout_s=20.0)
    await store.put(space, KNOWN)
    yield store
    await store.aclose()


PASSING: list[dict[str, Any]] = [
    {"fault": "status", "status": 500},
    {"fault": "status", "status": 503},
    {"fault": "status", "status": 429, "retry_after": "0"},
    {"fault": "hang_up"},
    {"fault": "cut"},
    {"fault": "not_json"},
]


@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: "-".join(map(str, fault.values())))
async def test_a_fault_that_passes_is_not_noticed_and_one_that_stays_is_told(
    qdrant: QdrantServer, store_of_qdrant: QdrantStore, space: Space, fault: dict[str, Any]
):
    expected = await nearest(store_of_qdrant, space)
    qdrant.misbehave(**fault, times=2)
    assert await nearest(store_of_qdrant, space) == expected
    qdrant.misbehave(**fault, times=100)
    with pytest.raises(VectorStoreFailed) as told:
        await nearest(store_of_qdrant, space)
    assert qdrant.url not in told.value.message
    assert len(qdrant.requests()) in (TRIES, TRIES + 1)  # one more on a connection that was kept open


FINAL: list[dict[str, Any]] = [
    {"fault": "status", "status": 400},
    {"fault": "status", "status": 403},
    {"fault": "status", "status": 302},
    {"fault": "status", "status": 429, "retry_after": "120"},
    {"fault": "strange"},
]


@pytest.mark.parametrize("fault", FINAL, ids=lambda fault: "-".join(map(str, fault.values())))
async def test_what_another_try_would_not_better_is_tried_once(
    qdrant: QdrantServer, store_of_qdrant: QdrantStore, space: Space, fault: dict[str, Any]
):
    qdrant.misbehave(**fault, times=100)
    with pytest.raises(VectorStoreFailed):
        await nearest(store_of_qdrant, space)
    assert len(qdrant.requests()) == 1


async def test_a_write_whose_answer_is_lost_is_written_once(
    qdrant: QdrantServer, store_of_qdrant: QdrantStore, space: Space
):
    more = [point(number, QUESTION) for number in (50, 51)]
    qdrant.misbehave("cut", path="/points", times=2)
    await store_of_qdrant.put(space, more)
    assert len(await nearest(store_of_qdrant, space, limit=50)) == len(KNOWN) + 2


async def test_an_answer_that_is_too_large_is_not_read(qdrant: QdrantServer):
    wire = JsonWire(qdrant.url, max_bytes=100_000)
    caller = StoreCaller(wire, retry=Retry(retries=1, base_s=0.01))
    assert (await caller.call("GET", "/collections")).ok
    qdrant.misbehave("huge", times=2)
    with pytest.raises(VectorStoreFailed):
        await caller.call("GET", "/collections")
    assert len(qdrant.requests()) == 2
    await caller.aclose()


async def test_the_key_is_sent_and_never_told(qdrant: QdrantServer, space: Space):
    qdrant.misbehave("key", key="qd-0a1b2c3d", times=100)
    knows = QdrantStore(url=qdrant.url, api_key="qd-0a1b2c3d", timeout_s=20.0)
    await knows.put(space, KNOWN)
    assert len(await nearest(knows, space)) == 5
    guesses = QdrantStore(url=qdrant.url, api_key="qd-99999999", timeout_s=20.0)
    for call in (guesses.ping(), nearest(guesses, space)):
        with pytest.raises(VectorStoreFailed, match="refuses the key") as told:
            await call
        assert "qd-" not in told.value.message
    await knows.aclose()
    await guesses.aclose()
