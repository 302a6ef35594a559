"""Servers that speak version 1 of Chroma's API: as the Service's document has it, and as Chroma 0.x does."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from rag_service import RAGService, VectorStoreUnavailable
from tests.provider import Provider
from tests.service.company import CHUNKS, COLLECTION

QUESTION = "What are the safety protocols for handling chemicals?"
ID = "0b1f2c3d-1111-4222-8333-944455556666"


class Store:
    """by_id: whether it tells a collection's id first. unknown: its answer to a GET that it does not know."""

    def __init__(self, *, by_id: bool, unknown: int = 404) -> None:
        self.by_id, self.unknown, self.asked = by_id, unknown, list[dict[str, Any]]()
        self.status = 200

    def app(self) -> web.Application:
        app, home = web.Application(), "/api/v1/collections"
        if self.by_id:
            app.router.add_get("/api/v1/heartbeat", self._heartbeat)
            app.router.add_get(f"{home}/{COLLECTION}", self._collection)
        app.router.add_post(f"{home}/{ID if self.by_id else COLLECTION}/query", self._query)
        app.router.add_route("*", "/{anything_else:.*}", self._lost)
        return app

    async def _heartbeat(self, _: web.Request) -> web.Response:
        return await self._said({"nanosecond heartbeat": 1})

    async def _lost(self, request: web.Request) -> web.Response:
        return web.json_response({}, status=self.unknown if request.method == "GET" else 404)

    async def _collection(self, request: web.Request) -> web.Response:
        assert request.query["tenant"] == "default_tenant"
        space = {"hnsw:space": "cosine"}
        return await self._said({"id": ID, "name": COLLECTION, "metadata": space, "dimension": 384})

    async def _query(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append(body)
        chunks = CHUNKS[: body["n_results"]]
        return await self._said(
            {
                "ids": [[chunk.id for chunk in chunks]],
                "documents": [[chunk.text for chunk in chunks]],
                "metadatas": [[chunk.metadata for chunk in chunks]],
                "distances": [[0.13 + 0.1 * n for n in range(len(chunks))]],
            }
        )

    async def _said(self, body: Any) -> web.Response:
        return web.json_response(body, status=self.status)


UNKNOWN = {"by name": 404, "by name, knowing no GET": 501, "by name, any GET is the same": 200, "by id": 404}


@pytest.fixture(params=UNKNOWN)
async def store(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Store, str]]:
    store = Store(by_id=request.param == "by id", unknown=UNKNOWN[request.param])
    async with TestServer(store.app()) as server:
        yield store, str(server.make_url(""))


async def test_a_question_is_answered(store: tuple[Store, str], ollama: Provider):
    made, url = store
    async with RAGService(ollama_host=ollama.url, vector_store_url=url) as service:
        answer = await service.aquery(QUESTION, {"source_type": "pdf"})

        assert [citation.chunk_id for citation in answer.citations] == ["safety-5"]
        assert made.asked[-1]["where"] == {"source_type": "pdf"}
        assert set(made.asked[-1]["include"]) == {"documents", "metadatas", "distances"}
        assert len(made.asked[-1]["query_embeddings"][0]) == 384


async def test_many_questions_at_once_are_all_answered(store: tuple[Store, str], ollama: Provider):
    async with RAGService(ollama_host=ollama.url, vector_store_url=store[1]) as service:
        answers = await asyncio.gather(*(service.aquery(QUESTION) for _ in range(20)))
    assert all(answer.answer for answer in answers)


async def test_another_collection_is_not_there(
    store: tuple[Store, str], ollama: Provider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("VECTOR_STORE_COLLECTION", "another one")
    async with RAGService(ollama_host=ollama.url, vector_store_url=store[1]) as service:
        answer = await service.aquery(QUESTION)
    assert answer.message == "Information not found in the knowledge base."


async def test_its_faults_are_told(store: tuple[Store, str], ollama: Provider):
    made, url = store
    made.status = 500
    async with RAGService(ollama_host=ollama.url, vector_store_url=url) as service:
        with pytest.raises(VectorStoreUnavailable, match="HTTP 500"):
            await service.aquery(QUESTION)


async def test_one_that_answers_is_connected(store: tuple[Store, str], ollama: Provider):
    async with RAGService(ollama_host=ollama.url, vector_store_url=store[1]) as service:
        assert (await service.ahealth_check())["vector_store"] == "connected"


async def test_a_server_of_something_else_is_no_store(ollama: Provider):
    async with TestServer(web.Application()) as server:
        service = RAGService(ollama_host=ollama.url, vector_store_url=str(server.make_url("")))
        assert (await service.ahealth_check())["vector_store"] == "unreachable"
        await service.aclose()
