"""/v1/ingest over HTTP: jobs of all kinds, and every way to ask for one wrongly."""

import base64
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.platform.talk import accepted, collection, ended, file, ingested, post, stored, text
from tests.support.api import UNKNOWN_ID, assert_id, assert_now, assert_problem, search
from tests.support.stack import Stack

LAMPS = "# Lamps\n\nThe lamp in the hall is green.\n\n## Doors\n\nThe door of the shed is red."


def test_a_job_of_several_kinds_is_read_embedded_and_found(server: Stack, sample_pdf):
    client, manuals = server.client, collection(server.client, chunking_strategy="sentence")

    reply = post(
        client,
        file(sample_pdf("Whales sleep upright in the sea."), "whales.pdf", title="On whales", author="Ann"),
        text(LAMPS, "lamps.md"),
        file(b"<html><body><h1>Tea</h1><p>Tea is grown on hills.</p></body></html>", "tea.html"),
        file(b"\x00\x01\x02 nothing to read", "x.bin"),
        to=manuals,
    )
    body = reply.json()
    job = ended(client, body["job_id"])

    assert reply.status_code == 200
    assert_id(body["job_id"])
    assert reply.headers["Location"] == f"/v1/ingest/{body['job_id']}"
    assert (body["status"], body["documents_queued"], body["collection_id"]) == ("accepted", 4, manuals)
    assert [one["id"] for one in body["documents"]] == [one["id"] for one in job["documents"]]
    assert job["status"] == "completed"
    assert_now(job["completed_at"])
    assert [one["status"] for one in job["documents"]] == ["completed"] * 3 + ["failed"]
    assert job["documents"][3]["error_code"] == "UNPROCESSABLE"
    assert job["documents"][3]["error"]
    assert job["documents"][0]["title"] == "On whales"
    progress = job["progress"]
    assert (progress["total"], progress["processed"], progress["failed"]) == (4, 4, 1)
    assert (
        progress["chunks_made"]
        == progress["chunks_embedded"]
        == sum(one["chunk_count"] for one in job["documents"])
    )
    hits = search(client, "Whales sleep upright in the sea.", collection=manuals, k=1).json()
    assert hits[0]["documentId"] == job["documents"][0]["id"]


def test_one_text_twice_is_stored_once_and_a_job_of_failures_has_failed(client: httpx.Client):
    first = stored(client, text("Bees live in hives."))

    job = ingested(client, text("Bees live in hives.", "again.txt"))

    (again,) = job["documents"]
    assert (job["status"], again["status"], again["error_code"]) == ("failed", "failed", "DUPLICATE")
    assert (again["duplicate_of"], again["error"]) == (first, f"Document already ingested: {first}")
    listed = client.get("/v1/documents").json()["documents"]
    assert [document["id"] for document in listed] == [first]  # a duplicate is no document of its own
    of_job = client.get("/v1/documents", params={"job_id": job["job_id"]}).json()["documents"]
    assert [document["processing"]["error_code"] for document in of_job] == ["DUPLICATE"]
    stats = client.get(f"/v1/collections/{listed[0]['collection_id']}/stats").json()
    assert stats["documents_by_status"] == {"completed": 1}


def test_the_jobs_settings_go_before_the_collections(client: httpx.Client):
    words = "The lamp is green and stands in the hall. " * 20
    manuals = collection(client, chunking_strategy="sentence", chunk_size=200)

    whole = ingested(client, text(words), to="Manuals")
    split = ingested(client, text(words + "."), to=manuals, settings={"chunk_size": 40, "chunk_overlap": 0})

    assert whole["settings"]["chunk_size"] == 200
    assert (split["settings"]["chunk_size"], split["settings"]["chunk_overlap"]) == (40, 0)
    assert split["documents"][0]["chunk_count"] > 3 * whole["documents"][0]["chunk_count"]


