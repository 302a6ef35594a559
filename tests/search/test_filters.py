"""Filters over HTTP: what each means, and how each is refused."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from knowlex.base.errors import InvalidInput
from knowlex.values import filter_keys
from knowlex.web.shapes import parse
from rag.api.v1.filters import SearchFilters
from tests.search.conftest import Library, found, post
from tests.support.api import UNKNOWN_ID, assert_problem

TODAY = datetime.now(UTC).date()
PDF, KITCHEN, RADIO, LEARNING = "design.pdf", "kitchen.md", "radio.txt", "learning.txt"


def names(library: Library, filters: dict[str, Any], mode: str = "hybrid") -> set[str]:
    return {result["document_name"] for result in found(library.client, "a", mode=mode, filters=filters)}


@pytest.mark.parametrize(
    ("filters", "documents"),
    [
        ({}, {PDF, KITCHEN, RADIO, LEARNING}),
        ({"tags": ["food"]}, {KITCHEN}),
        ({"tags": "shared"}, {PDF, KITCHEN}),
        ({"tags": ["food", "systems"]}, {PDF, KITCHEN}),
        ({"metadata": {"year": 2021}}, {KITCHEN}),
        ({"metadata": {"year": "2021"}}, {RADIO}),
        ({"metadata": {"year": 2019}}, {PDF}),  # under `custom`
        ({"metadata": {"year": [2019, "2021"]}}, {PDF, RADIO}),
        ({"metadata": {"year": {"gte": 2020, "lte": 2030}}}, {KITCHEN}),
        ({"metadata": {"year": {"lte": 2021}}}, {PDF, KITCHEN}),
        ({"metadata": {"draft": True}}, {RADIO}),
        ({"metadata": {"draft": False}}, {PDF}),
        ({"metadata": {"draft": 1}}, set()),
        ({"metadata": {"author": "Bob"}}, {KITCHEN}),
        ({"metadata": {"on": {"gte": "2024-05-01", "lte": "2024-05-01"}}}, {RADIO}),
        ({"metadata": {"nobody": "x"}}, set()),
        ({"metadata": {"year": 2021}, "tags": ["systems"]}, set()),
        ({"date_range": {"start": str(TODAY - timedelta(1)), "end": str(TODAY + timedelta(1))}},
         {PDF, KITCHEN, RADIO, LEARNING}),
        ({"date_range": {"end": str(TODAY - timedelta(1))}}, set()),
        ({"date_range": {"end": "9999-12-31", "start": "0001-01-01"}}, {PDF, KITCHEN, RADIO, LEARNING}),
        ({"page": 2}, {PDF}),
        ({"page": {"from": 1, "to": 9}}, {PDF}),
        ({"page": {"from": 3}}, set()),
        ({"chapter": "Hashing"}, {PDF}),
        ({"chapters": ["Kitchen", "Hashing"]}, {PDF, KITCHEN}),
        ({"section": ["Tea"]}, {KITCHEN}),
    ],
)  # fmt: skip
def test_each_filter_lets_through_what_it_says(library: Library, filters: Any, documents: set[str]):
    assert names(library, filters, "dense") == documents
    assert names(library, filters, "hybrid") == documents


def test_filters_by_document(library: Library):
    both = {"documents": [library.radio_id, library.chinese_id.upper()]}
    assert names(library, both) == {RADIO, LEARNING}
    elsewhere = found(library.client, "a", filters=both, collections=["default"])
    assert {result["document_name"] for result in elsewhere} == {RADIO}
    reply = post(library.client, "a", filters={"documents": [library.radio_id, UNKNOWN_ID]})
    assert_problem(reply, 404, "NOT_FOUND", field="filters.documents")


@pytest.mark.parametrize(
    ("filters", "field"),
    [
        ([], "filters"),
        (None, "filters"),
        ({"tag": "food"}, "filters.tag"),
        ({"tags": []}, "filters.tags"),
        ({"tags": [1]}, "filters.tags[0]"),
        ({"tags": [" "]}, "filters.tags[0]"),
        ({"tags": ["x"] * 101}, "filters.tags"),
        ({"documents": ["nope"]}, "filters.documents[0]"),
        ({"documents": [UNKNOWN_ID, 5]}, "filters.documents[1]"),
        ({"date_range": {"start": "2026-02-30"}}, "filters.date_range.start"),
        ({"date_range": {"start": "20260201"}}, "filters.date_range.start"),
        ({"date_range": {"start": None}}, "filters.date_range.start"),
        ({"date_range": {"start": "2026-02-02", "end": "2026-02-01"}}, "filters.date_range"),
        ({"date_range": {"from": "2026-02-02"}}, "filters.date_range.from"),
        ({"date_range": "2026"}, "filters.date_range"),
        ({"metadata": []}, "filters.metadata"),
        ({"metadata": {"": 1}}, "filters.metadata."),
        ({"metadata": {"a b": 1}}, "filters.metadata.a b"),
        ({"metadata": {"x" * 65: 1}}, "filters.metadata." + "x" * 64),
        ({"metadata": {"year": None}}, "filters.metadata.year"),
        ({"metadata": {"year": []}}, "filters.metadata.year"),
        ({"metadata": {"year": [[1]]}}, "filters.metadata.year"),
        ({"metadata": {"year": {}}}, "filters.metadata.year"),
        ({"metadata": {"year": {"gt": 1}}}, "filters.metadata.year"),
        ({"metadata": {"year": {"gte": True}}}, "filters.metadata.year.gte"),
        ({"metadata": {"year": {"gte": 1, "lte": "2"}}}, "filters.metadata.year"),
        ({"metadata": {"year": {"gte": 3, "lte": 2}}}, "filters.metadata.year"),
        ({"metadata": {"year": 10**30}}, "filters.metadata.year"),
        ({"metadata": {f"k{n}": 1 for n in range(21)}}, "filters.metadata"),
        ({"page": 0}, "filters.page"),
        ({"page": "1"}, "filters.page"),
        ({"page": True}, "filters.page"),
        ({"page": {"from": 2, "to": 1}}, "filters.page"),
        ({"page": {"from": 1.0}}, "filters.page.from"),
        ({"chapter": {}}, "filters.chapter[0]"),
        ({"chapter": "x" * 1001}, "filters.chapter[0]"),
        ({"chapter": "x", "chapters": ["y"]}, "filters.chapters"),
    ],
)
def test_a_filter_that_cannot_be_used_is_named(library: Library, filters: Any, field: str):
    assert_problem(post(library.client, "a", filters=filters), 400, "VALIDATION_ERROR", field=field)


def test_only_listed_keys_of_the_listed_types_where_there_is_a_list(settings: Any):
    """Without a server of its own: the view's parsing, with another setting."""
    settings.FILTER_KEYS = filter_keys("year:integer, on:date ,author, price:number,draft:boolean")
    usable = {"year": {"gte": 5}, "on": "2026-01-01", "author": 5, "price": 1, "draft": True}
    assert len(parse(SearchFilters, {"metadata": usable}).metadata) == 5
    for key, value in {
        "other": 1,
        "year": "5",
        "on": "1.5.2026",
        "price": True,
        "draft": 1,
    }.items():
        with pytest.raises(InvalidInput) as refused:
            parse(SearchFilters, {"metadata": {key: value}})
        assert refused.value.field == f"filters.metadata.{key}"
    assert "author, draft, on, price, year" in _refusal({"other": 1})
    assert filter_keys("") is None
    for wrong in ("a b", "year:int", ":string"):
        with pytest.raises(ValueError, match="is not a key"):
            filter_keys(wrong)


def _refusal(metadata: dict[str, Any]) -> str:
    with pytest.raises(InvalidInput) as refused:
        parse(SearchFilters, {"metadata": metadata})
    return refused.value.message
