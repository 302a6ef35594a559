"""POST /api/v1/documents over real HTTP: what goes in, what is refused, and that a refusal leaves nothing."""

import hashlib
import re
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.documents.http import (
    MAX_BYTES,
    URL,
    assert_nothing_stored,
    assert_problem,
    file_part,
    ingested,
    is_uuid7,
    markdown,
    padded_pdf,
    upload,
    upload_raw,
)
from tests.extraction import hostile
from tests.support.stack import Stack

UTC_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def test_pdf_becomes_a_document_with_its_file_and_chunks(
    server: Stack, sample_pdf: Callable[..., bytes]
) -> None:
    pdf = sample_pdf("The harbour opens at nine.", "The lighthouse was built in 1852.", title="Harbour")

    response = upload(server, pdf, "harbour.pdf")

    assert response.status_code == 201, response.text
    body = response.json()
    assert {"documentId", "filename", "totalChunks", "status", "createdAt"} <= body.keys()
    assert (body["filename"], body["status"], body["source"]) == ("harbour.pdf", "INGESTED", "PDF")
    assert body["totalChunks"] == server.count("documents_chunk") >= 1
    assert is_uuid7(body["documentId"])
    assert UTC_TIME.fullmatch(body["createdAt"])
    assert response.headers["location"] == f"{URL}/{body['documentId']}"
    assert body["checksum"] == hashlib.sha256(pdf).hexdigest()
    assert [file.name for file in server.stored_files()] == [f"{body['documentId']}.pdf"]
    assert server.stored_files()[0].read_bytes() == pdf
    assert server.count("documents_page") == 2


def test_upload_is_not_embedded(server: Stack) -> None:
    ingested(server)

    assert server.count("embeddings_embedding") + server.count("embeddings_embeddingrequest") == 0


def test_second_upload_of_the_same_bytes_names_the_first(server: Stack) -> None:
    content = markdown()
    first = ingested(server, content, "first.md")

    again = upload(server, content, "second.md")

    problem = assert_problem(again, 409, "DUPLICATE", "Document already ingested")
    assert first in problem["message"]
    assert problem["details"] == {"documentId": first}
    assert len(server.stored_files()) == server.count("documents_document") == 1


def test_same_bytes_may_live_in_two_collections(server: Stack) -> None:
    content = markdown()
    server.sql(
        "INSERT INTO documents_collection (id, name, description, settings, created_at) "
        "VALUES (gen_random_uuid(), 'law', '', '{}', now())"
    )
    law_id = str(server.sql("SELECT id FROM documents_collection WHERE name = 'law'")[0]["id"])

    first, second = ingested(server, content), ingested(server, content, data={"collection": "law"})

    assert first != second
    assert upload(server, content, data={"collection": law_id}).status_code == 409
    assert_problem(upload(server, content, params={"collection": "law"}), 409, "DUPLICATE", second)


def test_unknown_empty_or_contradicting_collection_is_refused(server: Stack) -> None:
    for data, params, status in [
        ({"collection": "nowhere"}, {}, 404),
        ({}, {"collection": "nowhere"}, 404),
        ({"collection": ""}, {}, 400),
        ({"collection": "a\0b"}, {}, 400),
        ({"collection": "default"}, {"collection": "other"}, 400),
        ({"collection": ["default", "other"]}, {}, 400),
    ]:
        response = upload(server, markdown(), data=data, params=params)

        code = "NOT_FOUND" if status == 404 else "VALIDATION_ERROR"
        assert_problem(response, status, code, field="collection")
    assert_nothing_stored(server)


def test_deleted_default_collection_is_made_again(server: Stack) -> None:
    server.sql("DELETE FROM documents_collection")

    ingested(server)

    assert server.count("documents_collection", "name = 'default'") == 1


def test_empty_file_is_refused(server: Stack) -> None:
    assert_problem(upload(server, b""), 400, "VALIDATION_ERROR", "File is empty.", "file")
    assert_nothing_stored(server)


@pytest.mark.parametrize(
    "body",
    [
        file_part(b"x", 'name="document"; filename="a.md"') + b"--b--\r\n",
        file_part(b"some text", 'name="file"') + b"--b--\r\n",
        file_part(b"some text", 'name="file"; filename=""') + b"--b--\r\n",
        file_part(b"one") + file_part(b"two") + b"--b--\r\n",
        file_part(b"one") + file_part(b"two", 'name="file"') + b"--b--\r\n",
        file_part(b"cut in the file")[:-6],
        file_part(b"without the closing delimiter"),
        file_part(b"cut in the next part") + b"--b\r\nContent-Disposition: form-data; name=",
        b"this is no multipart at all",
        b"",
    ],
)  # fmt: skip
def test_form_without_exactly_one_whole_file_is_refused(server: Stack, body: bytes) -> None:
    assert_problem(upload_raw(server, body), 400, "VALIDATION_ERROR", field="file")
    assert_nothing_stored(server)


def test_form_with_too_many_or_too_large_fields_is_refused(server: Stack) -> None:
    many = upload(server, markdown(), data={f"field{number}": "x" for number in range(1100)})
    large = upload(server, markdown(), data={"note": "x" * 1_500_000})

    assert_problem(many, 400, "VALIDATION_ERROR")
    assert_problem(large, 413, "PAYLOAD_TOO_LARGE")
    assert_nothing_stored(server)


