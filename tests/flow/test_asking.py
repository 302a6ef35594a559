"""The three faces of asking over one small library: fields, markers, "not enough", and what each refuses."""

import re
from typing import Any

import httpx
import pytest

from tests.flow.conftest import Library
from tests.support.api import BOOK_NO_ANSWER, NO_ANSWER, ask, assert_problem, book, query, search
from tests.support.stack import Stack

HASH_QUESTION = "Where does consistent hashing place the nodes and the keys?"
BREAD_QUESTION = "How long does a loaf of sourdough bread bake?"
UNRELATED = "Who won the football world championship in 1974?"
JSON_FACES = ["/api/v1/rag/ask", "/query", "/api/v1/rag/query"]


def markers(answer: str) -> list[int]:
    return [int(number) for number in re.findall(r"\[(\d+)\]", answer)]


def test_ask_answers_with_the_chunks_it_used(library: Library):
    body = ask(library.client, HASH_QUESTION).json()
    assert set(body) >= {"query", "answer", "sourceChunks"}
    assert body["query"] == HASH_QUESTION
    assert "ring" in body["answer"]
    assert body["sourceChunks"][0]["documentId"] == library.pdf_id
    for chunk in body["sourceChunks"]:
        assert set(chunk) >= {"chunkId", "documentId", "chunkIndex", "content", "score"}
    assert (chunk["documentName"], chunk["title"]) == ("design.pdf", "System design")
    scores = [chunk["score"] for chunk in body["sourceChunks"]]
    assert scores == sorted(scores)
    assert set(markers(body["answer"])) <= set(range(1, len(scores) + 1))
    cited = body["sourceChunks"][markers(body["answer"])[0] - 1]
    assert "ring" in cited["content"]


def test_ask_uses_at_most_topk_chunks(library: Library):
    assert len(ask(library.client, HASH_QUESTION, topK=1).json()["sourceChunks"]) == 1


def test_ask_without_enough_says_so_with_200(library: Library):
    body = ask(library.client, UNRELATED).json()
    assert (body["query"], body["answer"], body["sourceChunks"]) == (UNRELATED, NO_ANSWER, [])


@pytest.mark.parametrize("path", ["/query", "/api/v1/rag/query"])
def test_query_answers_with_cited_documents_and_metadata(library: Library, path: str):
    reply = library.client.post(path, json={"query": HASH_QUESTION, "maxSources": 5})
    assert reply.status_code == 200
    body = reply.json()
    assert set(body) >= {"answer", "citedDocuments", "metadata"}
    assert "ring" in body["answer"]
    first = body["citedDocuments"][0]
    assert set(first) >= {"id", "title", "snippet", "url"}
    assert (first["id"], first["title"], first["url"]) == (library.pdf_id, "System design", None)
    assert first["documentName"] == "design.pdf"
    assert first["snippet"]
    assert sorted(set(markers(body["answer"]))) == list(range(1, len(body["citedDocuments"]) + 1))
    assert len({cited["id"] for cited in body["citedDocuments"]}) == len(body["citedDocuments"])
    metadata = body["metadata"]
    assert metadata["answerSynthesized"] is True
    assert 1 <= metadata["chunksRetrieved"] <= 5
    assert 0 <= metadata["processingTimeMs"] < 10_000


def test_query_without_enough_says_how_many_it_had_found(library: Library):
    body = query(library.client, UNRELATED).json()
    assert (body["answer"], body["citedDocuments"]) == (NO_ANSWER, [])
    assert body["metadata"]["answerSynthesized"] is False
    assert body["metadata"]["chunksRetrieved"] == min(10, library.chunks)