GOOD = text("Some words.")
HERE = {"collection_id": "default"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "documents"),
        ({**HERE, "documents": []}, "documents"),
        ({**HERE, "documents": {}}, "documents"),
        ({**HERE, "documents": [GOOD] * 101}, "documents"),
        ({"documents": [GOOD]}, "collection_id"),
        ({"collection_id": 5, "documents": [GOOD]}, "collection_id"),
        ({"collection_id": "", "documents": [GOOD]}, "collection_id"),
        ({"collection_id": "nobody's", "documents": [GOOD]}, "collection_id"),
        ({**HERE, "documents": ["words"]}, "documents[0]"),
        ({**HERE, "documents": [GOOD, {}]}, "documents[1].source"),
        ({**HERE, "documents": [{"source": {}}]}, "documents[0].source.type"),
        (
            {**HERE, "documents": [{"source": {"type": "ftp"}}]},
            "documents[0].source.type",
        ),
        (
            {**HERE, "documents": [{"source": {"type": "text"}}]},
            "documents[0].source.content",
        ),
        ({**HERE, "documents": [GOOD, GOOD, text("")]}, "documents[2].source.content"),
        (
            {**HERE, "documents": [{"source": {"type": "text", "content": 5}}]},
            "documents[0].source.content",
        ),
        (
            {**HERE, "documents": [{"source": {"type": "file", "content": "a@b="}}]},
            "documents[0].source.content",
        ),
        (
            {**HERE, "documents": [{"source": {"type": "file", "content": "YWJj="}}]},
            "documents[0].source.content",
        ),
        (
            {
                "collection_id": "default",
                "documents": [{"source": {"type": "file", "content": "YWJj", "filename": 1}}],
            },
            "documents[0].source.filename",
        ),
        ({**HERE, "documents": [{**GOOD, "metadata": []}]}, "documents[0].metadata"),
        (
            {**HERE, "documents": [{**GOOD, "metadata": {"a": "x" * 17_000}}]},
            "documents[0].metadata",
        ),
        ({**HERE, "documents": [GOOD, text("a\0b")]}, "documents[1].source.content"),
        ({**HERE, "documents": [{**GOOD, "metadata": {"a": ["\0"]}}]}, "documents[0].metadata.a[0]"),
        (
            {**HERE, "documents": [{**GOOD, "metadata": {"title": 5}}]},
            "documents[0].metadata.title",
        ),
        ({**HERE, "documents": [GOOD], "settings": None}, "settings"),
        ({**HERE, "documents": [GOOD], "settings": {"size": 5}}, "settings.size"),
        (
            {**HERE, "documents": [GOOD], "settings": {"chunk_size": 5}},
            "settings.chunk_size",
        ),
        (
            {
                "collection_id": "default",
                "documents": [GOOD],
                "settings": {"chunk_size": 40, "chunk_overlap": 21},
            },
            "settings.chunk_overlap",
        ),
    ],
)
def test_bad_input_names_the_field_and_leaves_nothing(server: Stack, body: dict[str, Any], field: str):
    assert_problem(server.client.post("/v1/ingest", json=body), 400, "VALIDATION_ERROR", field=field)
    assert server.client.get("/v1/ingest").json()["jobs"] == []
    assert not any((server.folder / "files" / "incoming").glob("*"))


PRIVATE = {"visibility": "private"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"documents": [GOOD, {**GOOD, "permissions": PRIVATE}]}, "documents[1].permissions"),
        ({"documents": [{**GOOD, "permissions": {"allowed_users": ["ann"]}}]}, "documents[0].permissions"),
        ({"documents": [{**GOOD, "permissions": "private"}]}, "documents[0].permissions"),
        ({"documents": [GOOD], "permissions": PRIVATE}, "permissions"),
        ({"documents": [GOOD], "default_permissions": PRIVATE}, "default_permissions"),
    ],
)
def test_permissions_of_one_document_are_refused_and_not_ignored(
    client: httpx.Client, body: dict[str, Any], field: str
):
    assert_problem(client.post("/v1/ingest", json={**HERE, **body}), 422, "UNPROCESSABLE", field=field)
    assert client.get("/v1/ingest").json()["jobs"] == []


def test_a_form_and_a_new_version_bring_no_permissions_either(client: httpx.Client):
    form = {"collection_id": "default", "permissions": json.dumps(PRIVATE)}
    reply = client.post("/v1/ingest", data=form, files={"file": ("a.txt", b"Some words.")})
    assert_problem(reply, 422, "UNPROCESSABLE", field="permissions")

    first = stored(client, {**GOOD, "permissions": {"visibility": "public"}})
    reply = client.put(f"/v1/documents/{first}", json={**text("Others."), "permissions": PRIVATE})
    assert_problem(reply, 422, "UNPROCESSABLE", field="permissions")


def in_text(content: bytes) -> bytes:
    """The body of a job with one text, its JSON string as given."""
    return b'{"collection_id":"default","documents":[{"source":{"type":"text","content":"%b"}}]}' % content


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[1]", 400),
        (b'{"collection_id": NaN}', 400),
        (b'{"documents": ' + b"[" * 5000 + b"]" * 5000 + b"}", 400),
        (in_text(b"a\\u0000"), 400),
        (in_text(b"\\ud800"), 400),
        (in_text(b"\xff"), 400),
        (b'{"x": [' + b'"",' * 2_000_000 + b'""]}', 413),
    ],
)
def test_json_is_read_strictly(client: httpx.Client, body: bytes, status: int):
    reply = client.post("/v1/ingest", content=body, headers={"Content-Type": "application/json"})
    assert_problem(reply, status)


