"""Permissions of documents where another server holds the vectors, which knows nothing of readers."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from embeddings.external.configuration import space_of
from embeddings.protocols import VectorStore
from embeddings.stores.chroma import ChromaStore
from embeddings.stores.qdrant import QdrantStore
from tests.conftest import MakeStack
from tests.keys.accounts import forget_accounts
from tests.keys.conftest import ASKS_FOR_KEYS
from tests.keys.permissions_oracle import HOUSE, Caller, House, Secret, build_house, run_requests
from tests.support.chroma import ChromaServer
from tests.support.environment import PROJECT
from tests.support.qdrant import QdrantServer
from tests.support.servers import ServerProcess
from tests.support.stack import Stack

ALWAYS_ASKS = Path(__file__).parent / "always_asks_the_store"
SERVERS: dict[str, type[ServerProcess]] = {"chroma": ChromaServer, "qdrant": QdrantServer}
STORES: dict[str, Callable[..., VectorStore]] = {"chroma": ChromaStore, "qdrant": QdrantStore}


class Outside:
    """A house whose vectors are in a real server."""

    def __init__(self, house: House, stack: Stack, server: ServerProcess, kind: str) -> None:
        self.house, self.stack, self.server, self._kind = house, stack, server, kind

    async def held(self) -> set[str]:
        """Return the ids of the chunks that the store has."""
        model = self.stack.sql("SELECT id, dimensions FROM embeddings_embeddingmodel WHERE active")[0]
        store = STORES[self._kind](url=self.server.url, timeout_s=20.0)
        try:
            pages = store.list_chunks(space_of(model["id"], model["dimensions"]))
            return {str(stored.chunk_id) async for page in pages for stored in page}
        finally:
            await store.aclose()


@pytest.fixture(scope="module", params=["chroma", pytest.param("qdrant", marks=pytest.mark.slow)])
def outside(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    make_module_stack: MakeStack,
) -> Iterator[Outside]:
    server = SERVERS[request.param](tmp_path_factory.mktemp(request.param))
    server.start()
    stack = make_module_stack(
        workers=1,
        **ASKS_FOR_KEYS,
        KNOWLEX_RATE_LIMIT="1000000/min",
        KNOWLEX_VECTOR_STORE=request.param,
        VECTOR_STORE_URL=server.url,
        PYTHONPATH=f"{ALWAYS_ASKS}:{PROJECT}",
    )
    forget_accounts(stack)
    house = build_house(stack, random.Random(18), documents=14)
    yield Outside(house, stack, server, request.param)
    forget_accounts(stack)
    server.stop()


def search(caller: Caller, secret: Secret, mode: str, top_k: int = 50) -> set[str]:
    query = secret.word if mode == "exact" else f"The secret word of {secret.topic}"
    settings = {"mode": mode, "top_k": top_k, "rerank": False}
    body = {"query": query, "collections": [HOUSE], "settings": settings}
    reply = caller.client.post("/v1/search", json=body)
    assert reply.status_code == 200, reply.text
    return {passage["document_id"] for passage in reply.json()["results"]}


async def test_the_store_holds_what_is_hidden(outside: Outside) -> None:
    """So that it is Knowlex that hides it: not all that the store names is for the caller."""
    chunks = {chunk for secret in outside.house.secrets for chunk in secret.chunk_ids}
    assert chunks <= await outside.held()


@pytest.mark.parametrize("mode", ["hybrid", "dense", "sparse", "exact"])
def test_whoever_may_read_finds_it_and_nobody_else(outside: Outside, mode: str) -> None:
    house = outside.house
    for caller in house.callers.values():
        readable = {secret.document_id for secret in house.secrets if secret.is_for(caller)}
        for secret in house.secrets[:4]:
            found = search(caller, secret, mode)
            assert (secret.document_id in found) is secret.is_for(caller), (caller.label, secret)
            assert found <= readable, caller.label
        if mode == "dense":
            assert found == readable, caller.label
            assert len(search(caller, secret, mode, top_k=2)) == min(2, len(readable))


def test_random_requests_show_nothing_that_the_oracle_hides(outside: Outside) -> None:
    run_requests(outside.house, random.Random(4), 150)


def test_a_change_of_permissions_holds_at_once(outside: Outside) -> None:
    house, stack = outside.house, outside.stack
    ann = house.callers["ann"]
    secret = next(secret for secret in house.secrets if secret.is_for(ann) and secret.bringer != "ann")
    question = {"query": f"What is the secret word of {secret.topic}?", "collections": [HOUSE]}
    kept = stack.sql("SELECT permissions::text FROM documents_document WHERE id = %s", secret.document_id)
    change = "UPDATE documents_document SET permissions = %s::jsonb WHERE id = %s"
    for permissions, sees in (('{"visibility": "private"}', False), (kept[0]["permissions"], True)):
        stack.sql(change, permissions, secret.document_id)
        for mode in ("hybrid", "dense", "sparse", "exact"):
            assert (secret.document_id in search(ann, secret, mode)) is sees, mode
        assert (secret.word in ann.client.post("/v1/query", json=question).text) is sees
        body = ann.client.get(f"/v1/documents/{secret.document_id}")
        assert body.status_code == (200 if sees else 404)


def test_with_the_store_away_a_caller_with_limits_is_told_so_and_shown_nothing(outside: Outside) -> None:
    """It is asked for such callers too: what the other tests saw was filtered from what it named."""
    house = outside.house
    cyd = house.callers["cyd"]
    hidden = next(secret for secret in house.secrets if not secret.is_for(cyd))
    body = {"query": f"Where is {hidden.topic}?", "settings": {"mode": "dense", "top_k": 1}}
    assert cyd.client.post("/v1/search", json=body).status_code == 200
    outside.server.kill()
    try:
        reply = cyd.client.post("/v1/search", json={**body, "query": f"And what of {hidden.topic}?"})
    finally:
        outside.server.restart()
    assert reply.status_code >= 500, reply.text
    assert not house.leaks(reply, cyd, f"{body}")