@pytest.mark.parametrize(
    "text",
    [
        "What is the difference between consistent hashing and sourdough bread?",
        "What do sourdough bread and consistent hashing have in common?",
        "Tell me about consistent hashing and about sourdough bread.",
    ],
)
def test_a_question_of_two_things_is_answered_from_the_documents_of_both(library: Library, text: str):
    body = query(library.client, text).json()
    assert {cited["documentName"] for cited in body["citedDocuments"]} == {"design.pdf", "kitchen.md"}
    assert "ring" in body["answer"] or "hash" in body["answer"]
    assert "bread" in body["answer"].lower()


def test_the_score_of_what_is_found_for_one_of_two_things_is_the_distance_to_the_question(library: Library):
    text = "Compare consistent hashing and sourdough bread."
    distances = {c["chunkId"]: c["score"] for c in search(library.client, text, k=50).json()}
    used = ask(library.client, text).json()["sourceChunks"]
    assert {c["documentName"] for c in used} == {"design.pdf", "kitchen.md"}
    assert [c["score"] for c in used] == pytest.approx([distances[c["chunkId"]] for c in used], abs=1e-5)


def test_a_question_of_two_things_is_not_answered_for_one(library: Library):
    assert query(library.client, "Compare sourdough bread and volcanic glass.").json()["answer"] == NO_ANSWER


def test_who_asks_changes_no_answer_and_whom_it_is_about_does(library: Library):
    body = query(library.client, f"My colleague Zorblax Miller asks {BREAD_QUESTION.lower()}").json()
    assert "forty minutes" in body["answer"]
    other = query(library.client, "How long does a loaf of Zorblax Miller's sourdough bread bake?").json()
    assert other["answer"] == NO_ANSWER


def test_book_answers_in_clean_text_with_chapter_and_section(library: Library):
    reply = book(library.client, BREAD_QUESTION)
    assert reply.status_code == 200
    body = reply.json()
    assert set(body) >= {"answer", "sources"}
    assert "forty minutes" in body["answer"]
    assert markers(body["answer"]) == []
    assert body["sources"][0] == {"source_file": "kitchen.md", "chapter": "Kitchen", "section": "Bread"}


def test_book_names_the_outline_of_a_pdf_as_chapter(library: Library):
    source = book(library.client, HASH_QUESTION).json()["sources"][0]
    assert (source["source_file"], source["chapter"], source["section"]) == ("design.pdf", "Hashing", "")


def test_book_without_enough_says_so(library: Library):
    body = book(library.client, UNRELATED).json()
    assert (body["answer"], body["sources"]) == (BOOK_NO_ANSWER, [])


def test_nothing_ingested_is_not_enough(server: Stack, client: httpx.Client):
    assert ask(client, HASH_QUESTION).json()["answer"] == NO_ANSWER
    body = query(client, HASH_QUESTION).json()
    assert body["metadata"]["chunksRetrieved"] == 0
    assert book(client, HASH_QUESTION).json() == {"answer": BOOK_NO_ANSWER, "sources": []}


BLANKS = ["", "   ", "\t\n", "\u00a0\u2003\u3000", "\u200b\u2060\ufeff", "\u00ad", "\u3164", "\u2800"]


@pytest.mark.parametrize("text", [*BLANKS, "\x00", "a" * 2001, "a\x00b"])
def test_every_face_refuses_an_unusable_question(library: Library, text: str):
    for reply in (ask(library.client, text), query(library.client, text)):
        assert_problem(reply, 400, "VALIDATION_ERROR", field="query")
    assert_problem(book(library.client, text), 400, "VALIDATION_ERROR", field="question")


@pytest.mark.parametrize("text", [" ", "\x01", "\x00", " \x00 "])
def test_the_message_of_a_blank_query_is_the_specified_one(library: Library, text: str):
    body = assert_problem(query(library.client, text), 400, "VALIDATION_ERROR", field="query")
    assert body["message"] == "Query must be non-blank and at most 2000 characters."


@pytest.mark.parametrize("value", [5, 5.0, True, None, [], {}, ["x"]])
def test_a_question_that_is_no_string_is_400(library: Library, value: Any):
    for path in JSON_FACES:
        assert_problem(
            library.client.post(path, json={"query": value}), 400, "VALIDATION_ERROR", field="query"
        )


