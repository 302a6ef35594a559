"""POST /v1/search in its four modes."""

import pytest

from tests.search.conftest import Library, found, post
from tests.support.api import assert_problem

FIELDS = {
    "rank", "chunk_id", "document_id", "title", "content", "page_number", "chapter", "section",
    "score", "dense_score", "sparse_score", "rerank_score", "relevance",
}  # fmt: skip


def test_the_best_passage_comes_first_with_every_score(library: Library):
    reply = post(library.client, "What happens to the keys when a node leaves?", settings={"top_k": 3})
    assert reply.status_code == 200
    body = reply.json()
    assert isinstance(body["latency_ms"], int)
    results = body["results"]
    assert [result["rank"] for result in results] == [1, 2, 3]
    assert all(set(result) >= FIELDS for result in results)
    first = results[0]
    assert first["document_id"] == library.pdf_id
    assert (first["page_number"], first["title"]) == (1, "System design")
    assert first["score"] == first["rerank_score"]
    assert 0.3 < first["dense_score"] <= 1
    assert first["sparse_score"] > 0
    assert results[0]["score"] >= results[1]["score"] >= results[2]["score"]
    assert first["relevance"] > 0.8 > results[2]["relevance"] >= 0


def test_without_reranking_the_fused_score_ranks(library: Library):
    results = found(library.client, "load balancer", settings={"rerank": False})
    assert all(result["rerank_score"] is None for result in results)
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(1 / 61)  # first in both lists
    assert results[0]["relevance"] > results[-1]["relevance"]


def test_dense_ranks_by_similarity_alone(library: Library):
    results = found(library.client, "baking a loaf", mode="dense")
    assert [r["dense_score"] for r in results] == [r["score"] for r in results]
    assert results[0]["section"] == "Bread"
    assert {r["sparse_score"] for r in results} == {None}


def test_sparse_ranks_by_words_alone(library: Library):
    results = found(library.client, "Which server is taken out of rotation?", mode="sparse")
    assert [r["sparse_score"] for r in results] == [r["score"] for r in results]
    assert results[0]["page_number"] == 2
    assert {r["dense_score"] for r in results} == {None}
    assert found(library.client, "zebra", mode="sparse") == []


def test_reranking_is_asked_for_outside_of_hybrid(library: Library):
    results = found(library.client, "bread", mode="sparse", settings={"rerank": True})
    assert results[0]["score"] == results[0]["rerank_score"]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("Nibancha", ["kitchen.md"]),
        ("nibanch", ["kitchen.md"]),
        ("are  CALLED\tnibancha.", ["kitchen.md"]),
        ("100%_rye", ["kitchen.md"]),
        ("%", ["kitchen.md"]),
        ("_", ["kitchen.md"]),
        ("C:\\tea\\leaves", ["kitchen.md"]),
        ('it\'s "fine"', ["kitchen.md"]),
        ("radio-controlled", ["radio.txt"]),
        ("RADIO-controlled  Boat", ["radio.txt"]),
        ("radio.controlled boat", []),
        ("trolled boat in New Yo", ["radio.txt"]),
        ("学习是人", ["learning.txt"]),
        ("机器学习是人工智能的一个分支。", ["learning.txt"]),
        ("工智", ["learning.txt"]),
        ("leaf", []),
        ("100_", []),
        ("a%b", []),
    ],
)
def test_exact_finds_the_string_as_typed(library: Library, text: str, documents: list[str]):
    results = found(library.client, text, mode="exact")
    assert [result["document_name"] for result in results] == documents


def test_exact_ranks_by_how_often_the_string_stands_there(library: Library):
    results = found(library.client, "node", mode="exact")
    assert results[0]["score"] == 4  # with "nodes"
    assert results[0]["dense_score"] is None
    assert results[0]["sparse_score"] is None


@pytest.mark.parametrize("mode", ["hybrid", "dense", "sparse", "exact"])
def test_only_the_named_collections_are_read(library: Library, mode: str):
    everything = found(library.client, "机器学习", mode=mode)
    assert library.chinese_id in {result["document_id"] for result in everything}
    named = found(library.client, "机器学习", mode=mode, collections=[library.other_collection])
    assert {result["document_id"] for result in named} == {library.chinese_id}
    default = found(library.client, "机器学习", mode=mode, collections=["default"])
    assert library.chinese_id not in {result["document_id"] for result in default}


@pytest.mark.parametrize("field", ["collection", "collection_id"])
def test_a_collection_named_as_other_routes_name_it_is_read_alone(library: Library, field: str):
    reply = library.client.post("/v1/search", json={"query": "机器学习", field: "default"})
    assert library.chinese_id not in {result["document_id"] for result in reply.json()["results"]}


def test_an_unknown_collection_is_not_found(library: Library):
    reply = post(library.client, "bread", collections=["default", "nowhere"])
    assert_problem(reply, 404, "NOT_FOUND", field="collections")
