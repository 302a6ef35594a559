"""/v1/documents over HTTP: lists, one document, its chunks and pages, replacing and deleting it."""

from typing import Any

import httpx
import pytest

from tests.platform.talk import accepted, collection, ended, file, ingested, stored, text
from tests.support.api import UNKNOWN_ID, assert_now, assert_problem, search, upload
from tests.support.stack import Stack

GERMAN = "Die Lampe im Flur ist grün, und die Tür des Schuppens ist rot. Niemand weiß, warum das so ist."
LAMPS = "# Lamps\n\nThe lamp in the hall is green.\n\n## Doors\n\nThe door of the shed is red."


def ids(client: httpx.Client, **parameters: Any) -> list[str]:
    """All pages' ids, one after the other."""
    found: list[str] = []
    while True:
        body = client.get("/v1/documents", params=parameters).json()
        found += [document["id"] for document in body["documents"]]
        if body["next_cursor"] is None:
            return found
        parameters["cursor"] = body["next_cursor"]


def test_a_document_says_its_language_and_a_new_version_brings_its_own(client: httpx.Client):
    job = ingested(client, text(GERMAN, "lampen.md"), text("42", "number.md"))
    german, number = (document["id"] for document in job["documents"])
    assert client.get(f"/v1/documents/{german}").json()["language"] == "de"
    assert client.get(f"/v1/documents/{number}").json()["language"] is None
    replaced = client.put(f"/v1/documents/{number}", json=text(GERMAN + " Ja.", "number.md"))
    ended(client, replaced.json()["job_id"])
    assert client.get(f"/v1/documents/{number}").json()["language"] == "de"


def test_a_document_is_described_in_full(client: httpx.Client):
    permissions = {"visibility": "restricted", "allowed_users": ["ann"]}
    manuals = collection(client, default_permissions=permissions)
    job = ingested(client, text(LAMPS, "lamps.md", title="On lamps", tags=["a", "b"]), to=manuals)
    (one,) = job["documents"]

    found = client.get(f"/v1/documents/{one['id']}").json()

    assert (found["id"], found["collection_id"], found["job_id"]) == (one["id"], manuals, job["job_id"])
    assert found["source"] == {"type": "api", "url": None, "connector_id": None}
    assert (found["type"], found["title"], found["filename"]) == ("markdown", "On lamps", "lamps.md")
    assert (found["metadata"]["tags"], found["warnings"]) == (["a", "b"], [])
    assert found["permissions"] == {**permissions, "allowed_groups": []}
    assert found["size_bytes"] == len(LAMPS)
    assert len(found["content_hash"]) == 64
    assert "The lamp in the hall is green." in found["content"]
    processing = found["processing"]
    assert (processing["status"], processing["chunk_count"]) == ("completed", one["chunk_count"])
    assert (processing["error_code"], processing["error_message"]) == (None, None)
    assert_now(processing["processed_at"])
    assert_now(found["created_at"])
    assert_now(found["updated_at"])


def test_what_waits_and_what_failed_is_listed_with_its_reason(server: Stack):
    client = server.client
    (bad,) = ingested(client, file(b"\x00\x01 rubbish", "x.bin"))["documents"]
    with server.paused_worker():
        job = accepted(client, text("Words."))
        (waiting,) = job["documents"]
        found = {one["id"]: one["processing"] for one in client.get("/v1/documents").json()["documents"]}
    ended(client, job["job_id"])

    assert (found[waiting["id"]]["status"], found[waiting["id"]]["stage"]) == ("pending", "queued")
    assert (found[bad["id"]]["status"], found[bad["id"]]["error_code"]) == ("failed", "UNPROCESSABLE")
    assert found[bad["id"]]["error_message"]
    assert client.get(f"/v1/documents/{bad['id']}/chunks").json() == {"chunks": [], "next_cursor": None}
    assert ids(client, status="failed") == [bad["id"]]


def test_lists_filter_and_sort(client: httpx.Client, sample_pdf):
    manuals = collection(client)
    job = ingested(
        client,
        file(sample_pdf("Owls see at night."), "owls.pdf", title="B owls"),
        text("Foxes live in the wood. They sleep by day.", "foxes.txt", title="A foxes"),
        to=manuals,
    )
    owls, foxes = (one["id"] for one in job["documents"])
    bees = stored(client, text("Bees.", "bees.txt", title="C 100% bees"))

    assert ids(client) == [bees, foxes, owls]
    assert ids(client, collection="Manuals") == ids(client, collection_id=manuals) == [foxes, owls]
    assert ids(client, collection="default") == [bees]
    assert ids(client, type="pdf") == ids(client, q="OWLS.p") == [owls]
    assert ids(client, job_id=job["job_id"], type="text") == [foxes]
    assert ids(client, q="0%") == [bees]
    assert ids(client, status="pending") == []
    assert ids(client, sort="title") == ids(client, sort="title", limit=1) == [foxes, owls, bees]
    assert ids(client, sort="size", order="desc", limit=1) == [owls, foxes, bees]
    assert ids(client, sort="-updated_at", limit=2)[0] == bees


