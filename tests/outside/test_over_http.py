"""A Knowlex beside a vector store: what each face says while that is gone, and that it comes back."""

import time
from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import MakeStack
from tests.flow.conftest import BREAD, TEA
from tests.stores.conftest import SERVERS
from tests.support.api import ask, assert_problem, book, embed, ingest, query, search, together
from tests.support.servers import ServerProcess
from tests.support.stack import Stack
from tests.support.texts import markdown
from tests.support.waiting import wait_until

QUESTION = "How long does sourdough bread bake?"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["chroma", "qdrant"])
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    with SERVERS[request.param](tmp_path_factory.mktemp(request.param)) as server:
        yield server


@pytest.fixture(scope="module")
def stack(make_module_stack: MakeStack, store: ServerProcess) -> Stack:
    return make_module_stack(
        workers=1,
        KNOWLEX_VECTOR_STORE=kind_of(store),
        VECTOR_STORE_URL=store.url,
        KNOWLEX_CACHE="off",
        KNOWLEX_RELEVANCE_THRESHOLD="0",
    )


def kind_of(store: ServerProcess) -> str:
    return next(kind for kind, server in SERVERS.items() if isinstance(store, server))


@pytest.fixture
def library(stack: Stack, store: ServerProcess) -> Stack:
    store.ensure_running()
    stack.ensure_running()
    stack.clean()
    ingest(stack.client, markdown("Kitchen", [("Bread", BREAD), ("Tea", TEA)]), "kitchen.md")
    assert embed(stack.client) == 2
    return stack


def health(client: httpx.Client) -> tuple[int, str]:
    reply = client.get("/health")
    return reply.status_code, reply.json()["vector_store"]


def platform(client: httpx.Client, path: str, **settings: object) -> httpx.Response:
    body = {"query": QUESTION, "collections": ["default"], "settings": settings}
    return client.post(path, json=body)


def test_it_is_searched_there(library: Stack, store: ServerProcess):
    found = search(library.client, BREAD).json()
    assert "Sourdough" in found[0]["content"]
    assert health(library.client) == (200, "connected")
    assert library.client.get("/health").json()["vector_index"] == {
        "kind": "none",
        "searches": kind_of(store),
    }
    assert ask(library.client, QUESTION).json()["sourceChunks"]


def test_each_face_says_that_it_is_gone_and_works_once_it_is_back(library: Stack, store: ServerProcess):
    client = library.client
    store.kill()
    try:
        wait_until(lambda: health(client) == (503, "unreachable"), 15, "/health to say so")
        started = time.monotonic()
        assert_problem(search(client, QUESTION), 500)
        assert_problem(ask(client, QUESTION), 500)
        assert_problem(query(client, QUESTION), 503, "RETRIEVAL_FAILED")
        assert_problem(book(client, QUESTION), 503, "RETRIEVAL_FAILED")
        assert_problem(platform(client, "/v1/query"), 503, "SERVICE_UNAVAILABLE")
        assert_problem(platform(client, "/v1/search"), 503, "SERVICE_UNAVAILABLE")
        assert time.monotonic() - started < 20
        for mode in ("sparse", "exact"):
            assert platform(client, "/v1/search", mode=mode).status_code == 200
        assert 'knowlex_vector_store_failures_total{error="VectorStoreFailed"}' in client.get("/metrics").text
    finally:
        store.start()
    wait_until(lambda: health(client) == (200, "connected"), 15, "/health to say so")
    assert ask(client, QUESTION).json()["sourceChunks"]
    assert "Sourdough" in search(client, BREAD).json()[0]["content"]


def test_killed_in_the_middle_of_a_hundred_questions(library: Stack, store: ServerProcess):
    """Each is answered, or told within its limit; the next one after the return is answered."""

    def one(number: int) -> tuple[int, float]:
        if number == 50:
            store.kill()
        started = time.monotonic()
        with httpx.Client(base_url=library.url, timeout=60) as client:
            reply = query(client, f"{QUESTION} {number}")
        if reply.status_code != 200:
            assert_problem(reply, 503, "RETRIEVAL_FAILED")
        return reply.status_code, time.monotonic() - started

    try:
        ended = together([lambda number=number: one(number) for number in range(100)])  # type: ignore[misc]
    finally:
        store.restart()
    assert {status for status, _ in ended} <= {200, 503}
    assert 503 in {status for status, _ in ended}
    assert max(seconds for _, seconds in ended) < 15 + 5  # the deadline of a question, and a busy machine
    assert query(library.client, QUESTION).status_code == 200


def test_a_store_that_hangs_is_given_up_within_the_deadline(library: Stack, store: ServerProcess):
    store.pause(on=True)
    try:
        started = time.monotonic()
        assert_problem(query(library.client, QUESTION), 503, "RETRIEVAL_FAILED")
        assert time.monotonic() - started < 15 + 5
        wait_until(lambda: health(library.client)[0] == 503, 15, "/health to say so")
    finally:
        store.pause(on=False)
    wait_until(lambda: health(library.client) == (200, "connected"), 15, "/health to say so")
    assert query(library.client, QUESTION).status_code == 200


def test_after_a_deletion_nothing_of_it_is_found(library: Stack, store: ServerProcess):
    """Even before the store has heard of it: the worker that would tell it is stopped."""
    document = ingest(
        library.client, markdown("Cakes", [("Cake", "A marble cake bakes for an hour.")]), "cake.md"
    )
    embed(library.client)
    assert "marble" in search(library.client, "marble cake").json()[0]["content"]
    library.kill_worker()
    try:
        assert library.client.delete(f"/api/v1/documents/{document['documentId']}").status_code == 204
        found = search(library.client, "marble cake").json()
        assert found
        assert not [hit for hit in found if "marble" in hit["content"]]
    finally:
        library.start_worker()
