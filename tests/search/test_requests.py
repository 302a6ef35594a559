"""What POST /v1/search takes, and what it refuses."""

from typing import Any

import httpx
import pytest

from tests.search.conftest import Library, post
from tests.support.api import assert_problem


def test_all_that_a_question_may_hold_is_taken(library: Library):
    reply = post(
        library.client,
        "bread?",
        conversation_id="c-1",
        collections=["default", library.other_collection],
        filters={},
        settings={
            "top_k": 1,
            "rerank": False,
            "mode": "hybrid",
            "include_sources": False,
            "response_format": "json",
            "max_tokens": 4096,
            "rewrite": False,
        },
    )
    assert reply.status_code == 200, reply.text
    assert [result["rank"] for result in reply.json()["results"]] == [1]


@pytest.mark.parametrize("query", [None, "", " \u200b\n", " \x00 ", 5, ["a"], "x" * 2001])
def test_the_question_is_one_to_2000_characters(library: Library, query: Any):
    assert_problem(post(library.client, query), 400, "INVALID_QUERY", field="query")


def test_a_body_without_a_question(library: Library):
    assert_problem(library.client.post("/v1/search", json={}), 400, "INVALID_QUERY", field="query")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"settings": []}, "settings"),
        ({"settings": {"top_k": 0}}, "settings.top_k"),
        ({"settings": {"top_k": 51}}, "settings.top_k"),
        ({"settings": {"top_k": "5"}}, "settings.top_k"),
        ({"settings": {"top_k": 5.0}}, "settings.top_k"),
        ({"settings": {"top_k": True}}, "settings.top_k"),
        ({"settings": {"top_k": None}}, "settings.top_k"),
        ({"settings": {"rerank": 1}}, "settings.rerank"),
        ({"settings": {"rerank": "yes"}}, "settings.rerank"),
        ({"settings": {"rewrite": None}}, "settings.rewrite"),
        ({"settings": {"include_sources": "no"}}, "settings.include_sources"),
        ({"settings": {"mode": "both"}}, "settings.mode"),
        ({"settings": {"mode": None}}, "settings.mode"),
        ({"settings": {"response_format": "xml"}}, "settings.response_format"),
        ({"settings": {"max_tokens": 4097}}, "settings.max_tokens"),
        ({"collections": "default"}, "collections"),
        ({"collections": [5]}, "collections"),
        ({"collections": [""]}, "collections"),
        ({"conversation_id": 5}, "conversation_id"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(library: Library, body: dict[str, Any], field: str):
    assert_problem(post(library.client, "bread", **body), 400, "VALIDATION_ERROR", field=field)


def test_other_ways_to_ask(library: Library):
    client: httpx.Client = library.client
    assert client.get("/v1/search").status_code == 405
    assert_problem(client.post("/v1/search", content=b"bread"), 415)
    assert client.options("/v1/search").headers["Allow"] == "POST, OPTIONS"


def test_a_search_counts_as_a_question(library: Library):
    path = f"/v1/collections/{library.other_collection}/stats"
    before = library.client.get(path).json()["query_count_30d"]
    post(library.client, "bread", collections=[library.other_collection])
    post(library.client, "bread")  # reads all
    post(library.client, "bread", collections=["default"])
    assert library.client.get(path).json()["query_count_30d"] == before + 2