def test_part_that_is_not_the_base64_it_claims_to_be_is_refused(server: Stack) -> None:
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n'
    body = head + b"Content-Transfer-Encoding: base64\r\n\r\nabc\r\n--b--\r\n"

    assert_problem(upload_raw(server, body), 400, "VALIDATION_ERROR", field="file")


def test_encoded_file_name_is_decoded_and_an_unknown_charset_refused(server: Stack) -> None:
    def named(disposition: str) -> httpx.Response:
        return upload_raw(server, file_part(markdown(), f'name="file"; {disposition}') + b"--b--\r\n")

    assert named("filename*=UTF-8''%C3%A4%20b.md").json()["filename"] == "ä b.md"
    assert_problem(named("filename*=no-such-charset''a.md"), 400, "VALIDATION_ERROR", field="file")


@pytest.mark.parametrize(
    "content_type",
    ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\u00e4"],
)
def test_unusable_boundary_is_refused(server: Stack, content_type: str) -> None:
    response = httpx.post(
        server.url + URL,
        content=file_part(b"text") + b"--b--\r\n",
        headers={"Content-Type": content_type.encode("latin-1")},
    )

    assert_problem(response, 400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/pdf",
        "application/x-www-form-urlencoded",
        "multipart/mixed; boundary=b",
        "",
    ],
)
def test_other_content_types_are_refused(server: Stack, content_type: str) -> None:
    response = upload_raw(server, file_part(b"text") + b"--b--\r\n", content_type)

    assert_problem(response, 415, "UNSUPPORTED_MEDIA_TYPE", "multipart/form-data")


def test_media_type_is_read_without_regard_to_case(server: Stack) -> None:
    body = file_part(markdown()) + b"--b--\r\n"

    assert upload_raw(server, body, "Multipart/Form-Data; boundary=b").status_code == 201


def test_unreadable_document_leaves_nothing_and_stays_unreadable(server: Stack) -> None:
    for _ in range(2):
        response = upload(server, b"%PDF-1.7 this is not really a PDF", "broken.pdf")

        assert_problem(response, 422, "UNPROCESSABLE")
        assert_nothing_stored(server)


def test_document_without_text_is_refused(server: Stack, sample_pdf: Callable[..., bytes]) -> None:
    for content in (sample_pdf("", ""), hostile.nul_in_text(b"aaaa")):  # the latter: U+0000 only
        assert_problem(upload(server, content, "scan.pdf"), 422, "UNPROCESSABLE", "text")
        assert_nothing_stored(server)


def test_pages_that_are_only_claimed_are_told_and_no_reason_to_refuse(server: Stack) -> None:
    response = upload(server, hostile.pages_claimed(10**12), "book.pdf")

    assert response.status_code == 201
    document = server.client.get(f"/v1/documents/{response.json()['documentId']}").json()
    assert document["warnings"] == ["The PDF says it has 1,000,000,000,000 pages; 1 was found."]
    assert document["page_count"] == 1


def test_file_of_exactly_the_limit_goes_in_and_one_byte_more_does_not(server: Stack) -> None:
    content = padded_pdf(MAX_BYTES)
    assert upload(server, content, "big.pdf").status_code == 201
    server.clean()

    response = upload(server, content + b"\n", "bigger.pdf")

    assert_problem(response, 413, "PAYLOAD_TOO_LARGE", "50 MB")
    assert_nothing_stored(server)


def chunked(content: bytes) -> Iterator[bytes]:
    yield file_part(b"")[:-2]
    for start in range(0, len(content), 1 << 20):
        yield content[start : start + (1 << 20)]
    yield b"\r\n--b--\r\n"


def test_body_without_a_length_is_taken_and_limited_all_the_same(server: Stack) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=b"}

    small = httpx.post(server.url + URL, content=chunked(markdown()), headers=headers, timeout=60)
    large = httpx.post(server.url + URL, content=chunked(b"x" * (MAX_BYTES + 1)), headers=headers, timeout=60)

    assert small.status_code == 201
    assert_problem(large, 413, "PAYLOAD_TOO_LARGE")
    assert server.count("documents_document") == len(server.stored_files()) == 1


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("../../etc/passwd.md", "passwd.md"),
        ("C:\\\\Users\\\\ada\\\\plan.md", "plan.md"),
        ("<script>.md", "<script>.md"),
        ("a&amp;b.md", "a&amp;b.md"),
        ("\u202egnp.md", "gnp.md"),
        ("a\u00a0b\tc.md", "a bc.md"),
        ("\u6587\u66f8 \U0001f600.md", "\u6587\u66f8 \U0001f600.md"),
        ("n" * 300 + ".md", "n" * 252 + ".md"),
        ("..", "document"),
    ],
)
def test_file_name_is_stored_as_data_only(server: Stack, sent: str, stored: str) -> None:
    body = file_part(padded_pdf(2000), f'name="file"; filename="{sent}"') + b"--b--\r\n"

    response = upload_raw(server, body)

    assert response.status_code == 201, response.text
    assert response.json()["filename"] == stored
    assert [file.name for file in server.stored_files()] == [response.json()["documentId"] + ".pdf"]
