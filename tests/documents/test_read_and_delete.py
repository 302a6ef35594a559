"""GET and DELETE of documents over real HTTP."""

from collections.abc import Callable

import httpx
import pytest

from tests.documents.http import UNKNOWN_ID, URL, assert_nothing_stored, assert_problem, ingested, upload
from tests.support.stack import Stack

BAD_IDS = [
    "42",
    "not-a-uuid",
    "01890a5dac96774bbcceb302099a8057",
    "{01890a5d-ac96-774b-bcce-b302099a8057}",
    "%00",
]


def test_list_shows_the_default_collection_newest_first(server: Stack, client: httpx.Client) -> None:
    assert client.get(URL).json() == []
    ids = [ingested(server) for _ in range(3)]

    listed = client.get(URL).json()

    assert [row["id"] for row in listed] == ids[::-1]
    assert {"id", "source", "originalFilename", "checksum", "createdAt"} <= listed[0].keys()
    assert (listed[0]["source"], listed[0]["originalFilename"]) == ("MARKDOWN", "notes.md")
    assert len(listed[0]["checksum"]) == 64
    assert listed[0]["createdAt"].endswith("Z")


def test_list_can_be_read_in_pages(server: Stack, client: httpx.Client) -> None:
    ids = [ingested(server) for _ in range(3)][::-1]

    assert [row["id"] for row in client.get(URL, params={"limit": 2}).json()] == ids[:2]
    assert [row["id"] for row in client.get(URL, params={"limit": 2, "offset": 2}).json()] == ids[2:]
    assert [row["id"] for row in client.get(URL, params={"offset": 1}).json()] == ids[1:]
    for name, value in [
        ("limit", "0"),
        ("limit", "1001"),
        ("limit", "x"),
        ("offset", "-1"),
        ("limit", "\u0665"),
    ]:
        assert_problem(client.get(URL, params={name: value}), 400, "VALIDATION_ERROR", field=name)


def test_document_shows_what_the_list_shows(server: Stack, client: httpx.Client) -> None:
    document = ingested(server)

    assert client.get(f"{URL}/{document}").json() == client.get(URL).json()[0]


def test_chunks_come_in_order_and_cover_the_text(
    server: Stack, client: httpx.Client, sample_pdf: Callable[..., bytes]
) -> None:
    pages = [" ".join(f"Sentence {page}-{n} speaks of the harbour." for n in range(60)) for page in range(4)]
    document = ingested(server, sample_pdf(*pages), "long.pdf")

    chunks = client.get(f"{URL}/{document}/chunks").json()

    assert len(chunks) > 1
    assert [chunk["chunkIndex"] for chunk in chunks] == list(range(len(chunks)))
    assert {chunk["documentId"] for chunk in chunks} == {document}
    text = "\n".join(
        row["text"] for row in server.sql("SELECT text FROM documents_page ORDER BY number")
    )  # the document's text is its pages, joined by one newline
    for chunk in chunks:
        assert text[chunk["startChar"] : chunk["endChar"]] == chunk["content"]
        assert 1 <= chunk["pageNumber"] <= chunk["lastPage"] <= 4


@pytest.mark.parametrize("bad_id", BAD_IDS)
def test_malformed_id_is_a_400_everywhere(client: httpx.Client, bad_id: str) -> None:
    for response in [
        client.get(f"{URL}/{bad_id}"),
        client.get(f"{URL}/{bad_id}/chunks"),
        client.delete(f"{URL}/{bad_id}"),
    ]:
        assert_problem(response, 400, "VALIDATION_ERROR", field="documentId")


def test_unknown_id_is_a_404_that_names_it(client: httpx.Client) -> None:
    for response in [
        client.get(f"{URL}/{UNKNOWN_ID}"),
        client.get(f"{URL}/{UNKNOWN_ID.upper()}/chunks"),
        client.delete(f"{URL}/{UNKNOWN_ID}"),
    ]:
        problem = assert_problem(response, 404, "NOT_FOUND")
        assert problem["message"] == f"Document not found: {UNKNOWN_ID}"


def test_wrong_methods_are_refused_in_json(client: httpx.Client) -> None:
    for method, path in [
        ("PUT", URL),
        ("DELETE", URL),
        ("PATCH", f"{URL}/{UNKNOWN_ID}"),
        ("POST", f"{URL}/{UNKNOWN_ID}/chunks"),
    ]:
        assert_problem(client.request(method, path), 405, "METHOD_NOT_ALLOWED")


def test_deletion_takes_row_pages_chunks_and_file(server: Stack, client: httpx.Client) -> None:
    document = ingested(server)

    response = client.delete(f"{URL}/{document}")

    assert (response.status_code, response.content) == (204, b"")
    assert_nothing_stored(server)
    assert client.get(f"{URL}/{document}").status_code == 404
    assert client.get(f"{URL}/{document}/chunks").status_code == 404
    assert client.get(URL).json() == []


def test_deleted_document_can_be_uploaded_again(server: Stack, client: httpx.Client) -> None:
    content = b"# Tides\n\nThe tide turns twice a day.\n"
    first = ingested(server, content)
    assert client.delete(f"{URL}/{first}").status_code == 204

    assert upload(server, content).json()["documentId"] != first


def test_id_is_found_in_any_collection_while_the_list_shows_one(server: Stack, client: httpx.Client) -> None:
    server.sql(
        "INSERT INTO documents_collection (id, name, description, settings, created_at) "
        "VALUES (gen_random_uuid(), 'law', '', '{}', now())"
    )
    document = ingested(server, data={"collection": "law"})

    assert client.get(URL).json() == []
    assert [row["id"] for row in client.get(URL, params={"collection": "law"}).json()] == [document]
    assert client.get(f"{URL}/{document}").json()["collection"] == "law"
    assert client.delete(f"{URL}/{document}").status_code == 204
    assert_problem(client.get(URL, params={"collection": "nowhere"}), 404, "NOT_FOUND")