def test_a_cursor_holds_while_documents_come_and_go(client: httpx.Client):
    first = [stored(client, text(f"Words {n}.")) for n in range(4)]
    page = client.get("/v1/documents", params={"limit": 2}).json()
    late = stored(client, text("Words late."))
    client.delete(f"/v1/documents/{first[2]}")

    rest = client.get("/v1/documents", params={"cursor": page["next_cursor"]}).json()["documents"]

    assert [one["id"] for one in page["documents"]] == [first[3], first[2]]
    assert [one["id"] for one in rest] == [first[1], first[0]]
    assert ids(client) == [late, first[3], first[1], first[0]]


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"limit": "0"}, "limit"),
        ({"sort": "colour"}, "sort"),
        ({"cursor": "x.y"}, "cursor"),
        ({"status": "done"}, "status"),
        ({"type": "exe"}, "type"),
        ({"job_id": "7"}, "job_id"),
        ({"collection": ""}, "collection"),
    ],
)
def test_bad_parameters_are_told(client: httpx.Client, parameters: dict[str, str], field: str):
    assert_problem(client.get("/v1/documents", params=parameters), 400, "VALIDATION_ERROR", field=field)


def test_unknown_and_malformed_ids(client: httpx.Client):
    for path in ("", "/chunks", "/pages"):
        assert_problem(client.get(f"/v1/documents/{UNKNOWN_ID}{path}"), 404, "NOT_FOUND")
        assert_problem(client.get(f"/v1/documents/7{path}"), 400, "VALIDATION_ERROR", field="document_id")
    assert_problem(client.delete(f"/v1/documents/{UNKNOWN_ID}"), 404, "NOT_FOUND")
    assert_problem(client.post(f"/v1/documents/{UNKNOWN_ID}/retry"), 404, "NOT_FOUND")
    assert_problem(client.put(f"/v1/documents/{UNKNOWN_ID}", json=text("a")), 404, "NOT_FOUND")
    assert_problem(client.get("/v1/documents?collection=nobody"), 404, "NOT_FOUND")
    assert_problem(client.post("/v1/documents", json={}), 405, "METHOD_NOT_ALLOWED")


def test_chunks_come_in_order_with_their_places(client: httpx.Client):
    one = stored(client, text(LAMPS, "lamps.md", tags=["hall"], headers=5), settings={"chunk_size": 20})

    first = client.get(f"/v1/documents/{one}/chunks", params={"limit": 1}).json()
    rest = client.get(f"/v1/documents/{one}/chunks", params={"cursor": first["next_cursor"]}).json()
    chunks = first["chunks"] + rest["chunks"]
    content = client.get(f"/v1/documents/{one}").json()["content"]

    assert [chunk["chunk_index"] for chunk in chunks] == list(range(len(chunks)))
    assert rest["next_cursor"] is None
    for chunk in chunks:
        start, end = chunk["position"]["start_char"], chunk["position"]["end_char"]
        assert content[start:end] == chunk["content"]
        assert chunk["document_id"] == one
        assert chunk["token_count"] > 0
        assert chunk["embedding_model"] == "all-MiniLM-L6-v2"
    last = chunks[-1]["metadata"]
    assert (last["section_title"], last["chunk_type"]) == ("Doors", "paragraph")
    assert last["headers"] == ["Lamps", "Doors"]
    assert last["tags"] == ["hall"]  # the document's


def test_pages_say_how_they_were_read(client: httpx.Client, sample_pdf):
    one = stored(client, file(sample_pdf("Owls see at night.", "Bats too."), "owls.pdf"))

    pages = client.get(f"/v1/documents/{one}/pages").json()["pages"]

    assert [page["page_number"] for page in pages] == [1, 2]
    assert pages[0]["characters"] == len("Owls see at night.")
    assert pages[0]["read_by"] in ("pdfium", "pypdf")


def test_what_could_not_be_read_has_neither_chunks_nor_pages(client: httpx.Client):
    (bad,) = ingested(client, file(b"\x00\x01\x02" * 99, "bad.bin"))["documents"]

    for parts in ("chunks", "pages"):
        reply = client.get(f"/v1/documents/{bad['id']}/{parts}")
        assert (reply.status_code, reply.json()[parts]) == (200, [])


