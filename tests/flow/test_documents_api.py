"""The Knowlex API's five document routes, field by field, with every error row of their specification."""

import hashlib
import re

import httpx
import pytest

from tests.support.api import (
    UNKNOWN_ID,
    assert_id,
    assert_now,
    assert_problem,
    ingest,
    together,
    upload,
)
from tests.support.invariants import assert_documents_whole
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf, markdown

DOCUMENTS = "/api/v1/documents"
MARKDOWN = markdown("Lights", [("North", fact(1)), ("South", fact(2))])


def test_upload_answers_201_with_the_specified_fields(server: Stack, client: httpx.Client):
    reply = upload(client, facts_pdf(40), "system-design.pdf")
    assert reply.status_code == 201
    body = reply.json()
    assert {"documentId", "filename", "totalChunks", "status", "createdAt"} <= set(body)
    assert_id(body["documentId"])
    assert_now(body["createdAt"])
    assert body["filename"] == "system-design.pdf"
    assert body["status"] == "INGESTED"
    assert body["totalChunks"] == server.count("documents_chunk") > 1
    assert_documents_whole(server)


def test_upload_does_not_embed(server: Stack, client: httpx.Client):
    ingest(client, facts_pdf(5))
    assert server.count("embeddings_embedding") == server.count("embeddings_embeddingrequest") == 0


def test_the_collection_default_lists_its_documents(client: httpx.Client):
    data = facts_pdf(3)
    first = ingest(client, data, "first.pdf")
    second = ingest(client, MARKDOWN, "second.md")
    rows = {row["id"]: row for row in client.get(DOCUMENTS).json()}
    assert set(rows) == {first["documentId"], second["documentId"]}
    row = rows[first["documentId"]]
    assert {"id", "source", "originalFilename", "checksum", "createdAt"} <= set(row)
    assert (row["source"], row["originalFilename"]) == ("PDF", "first.pdf")
    assert row["checksum"] == hashlib.sha256(data).hexdigest()
    assert row["createdAt"] == first["createdAt"]
    assert rows[second["documentId"]]["source"] == "MARKDOWN"


def test_no_documents_are_an_empty_list(client: httpx.Client):
    reply = client.get(DOCUMENTS)
    assert (reply.status_code, reply.json()) == (200, [])


def test_one_document_reads_as_in_the_list(client: httpx.Client):
    made = ingest(client, facts_pdf(3))
    reply = client.get(f"{DOCUMENTS}/{made['documentId']}")
    assert reply.status_code == 200
    assert reply.json() == client.get(DOCUMENTS).json()[0]


def test_chunks_come_in_order_with_content_and_page(client: httpx.Client):
    made = ingest(client, facts_pdf(60))
    chunks = client.get(f"{DOCUMENTS}/{made['documentId']}/chunks").json()
    assert len(chunks) == made["totalChunks"]
    assert [chunk["chunkIndex"] for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert {"id", "documentId", "chunkIndex", "content"} <= set(chunk)
        assert_id(chunk["id"])
        assert chunk["documentId"] == made["documentId"]
        assert chunk["content"].strip()
        assert 1 <= chunk["pageNumber"] <= 3
    found = set(re.findall(r"lighthouse of (\w+)", " ".join(chunk["content"] for chunk in chunks)))
    assert len(found) == 60


def test_delete_takes_row_chunks_and_file(server: Stack, client: httpx.Client):
    made = ingest(client, facts_pdf(5))
    assert len(server.stored_files()) == 1
    reply = client.delete(f"{DOCUMENTS}/{made['documentId']}")
    assert (reply.status_code, reply.content) == (204, b"")
    assert_problem(client.get(f"{DOCUMENTS}/{made['documentId']}"), 404, "NOT_FOUND")
    assert_problem(client.get(f"{DOCUMENTS}/{made['documentId']}/chunks"), 404, "NOT_FOUND")
    assert server.stored_files() == []
    assert server.count("documents_chunk") == 0
    assert ingest(client, facts_pdf(5))["documentId"] != made["documentId"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("GET", "/chunks"), ("DELETE", "")],
)
def test_an_unknown_id_is_404_and_a_malformed_one_400(client: httpx.Client, method: str, path: str):
    body = assert_problem(client.request(method, f"{DOCUMENTS}/{UNKNOWN_ID}{path}"), 404, "NOT_FOUND")
    assert body["message"] == f"Document not found: {UNKNOWN_ID}"
    assert_problem(client.request(method, f"{DOCUMENTS}/not-a-uuid{path}"), 400, "VALIDATION_ERROR")