@pytest.mark.parametrize("value", [0, -1, 51, "5", 5.0, True, 10**30, [], {}])
@pytest.mark.parametrize(("path", "name"), [("/api/v1/rag/ask", "topK"), ("/query", "maxSources")])
def test_a_number_of_sources_outside_1_to_50_is_400(library: Library, path: str, name: str, value: Any):
    reply = library.client.post(path, json={"query": "Why?", name: value})
    assert_problem(reply, 400, "VALIDATION_ERROR", field=name)


@pytest.mark.parametrize("value", [0, 4097, "100", 1.5, False])
def test_max_tokens_outside_1_to_4096_is_400(library: Library, value: Any):
    reply = query(library.client, "Why?", maxTokens=value)
    assert_problem(reply, 400, "VALIDATION_ERROR", field="maxTokens")


def test_an_answer_of_few_tokens_is_the_likeliest_sentence_whole(library: Library):
    text = "Tell me about consistent hashing and about sourdough bread."
    whole = query(library.client, text, maxTokens=4096).json()["answer"]
    short = query(library.client, text, maxTokens=1).json()
    assert short["answer"] in whole
    assert (whole.count("["), short["answer"].count("[")) == (2, 1)
    assert len(short["citedDocuments"]) == len(short["metadata"]["citations"]) == 1


def test_limits_themselves_are_accepted(library: Library):
    assert query(library.client, "a" * 2000, maxSources=50, maxTokens=4096).status_code == 200
    assert query(library.client, "Why?", maxSources=1, maxTokens=1).status_code == 200
    assert ask(library.client, "😀" * 2000, topK=50).status_code == 200


def test_query_and_question_together_or_neither_is_400(library: Library):
    for body in ({"query": "a", "question": "b"}, {}, {"text": "a"}):
        assert_problem(library.client.post("/query", json=body), 400, "VALIDATION_ERROR")


def test_an_unknown_collection_is_404(library: Library):
    for reply in (ask(library.client, "Why?", collection="x"), query(library.client, "Why?", collection="x")):
        assert_problem(reply, 404, "NOT_FOUND")


BAD_JSON = [
    b"",
    b"{",
    b"[]",
    b'"text"',
    b"null",
    b'{"query": "a"',
    b'{"query": NaN}',
    b'{"query": "a", "topK": Infinity}',
    b'{"query": "a", "topK": ' + b"1" * 5000 + b"}",
    b'{"query": "\xff\xfe"}',
    b'\xef\xbb\xbf{"query": "a"}',
    '{"query": "a"}'.encode("utf-16"),
    b'{"query": "\\ud800"}',
    b'{"query": "a\\u0000b"}',
    b"[" * 5000,
    b'{"query": ' + b"[" * 5000 + b"]" * 5000 + b"}",
]


@pytest.mark.parametrize("raw", BAD_JSON, ids=range(len(BAD_JSON)))
@pytest.mark.parametrize("path", JSON_FACES)
def test_bad_json_is_400_in_the_error_shape(library: Library, path: str, raw: bytes):
    reply = library.client.post(path, content=raw, headers={"Content-Type": "application/json"})
    assert_problem(reply, 400, "VALIDATION_ERROR")


@pytest.mark.parametrize("path", JSON_FACES)
def test_a_wrong_content_type_is_415_and_a_huge_body_413(library: Library, path: str):
    reply = library.client.post(path, content=b"query=a", headers={"Content-Type": "text/plain"})
    assert_problem(reply, 415, "UNSUPPORTED_MEDIA_TYPE")
    big = b'{"query": "' + b"a" * 1_100_000 + b'"}'
    reply = library.client.post(path, content=big, headers={"Content-Type": "application/json"})
    assert_problem(reply, 413, "PAYLOAD_TOO_LARGE")