def test_new_bytes_take_the_old_ones_place(client: httpx.Client, sample_pdf):
    one = stored(client, text("The lamp in the hall is green.", "lamp.txt"))

    forms: list[dict[str, Any]] = [
        {"json": text("The lamp in the hall is blue.", "lamp.txt", title="Blue")},
        {"files": {"file": ("lamp.pdf", sample_pdf("The lamp in the hall is red."))}},
        {"content": b"# Lamp\n\nThe lamp is white.", "headers": {"Content-Type": "text/markdown"}},
    ]
    for form, kind, words in zip(forms, ("text", "pdf", "markdown"), ("blue", "red", "white"), strict=True):
        reply = client.put(f"/v1/documents/{one}", **form)
        body = reply.json()
        assert (reply.status_code, body["status"], body["document_id"]) == (202, "accepted", one), body
        (item,) = ended(client, body["job_id"])["documents"]
        assert (item["id"], item["status"]) == (one, "completed"), item
        found = client.get(f"/v1/documents/{one}").json()
        assert (found["type"], found["replacing"]) == (kind, False)
        assert words in found["content"]
        again = client.put(f"/v1/documents/{one}", **form)
        assert (again.status_code, again.json()) == (200, {"document_id": one, "status": "unchanged"})
        assert words in search(client, f"The lamp is {words}.", k=1).json()[0]["content"]
    assert ids(client) == [one]


def test_the_old_version_answers_until_the_new_one_can(server: Stack):
    client = server.client
    one = stored(client, text("The lamp in the hall is green."))
    with server.paused_worker():
        job = client.put(f"/v1/documents/{one}", json=text("The lamp in the hall is blue.")).json()["job_id"]
        found = client.get(f"/v1/documents/{one}").json()

    assert (found["replacing"], found["processing"]["status"]) == (True, "completed")
    assert "green" in found["content"]
    assert ended(client, job)["status"] == "completed"
    assert "blue" in client.get(f"/v1/documents/{one}").json()["content"]


def test_a_replacement_that_fails_leaves_the_old_version(client: httpx.Client):
    one = stored(client, text("The lamp in the hall is green."))

    job = client.put(f"/v1/documents/{one}", json=file(b"\x00\x01 rubbish", "x.bin")).json()["job_id"]

    assert ended(client, job)["status"] == "failed"
    found = client.get(f"/v1/documents/{one}").json()
    assert ("green" in found["content"], found["replacing"]) == (True, False)


@pytest.mark.parametrize(
    ("form", "status", "field"),
    [
        ({"json": {}}, 400, "source"),
        ({"json": {"source": {"type": "text"}}}, 400, "source.content"),
        ({"json": {**text("a"), "settings": {"chunk_size": 1}}}, 400, "settings.chunk_size"),
        ({"content": b"a", "headers": {"Content-Type": "image/png"}}, 415, ""),
        ({"content": b"", "headers": {"Content-Type": "text/plain"}}, 400, ""),
        ({"content": b"a"}, 415, ""),
        ({"files": {"other": ("a.txt", b"a")}}, 400, "file"),
        ({"files": [("file", ("a", b"a")), ("file", ("b", b"b"))]}, 400, "file"),
    ],
)
def test_a_bad_replacement_is_told(client: httpx.Client, form: dict[str, Any], status: int, field: str):
    reply = upload(client, b"# A\n\nWords.", "a.md")
    path = f"/v1/documents/{reply.json()['documentId']}"

    assert_problem(client.put(path, **form), status, field=field)


def test_deleting_counts_what_went_and_leaves_nothing(server: Stack):
    client = server.client
    one = stored(client, text(LAMPS, "lamps.md"))
    chunks = client.get(f"/v1/documents/{one}").json()["processing"]["chunk_count"]

    receipt = client.delete(f"/v1/documents/{one}").json()

    assert receipt == {
        "deleted": True,
        "chunks_removed": chunks,
        "pages_removed": 1,
        "vectors_removed": chunks,
        "views_removed": 0,
    }
    assert_problem(client.get(f"/v1/documents/{one}"), 404)
    assert search(client, "The lamp in the hall is green.").json() == []
    assert server.stored_files() == []


def test_deleting_a_collection_takes_all_that_is_in_it(server: Stack):
    client = server.client
    manuals = collection(client)
    stored(client, text(LAMPS, "lamps.md"), to=manuals)
    ingested(client, text(LAMPS, "again.md"), to=manuals)  # a duplicate: never stored, so not counted

    receipt = client.delete(f"/v1/collections/{manuals}").json()

    assert (receipt["deleted"], receipt["documents_removed"]) == (True, 1)
    assert receipt["chunks_removed"] == receipt["vectors_removed"] > 0
    assert_problem(client.get(f"/v1/collections/{manuals}"), 404)
    assert_problem(client.delete(f"/v1/collections/{manuals}"), 404)
    (default,) = client.get("/v1/collections").json()["collections"]
    assert_problem(client.delete(f"/v1/collections/{default['id']}"), 403, "FORBIDDEN")
