"""POST /v1/dify/retrieval as Dify asks it."""

from typing import Any

import httpx
import pytest

from rag.api.dify import MetadataCondition, read_conditions
from rag.types.question import MetadataFilter
from tests.platform import talk
from tests.support.api import assert_problem
from tests.support.stack import Stack

PATH = "/v1/dify/retrieval"
TALL = "How tall is the belfry?"
BELFRIES = {"Ghent": (91, 1380), "Bruges": (83, 1486), "Kortrijk": (30, 1307)}


@pytest.fixture
def library(server: Stack) -> Stack:
    for town, (metres, year) in BELFRIES.items():
        text = f"The belfry of {town} is {metres} metres tall."
        talk.stored(server.client, talk.text(text, f"{town}.txt", town=town, year=year, seen=f"{year}-05-01"))
    return server


def asked(client: httpx.Client, query: str = TALL, **more: Any) -> httpx.Response:
    body = {
        "knowledge_id": "default",
        "query": query,
        "retrieval_setting": {"top_k": 5, "score_threshold": 0.0},
    }
    return client.post(PATH, json=body | more)


def towns(client: httpx.Client, *conditions: tuple[str, str, Any], operator: str | None = None) -> set[str]:
    named = [{"name": name, "comparison_operator": sign, "value": value} for name, sign, value in conditions]
    condition = {"logical_operator": operator, "conditions": named}
    reply = asked(client, metadata_condition=condition)
    assert reply.status_code == 200, reply.text
    return {record["title"].removesuffix(".txt") for record in reply.json()["records"]}


def test_records_are_passages_with_their_relevance(library: Stack):
    reply = asked(library.client, "How tall is the belfry of Ghent?", metadata_condition=None)

    assert reply.status_code == 200, reply.text
    records = reply.json()["records"]
    assert set(records[0]) == {"content", "score", "title", "metadata"}
    assert records[0]["content"] == "The belfry of Ghent is 91 metres tall."
    assert records[0]["title"] == records[0]["metadata"]["document_name"] == "Ghent.txt"
    assert 0 <= records[0]["score"] <= 1
    few = {"top_k": 1, "score_threshold": 0.0}
    assert len(asked(library.client, retrieval_setting=few).json()["records"]) == 1
    all_scores = [record["score"] for record in asked(library.client).json()["records"]]
    high = {"top_k": 5, "score_threshold": max(all_scores)}
    assert len(asked(library.client, retrieval_setting=high).json()["records"]) < len(all_scores)


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (("town", "is", "Ghent"), {"Ghent"}),
        (("town", "in", ["Ghent", "Bruges"]), {"Ghent", "Bruges"}),
        (("town", "in", "Ghent, Bruges"), {"Ghent", "Bruges"}),
        (("year", "=", "1380"), {"Ghent"}),
        (("year", "≥", 1380), {"Ghent", "Bruges"}),
        (("year", ">", 1380), {"Bruges"}),
        (("year", "≤", "1380"), {"Ghent", "Kortrijk"}),
        (("year", "<", 1380), {"Kortrijk"}),
        (("seen", "after", "1380-05-01"), {"Bruges"}),
        (("seen", "before", "1380-05-01"), {"Kortrijk"}),
        (("seen", "after", "1380-04-30"), {"Ghent", "Bruges"}),
    ],
)
def test_a_condition_is_a_filter_of_the_search(library: Stack, condition: Any, found: set[str]):
    assert towns(library.client, condition) == found


def test_conditions_are_joined(library: Stack):
    between = ("year", ">", 1307), ("year", "<", 1486)
    assert towns(library.client, *between, operator="and") == towns(library.client, *between) == {"Ghent"}
    either = ("town", "is", "Ghent"), ("town", "is", "Bruges")
    assert towns(library.client, *either, operator="or") == {"Ghent", "Bruges"}
    assert towns(library.client) == set(BELFRIES)


@pytest.mark.parametrize(
    ("conditions", "operator", "words"),
    [
        ([("town", "contains", "Gh")], None, "the search cannot do 'contains'; it can do is, =, in"),
        ([("town", "is not", "Ghent")], None, "the search cannot do 'is not'"),
        ([("town", "empty", None)], None, "the search cannot do 'empty'"),
        ([("town", "is", "Ghent"), ("year", "=", 1486)], "or", "only joins conditions on one key"),
        ([("year", ">", 1), ("year", "<", 2)], "or", "only joins conditions on one key"),
        ([("year", "≥", "old")], None, "takes a number"),
        ([("town", "in", 7)], None, "takes a list"),
        ([("town", "is", ["Ghent"])], None, "takes one value"),
        ([(["town", "city"], "is", "Ghent")], None, "must be one key"),
        ([("$.town", "is", "Ghent")], None, "is not a key"),
    ],
)
def test_what_the_search_cannot_do_is_refused(server: Stack, conditions: Any, operator: Any, words: str):
    named = [{"name": name, "comparison_operator": sign, "value": value} for name, sign, value in conditions]
    condition = {"logical_operator": operator, "conditions": named}

    problem = assert_problem(asked(server.client, metadata_condition=condition), 400)
    assert words in problem["message"]
    assert problem["error_msg"] == problem["message"]
    assert problem["error_code"] == 400


def test_large_numbers_keep_their_neighbours():
    given = MetadataCondition.model_validate(
        {"conditions": [{"name": "n", "comparison_operator": ">", "value": 5}]}
    )
    (read,) = read_conditions(given)
    assert read == MetadataFilter("n", at_least=5.000000000000001)