@pytest.mark.parametrize("rubbish", [b"\\u0000", b"\\ud800", b"\\ud83d\\ud83d", b"\xff", b"\n", b"\\x"])
@pytest.mark.parametrize("before", [10, 300_000])
def test_long_strings_are_read_as_strictly_as_short_ones(client: httpx.Client, before: int, rubbish: bytes):
    content = b"words " * (before // 6) + rubbish + b" words" * (before // 6)

    reply = client.post("/v1/ingest", content=in_text(content), headers={"Content-Type": "application/json"})

    assert_problem(reply, 400, "VALIDATION_ERROR")


def test_long_strings_may_be_escaped_in_any_way(client: httpx.Client):
    sentence = 'The "lamp" \\ in the hall / is green: \u4e2d\u6587 \U0001f600.\n\n'
    words = sentence * 4000
    for ascii_only in (True, False):
        source = {"type": "text", "content": words + str(ascii_only), "filename": "w.txt"}
        body = {**HERE, "documents": [{"source": source}]}
        raw = json.dumps(body, ensure_ascii=ascii_only).replace("/", "\\/").encode()
        job = client.post("/v1/ingest", content=raw, headers={"Content-Type": "application/json"}).json()
        (one,) = job["documents"]
        found = client.get(f"/v1/documents/{one['id']}").json()
        assert found["size_bytes"] == len((words + str(ascii_only)).encode())
        client.delete(f"/v1/documents/{one['id']}")


def test_base64_may_have_line_breaks(client: httpx.Client):
    content = base64.encodebytes(b"Words about lamps and doors. " * 20).decode()

    job = ingested(client, {"source": {"type": "file", "content": content, "filename": "a.txt"}})

    assert job["status"] == "completed"


def test_an_unknown_collection_is_not_found_and_a_wrong_type_is_refused(client: httpx.Client):
    assert_problem(post(client, GOOD, to=UNKNOWN_ID), 404, "NOT_FOUND")
    reply = client.post("/v1/ingest", content=b"{}", headers={"Content-Type": "text/plain"})
    assert_problem(reply, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_urls_are_refused_with_the_way_to_allow_them(client: httpx.Client):
    reply = post(client, {"source": {"type": "url", "content": "https://example.com/a.pdf"}})
    assert "KNOWLEX_URL_INGEST" in assert_problem(reply, 403, "FORBIDDEN")["message"]


def test_files_can_come_as_a_form(client: httpx.Client, sample_pdf):
    collection(client)
    files = [
        ("file", ("a.pdf", sample_pdf("Owls see at night."), "application/pdf")),
        ("file", ("b.md", b"# Foxes\n\nFoxes live in the wood.", "text/markdown")),
    ]
    fields = {"collection_id": "Manuals", "settings": '{"chunk_size": 100}', "metadata": '{"tags": ["a"]}'}

    job = ended(client, client.post("/v1/ingest", files=files, data=fields).json()["job_id"])

    assert [one["filename"] for one in job["documents"]] == ["a.pdf", "b.md"]
    assert (job["status"], job["settings"]["chunk_size"]) == ("completed", 100)
    found = client.get(f"/v1/documents/{job['documents'][1]['id']}").json()
    assert found["metadata"]["tags"] == ["a"]
    reply = client.post("/v1/ingest", files=files, data={"settings": "[]"})
    assert_problem(reply, 400, field="settings")


def test_waiting_ends_with_the_job_or_with_the_time(server: Stack):
    with server.paused_worker():
        job = accepted(server.client, GOOD)["job_id"]
        started = time.monotonic()
        waiting = server.client.get(f"/v1/ingest/{job}", params={"wait": 1}).json()
        waited = time.monotonic() - started

    assert (waiting["status"], waiting["completed_at"]) == ("pending", None)
    assert 1 <= waited < 10
    assert waiting["documents"][0]["stage"] == "queued"
    assert ended(server.client, job)["status"] == "completed"


def test_waiting_holds_no_thread(server: Stack):
    """More wait than there are threads, and others are answered meanwhile."""
    limits = httpx.Limits(max_connections=100)
    with (
        server.paused_worker(),
        httpx.Client(base_url=server.url, timeout=90, limits=limits) as many,
        ThreadPoolExecutor(60) as pool,
    ):
        job = accepted(server.client, GOOD)["job_id"]
        waiting = [pool.submit(many.get, f"/v1/ingest/{job}?wait=60") for _ in range(60)]
        assert server.client.get("/v1/documents").status_code == 200
        assert server.client.delete(f"/v1/documents/{first_document(server, job)}").status_code == 200
        assert {reply.result().json()["status"] for reply in waiting} == {"failed"}


def first_document(server: Stack, job: str) -> str:
    return str(server.client.get(f"/v1/ingest/{job}").json()["documents"][0]["id"])


@pytest.mark.parametrize("wait", ["61", "-1", "long", "1.5"])
def test_a_wait_is_0_to_60_whole_seconds(client: httpx.Client, wait: str):
    assert_problem(client.get(f"/v1/ingest/{UNKNOWN_ID}?wait={wait}"), 400, field="wait")


def test_unknown_and_malformed_jobs(client: httpx.Client):
    assert_problem(client.get(f"/v1/ingest/{UNKNOWN_ID}"), 404, "NOT_FOUND")
    assert_problem(client.get("/v1/ingest/nothing"), 400, "VALIDATION_ERROR", field="job_id")
    assert_problem(client.post(f"/v1/ingest/{UNKNOWN_ID}/retry"), 404, "NOT_FOUND")


def test_jobs_are_listed_newest_first_by_status_and_collection(client: httpx.Client):
    collection(client)
    good = accepted(client, GOOD, to="Manuals")["job_id"]
    bad = accepted(client, file(b"\x00\x01", "x.bin"))["job_id"]
    ended(client, good)
    ended(client, bad)

    def listed(**parameters: Any) -> list[str]:
        return [job["job_id"] for job in client.get("/v1/ingest", params=parameters).json()["jobs"]]

    assert listed() == [bad, good]
    assert listed(status="failed") == [bad]
    assert listed(collection="Manuals") == [good]
    first = client.get("/v1/ingest", params={"limit": 1}).json()
    assert [job["job_id"] for job in first["jobs"]] == [bad]
    assert listed(cursor=first["next_cursor"]) == [good]
    assert_problem(client.get("/v1/ingest?status=done"), 400, field="status")
    assert_problem(client.get("/v1/ingest?collection=nobody"), 404)


def test_the_file_of_a_duplicate_is_not_kept_and_a_retry_says_that_it_must_be_sent_again(
    client: httpx.Client,
):
    first = stored(client, text("Bees live in hives."))
    job = ingested(client, text("Bees live in hives.", "again.txt"))["job_id"]
    client.delete(f"/v1/documents/{first}")

    reply = client.post(f"/v1/ingest/{job}/retry")

    assert (reply.status_code, reply.json()["documents_retried"]) == (200, 0)
    assert "send it again" in client.get(f"/v1/ingest/{job}").text
    assert ingested(client, text("Bees live in hives.", "again.txt"))["status"] == "completed"


@pytest.mark.parametrize("name", ["chunk_size", "chunking_strategy"])
def test_a_setting_of_100_000_letters_is_refused(client: httpx.Client, name: str):
    reply = post(client, text("Bees live in hives."), settings={name: "x" * 100_000})

    assert_problem(reply, 400, "VALIDATION_ERROR", field="settings")


@pytest.mark.parametrize("query", ["collection=%00", "collection=", "collection_id="])
def test_a_list_of_a_collection_that_cannot_be_named_so_is_refused(client: httpx.Client, query: str):
    for path in ("/v1/ingest", "/v1/documents"):
        assert_problem(client.get(f"{path}?{query}"), 400, "VALIDATION_ERROR", field="collection")


def test_what_was_said_about_a_document_holds_for_its_next_version(client: httpx.Client):
    id_ = stored(client, text("Bees live in hives.", title="Bees", topic="nature"))
    url = f"/v1/documents/{id_}"

    second = client.put(url, json={"source": {"type": "text", "content": "Wasps live in nests."}}).json()
    assert ended(client, second["job_id"])["status"] == "completed"
    document = client.get(url).json()
    assert (document["title"], document["metadata"]["topic"]) == ("Bees", "nature")

    third = client.put(url, json=text("Ants live in hills.", topic="ants")).json()
    assert ended(client, third["job_id"])["status"] == "completed"
    assert client.get(url).json()["metadata"] == {"topic": "ants"}


def test_pages_that_a_failure_left_unread_are_not_waited_for(client: httpx.Client, server: Stack):
    job = ingested(client, text("Owls hunt at night."), text("Larks sing at dawn."))
    server.sql(
        "UPDATE documents_ingestitem SET status = 'failed', pages_total = 9, pages_done = 3 WHERE id = %s",
        job["documents"][0]["id"],
    )
    progress = client.get(f"/v1/ingest/{job['job_id']}").json()["progress"]
    assert progress["pages_extracted"] == progress["pages_total"] == 4
