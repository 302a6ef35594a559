"""`explain`: at which stage a chunk was lost, and with which score."""

from typing import Any

import pytest

from tests.search.conftest import Library, found, post
from tests.support.api import UNKNOWN_ID, assert_problem

QUESTION = "What happens to the keys when a node leaves?"
HYBRID = ["scope", "filters", "embedded", "dense", "sparse", "fusion"]
LAST = ["duplicates", "top_k", "relevance"]


def chunk_of(library: Library, text: str) -> str:
    return str(found(library.client, text, mode="exact")[0]["chunk_id"])


def explanation(library: Library, chunk_id: str, query: str = QUESTION, **body: Any) -> dict[str, Any]:
    reply = post(library.client, query, explain=chunk_id, **body)
    assert reply.status_code == 200, reply.text
    told = reply.json()["explanation"]
    assert told["chunk_id"] == chunk_id
    return {**told, "by": {stage["stage"]: stage for stage in told["stages"]}}


def test_a_chunk_that_is_found_is_kept_at_every_stage(library: Library):
    told = explanation(library, chunk_of(library, "clockwise"))
    assert (told["found"], told["lost_at"]) == (True, None)
    assert list(told["by"]) == [*HYBRID, "rerank", *LAST]
    assert all(stage["kept"] for stage in told["stages"])
    by = told["by"]
    assert by["dense"]["rank"] == by["sparse"]["rank"] == by["top_k"]["rank"] == 1
    assert by["fusion"]["score"] == pytest.approx(1 / 61)
    assert by["relevance"]["score"] > by["relevance"]["limit"] == 0.8
    assert "node (" in by["sparse"]["reason"]


def test_beyond_top_k(library: Library):
    told = explanation(library, chunk_of(library, "Nibancha"), settings={"top_k": 1})
    assert (told["found"], told["lost_at"]) == (False, "top_k")
    assert told["by"]["dense"]["rank"] > 1
    assert told["by"]["relevance"]["kept"] is False


def test_one_ranking_is_enough_for_the_fusion(library: Library):
    told = explanation(library, chunk_of(library, "Nibancha"), "clockwise", settings={"top_k": 1})
    assert (told["by"]["sparse"]["kept"], told["by"]["fusion"]["kept"]) == (False, True)
    assert (told["found"], told["lost_at"]) == (False, "top_k")


def test_a_collection_that_is_not_read_and_a_filter_that_does_not_hold(library: Library):
    told = explanation(library, chunk_of(library, "机器学习"), collections=["default"])
    assert (told["found"], told["lost_at"]) == (False, "scope")
    told = explanation(library, chunk_of(library, "clockwise"), filters={"tags": ["food"], "page": 1})
    assert (told["found"], told["lost_at"]) == (False, "filters")
    assert told["by"]["filters"]["reason"] == "Does not pass: tags."
    assert told["by"]["top_k"]["kept"] is None


def test_the_other_modes(library: Library):
    chunk = chunk_of(library, "clockwise")
    told = explanation(library, chunk, "zebra node", settings={"mode": "sparse"})
    assert list(told["by"]) == ["scope", "filters", "indexed", "sparse", *LAST]
    assert told["found"]
    told = explanation(library, chunk, "zebra", settings={"mode": "sparse"})
    assert (told["found"], told["lost_at"]) == (False, "sparse")
    told = explanation(library, chunk, "CLOCK wise", settings={"mode": "exact"})
    assert (told["found"], told["lost_at"]) == (False, "exact")
    told = explanation(library, chunk, "Node", settings={"mode": "exact"})
    assert told["by"]["exact"]["score"] == 4
    told = explanation(library, chunk, settings={"mode": "dense"})
    assert list(told["by"]) == ["scope", "filters", "embedded", "dense", *LAST]


def test_an_unknown_chunk_is_not_found(library: Library):
    assert_problem(post(library.client, "a", explain=UNKNOWN_ID), 404, "NOT_FOUND", field="explain")
    for wrong in ("nope", 5, None):
        assert_problem(post(library.client, "a", explain=wrong), 400, "VALIDATION_ERROR", field="explain")


def test_the_command_prints_the_same(library: Library):
    chunk = chunk_of(library, "clockwise")
    printed = library.stack.manage("explain", QUESTION, chunk)
    assert "found" in printed
    assert all(stage in printed for stage in (*HYBRID, "rerank", *LAST))
    lost = library.stack.manage("explain", QUESTION, chunk, "--collection", "Other")
    assert "lost at scope" in lost
