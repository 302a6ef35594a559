"""POST /v1/query: every field of its answer, and every way in which it can fail."""

import time
from dataclasses import replace
from typing import Any

import pytest

from documents.models import Document, Page
from rag.answering import ask
from rag.types.answer import Answer, Citation
from tests.answers.asking import QUESTION, Library, block_with, markers, platform
from tests.rag.conftest import AddDocument
from tests.rag.factory import passage, question
from tests.support.api import NO_ANSWER, UNKNOWN_ID, assert_id, assert_problem
from tests.support.stack import Stack


def two_claims(prompt: Any) -> str:
    steps, tall = block_with(prompt, "253 steps"), block_with(prompt, "54 metres tall")
    return f"It has 253 steps [{steps}]. The lighthouse of Norderney is 54 metres tall [{tall}]."


def test_the_answer_has_every_field(library: Library):
    library.provider.says(two_claims)
    reply = platform(library.client)
    body = reply.json()
    assert reply.status_code == 200, reply.text
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["X-Query-ID"] == body["query_id"]
    assert_id(body["query_id"])
    assert body["conversation_id"]
    assert body["answer"] == "It has 253 steps [1]. The lighthouse of Norderney is 54 metres tall [2]."
    assert [source["citation_index"] for source in body["sources"]] == [1, 2]
    assert [source["document_id"] for source in body["sources"]] == [library.markdown_id, library.pdf_id]
    for source in body["sources"]:
        assert_id(source["chunk_id"])
        assert isinstance(source["score"], float)
        assert 0 <= source["relevance"] <= 1
        assert 0 < len(source["content_snippet"]) <= 200
    assert body["sources"][1]["title"] == "Towers"
    assert body["sources"][1]["page_number"] == 1
    assert "54 metres tall" in body["sources"][1]["content_snippet"]
    assert body["usage"] == {
        "input_tokens": 10, "output_tokens": 5, "model": "gpt-4o-mini",
        "stage_times_ms": body["stage_times_ms"],
    }  # fmt: skip
    assert isinstance(body["latency_ms"], int)
    assert (body["reason"], body["nearest"], body["cached"]) == (None, [], False)
    assert body["rewritten_query"] is None
    assert {"retrieve", "rerank", "relevance", "context", "synthesize", "check"} <= set(
        body["stage_times_ms"]
    )
    assert body["warnings"] == []
    for one in body["citations"]:
        assert {"document_name", "title", "quoted_text", "answer_start", "answer_end", "support"} <= set(one)
    assert [one["document_name"] for one in body["citations"]] == ["places.md", "towers.pdf"]
    assert body["contradicted"] == []
    assert set(body["verification"]) == {"exact", "supported", "unverified", "contradicted", "uncited"}


def test_not_enough_says_why_and_what_came_nearest(library: Library):
    library.provider.says("Nothing is cited here.")
    body = platform(library.client).json()
    assert (body["answer"], body["sources"], body["citations"]) == (NO_ANSWER, [], [])
    assert body["reason"] == "not_supported"
    assert 1 <= len(body["nearest"]) <= 3
    relevances = [near["relevance"] for near in body["nearest"]]
    assert relevances == sorted(relevances, reverse=True)
    assert {"chunk_id", "document_id", "title", "page_number", "content_snippet"} <= set(body["nearest"][0])


def test_sources_can_be_left_out(library: Library):
    library.provider.says(two_claims)
    body = platform(library.client, settings={"include_sources": False}).json()
    assert body["sources"] == []
    assert markers(body["answer"]) == [1, 2]


def test_max_tokens_is_1024_unless_told(library: Library):
    platform(library.client)
    platform(library.client, settings={"max_tokens": 77})
    assert [call.body["max_tokens"] for call in library.provider.calls("chat")] == [1024, 77]


def test_a_conversation_keeps_its_id(library: Library):
    assert platform(library.client, conversation_id="tea/2").json()["conversation_id"] == "tea/2"


@pytest.mark.parametrize("asked", ["", " \u200b\t", "\x00", "x" * 2001, 5, None, ["x"]])
def test_a_bad_question_is_an_invalid_query(provider_server: Stack, asked: Any):
    reply = provider_server.client.post("/v1/query", json={"query": asked})
    assert_problem(reply, 400, "INVALID_QUERY", field="query")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"conversation_id": 5}, "conversation_id"),
        ({"conversation_id": "x" * 256}, "conversation_id"),
        ({"collections": "default"}, "collections"),
        ({"filters": []}, "filters"),
        ({"settings": {"top_k": 51}}, "settings.top_k"),
        ({"settings": {"top_k": "5"}}, "settings.top_k"),
        ({"settings": {"max_tokens": 4097}}, "settings.max_tokens"),
        ({"settings": {"rerank": 1}}, "settings.rerank"),
        ({"settings": {"include_sources": "yes"}}, "settings.include_sources"),
        ({"settings": {"streaming": None}}, "settings.streaming"),
        ({"settings": {"response_format": "xml"}}, "settings.response_format"),
    ],
)
def test_a_bad_field_is_named(provider_server: Stack, fields: dict[str, Any], field: str):
    assert_problem(platform(provider_server.client, **fields), 400, "VALIDATION_ERROR", field=field)


def test_other_bad_requests(provider_server: Stack):
    client = provider_server.client
    assert_problem(client.post("/v1/query", content=b"{"), 415, "UNSUPPORTED_MEDIA_TYPE")
    json = {"Content-Type": "application/json"}
    assert_problem(client.post("/v1/query", content=b"{", headers=json), 400)
    assert_problem(client.get("/v1/query"), 405, "METHOD_NOT_ALLOWED")
    assert_problem(platform(client, collections=["nowhere"]), 404, "NOT_FOUND")
    assert_problem(platform(client, filters={"documents": [UNKNOWN_ID]}), 404, "NOT_FOUND")


def test_failures_of_search_and_model_are_503(library: Library):
    library.provider.rule("status", status=401, on="chat")
    assert_problem(platform(library.client), 503, "SERVICE_UNAVAILABLE")
    library.provider.rule("status", status=401, on="embeddings")
    assert_problem(platform(library.client, f"{QUESTION} Or not?"), 503, "SERVICE_UNAVAILABLE")


@pytest.fixture
def two_pages(add_document: AddDocument) -> Document:
    document = add_document("The end of one page.\nThe beginning of the next.", embed=False)
    Page.objects.bulk_create(
        Page(document=document, number=n, start_char=start, text="") for n, start in ((1, 0), (2, 21))
    )
    return document


async def test_a_quote_is_on_the_page_on_which_most_of_it_stands(two_pages: Document, pool: None):
    """Of a passage that goes over the end of a page; and where nobody can tell, on the passage's first."""
    spanning = passage(1, document_id=two_pages.id, page_number=1, last_page=2)
    context = (spanning, passage(2, page_number=7, last_page=7), passage(3, page_number=None, last_page=None))
    citations = tuple(
        Citation(n, start, start + 5, 0, 5, "exact")
        for n, start in ((1, 0), (1, 18), (1, 19), (1, 21), (2, 3), (3, 3))
    )
    answer = Answer(question(), True, "x", context, (1,), 3, 0.9, citations=citations)
    assert await ask.find_quote_pages(answer) == (1, 1, 2, 2, 7, None)
    late = replace(answer, question=question(deadline=time.monotonic() - 1))
    assert await ask.find_quote_pages(late) == (1, 1, 1, 1, 7, None)