def test_an_empty_file_is_400(server: Stack, client: httpx.Client):
    assert_problem(upload(client, b""), 400, "VALIDATION_ERROR")
    assert_documents_whole(server)


def test_a_form_without_file_is_400(client: httpx.Client):
    assert_problem(client.post(DOCUMENTS, files={"other": ("a.pdf", facts_pdf(1))}), 400)
    assert_problem(client.post(DOCUMENTS, files=[("file", ("a.pdf", facts_pdf(n))) for n in (1, 2)]), 400)


def test_a_second_equal_upload_is_409_and_names_the_first(client: httpx.Client):
    made = ingest(client, facts_pdf(3), "one.pdf")
    body = assert_problem(upload(client, facts_pdf(3), "another-name.pdf"), 409, "DUPLICATE")
    assert made["documentId"] in body["message"]


def test_twenty_equal_uploads_at_once_give_one_201(server: Stack):
    data = facts_pdf(30)
    clients = [httpx.Client(base_url=server.url, timeout=90) for _ in range(20)]
    replies = together([lambda c=c: upload(c, data) for c in clients])
    assert sorted(reply.status_code for reply in replies) == [201] + [409] * 19
    winner = next(reply.json()["documentId"] for reply in replies if reply.status_code == 201)
    assert all(winner in reply.text for reply in replies)
    assert server.count("documents_document") == 1
    assert_documents_whole(server)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("not-a-pdf.pdf", b"GIF89a" + bytes(500)),
        ("cut.pdf", facts_pdf(20)[:300]),
        ("empty-pages.pdf", make_pdf("", "")),
        ("blank.md", "\u200b\n\n \u00a0\n".encode()),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(200)),
    ],
)
def test_what_gives_no_text_is_422_and_leaves_nothing(
    server: Stack, client: httpx.Client, name: str, data: bytes
):
    assert_problem(upload(client, data, name), 422, "UNPROCESSABLE")
    assert_problem(upload(client, data, name), 422, "UNPROCESSABLE")  # again, and not 409
    assert server.count("documents_document") == 0
    assert_documents_whole(server)


def test_json_sent_to_the_upload_is_415(client: httpx.Client):
    assert_problem(client.post(DOCUMENTS, json={"file": "x"}), 415, "UNSUPPORTED_MEDIA_TYPE")


def test_the_type_is_decided_by_content(client: httpx.Client):
    reply = client.post(DOCUMENTS, files={"file": ("thesis.bin", facts_pdf(2), "application/octet-stream")})
    assert reply.status_code == 201, reply.text
    assert client.get(f"{DOCUMENTS}/{reply.json()['documentId']}").json()["source"] == "PDF"


@pytest.mark.parametrize(
    "name", ["../../etc/passwd.pdf", "<script>.pdf", "-rf.pdf", "é😀.pdf", "a" * 251 + ".pdf"]
)
def test_a_file_is_never_kept_under_the_users_name(server: Stack, client: httpx.Client, name: str):
    made = ingest(client, facts_pdf(2), name)
    assert made["filename"] == name.rpartition("/")[2]
    assert [file.name for file in server.stored_files()] == [f"{made['documentId']}.pdf"]


def test_one_collection_does_not_see_the_other(server: Stack, client: httpx.Client):
    server.sql(
        "INSERT INTO documents_collection (id, name, description, settings, created_at) "
        "VALUES (gen_random_uuid(), 'other', '', '{}', now())"
    )
    here = ingest(client, facts_pdf(3))
    there = ingest(client, facts_pdf(3), collection="other")
    assert [row["id"] for row in client.get(DOCUMENTS).json()] == [here["documentId"]]
    other = client.get(DOCUMENTS, params={"collection": "other"}).json()
    assert [row["id"] for row in other] == [there["documentId"]]
    assert_problem(upload(client, facts_pdf(4), collection="nowhere"), 404, "NOT_FOUND")
