"""Generating embeddings and searching, as the Knowlex API says."""

import httpx
import pytest

from tests.flow.conftest import BALANCING, HASHING, Library
from tests.support.api import (
    UNKNOWN_ID,
    assert_problem,
    embed,
    generate,
    ingest,
    search,
)
from tests.support.invariants import assert_embedded_once, assert_settled, wait_embedded
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf

SEARCH = "/api/v1/embeddings/search"


def test_generate_embeds_what_is_missing_and_says_how_many(server: Stack, client: httpx.Client):
    chunks = ingest(client, facts_pdf(40))["totalChunks"]
    assert generate(client).text == f"Embedded {chunks} chunk(s)"
    assert generate(client).text == "Embedded 0 chunk(s)"
    more = ingest(client, facts_pdf(40, first=100))["totalChunks"]
    assert generate(client).text == f"Embedded {more} chunk(s)"
    assert_embedded_once(server)
    assert_settled(server)


def test_generate_for_one_document_leaves_the_others(server: Stack, client: httpx.Client):
    first, second = ingest(client, facts_pdf(20)), ingest(client, facts_pdf(20, first=100))
    reply = generate(client, first["documentId"])
    assert reply.status_code == 200
    assert reply.text == f"Embedded {first['totalChunks']} chunk(s) for document {first['documentId']}"
    assert server.count("embeddings_embedding") == first["totalChunks"]
    assert embed(client) == second["totalChunks"]


def test_generate_for_an_unknown_document_is_404(client: httpx.Client):
    assert_problem(generate(client, UNKNOWN_ID), 404, "NOT_FOUND")
    assert_problem(generate(client, "not-a-uuid"), 400, "VALIDATION_ERROR")


def test_generate_with_nothing_to_do_embeds_none(client: httpx.Client):
    assert embed(client) == 0


def test_prefer_respond_async_answers_202_and_the_work_goes_on(server: Stack, client: httpx.Client):
    ingest(client, facts_pdf(40))
    reply = client.post("/api/v1/embeddings/generate", headers={"Prefer": "respond-async"})
    assert reply.status_code == 202
    wait_embedded(server)


def test_search_finds_the_nearest_chunks_first(library: Library):
    reply = search(library.client, "How is traffic spread over servers?", k=3)
    assert reply.status_code == 200
    rows = reply.json()
    assert len(rows) == 3
    assert {"chunkId", "documentId", "chunkIndex", "content", "score"} <= set(rows[0])
    assert rows[0]["documentId"] == library.pdf_id
    assert BALANCING[:40] in rows[0]["content"]
    assert [row["score"] for row in rows] == sorted(row["score"] for row in rows)
    assert all(0 <= row["score"] <= 2 for row in rows)


def test_searching_for_a_chunks_own_text_finds_it_at_distance_0(library: Library):
    for chunk in library.client.get(f"/api/v1/documents/{library.pdf_id}/chunks").json():
        best = search(library.client, chunk["content"], k=1).json()[0]
        assert best["chunkId"] == chunk["id"]
        assert best["score"] == pytest.approx(0, abs=1e-4)


def test_search_returns_five_unless_told_and_never_fewer_than_exist(library: Library):
    assert len(search(library.client, "water").json()) == min(5, library.chunks)
    assert len(search(library.client, "water", k=50).json()) == library.chunks


@pytest.mark.parametrize("k", ["0", "-1", "51", "x", "5.0", "", "1e1", "٥"])
def test_k_outside_1_to_50_is_400(library: Library, k: str):
    assert_problem(search(library.client, "water", k=k), 400, "VALIDATION_ERROR", field="k")


@pytest.mark.parametrize("text", ["", "  \n", "\u200b\u2060\ufeff", "\u00ad\u3164\u2800", "a" * 2001])
def test_a_blank_or_too_long_search_is_400(library: Library, text: str):
    assert_problem(search(library.client, text), 400, "VALIDATION_ERROR")


def test_search_takes_2000_characters_of_any_kind(library: Library):
    assert search(library.client, "😀" * 2000).status_code == 200


def test_search_with_json_is_415_and_bad_utf8_400(library: Library):
    assert_problem(library.client.post(SEARCH, json={"query": "x"}), 415, "UNSUPPORTED_MEDIA_TYPE")
    bad = library.client.post(SEARCH, content=b"\xff\xfe", headers={"Content-Type": "text/plain"})
    assert_problem(bad, 400)


def test_search_in_an_unknown_collection_is_404(library: Library):
    assert_problem(search(library.client, "water", collection="nowhere"), 404, "NOT_FOUND")


def test_the_text_of_the_library_is_what_was_written(library: Library):
    chunks = library.client.get(f"/api/v1/documents/{library.pdf_id}/chunks").json()
    assert HASHING in " ".join(" ".join(chunk["content"] for chunk in chunks).split())


def test_search_before_anything_is_embedded_is_empty(client: httpx.Client):
    ingest(client, facts_pdf(5))
    assert search(client, fact(1)).json() == []
