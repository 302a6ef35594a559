"""Looking at a document over HTTP: pictures, highlights, text with its lines, the file, conversations."""

import io
import json
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.support.api import UNKNOWN_ID, assert_problem
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.viewing import printed
from tests.viewing.conftest import Ingest
from tests.viewing.printed import PrintedPage


@pytest.fixture
def towers(ingest: Ingest) -> str:
    return ingest("towers.pdf", make_pdf("The tower has 253 steps.", "It was built of granite in 1893."))


def test_a_page_is_drawn_and_drawn_once(client: httpx.Client, towers: str):
    reply = client.get(f"/v1/documents/{towers}/pages/2/image", params={"width": 800})

    assert (reply.status_code, reply.headers["Content-Type"]) == (200, "image/png")
    picture = Image.open(io.BytesIO(reply.content))
    assert picture.width == 800
    assert picture.convert("L").getextrema()[0] < 64, "the letters are there"
    assert reply.headers["Cache-Control"] == "private, no-cache"
    again = client.get(
        f"/v1/documents/{towers}/pages/2/image",
        params={"width": 800},
        headers={"If-None-Match": reply.headers["ETag"]},
    )
    assert (again.status_code, again.content) == (304, b"")


def test_a_picture_of_a_named_version_may_be_kept_for_ever(client: httpx.Client, towers: str):
    checksum = client.get(f"/v1/documents/{towers}").json()["content_hash"]
    path = f"/v1/documents/{towers}/pages/1/image"

    reply = client.get(path, params={"checksum": checksum})

    assert reply.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    other = client.get(path, params={"checksum": "0" * 64})
    assert_problem(other, 409, "REPLACED")


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("pages/3/image", 404, "NOT_FOUND"),
        ("pages/0/image", 404, "NOT_FOUND"),
        ("pages/x/image", 404, "NOT_FOUND"),
        ("pages/9", 404, "NOT_FOUND"),
        ("pages/1/image?width=801", 400, "VALIDATION_ERROR"),
        ("highlights?start=5", 400, "VALIDATION_ERROR"),
        ("highlights?start=9&end=5", 400, "VALIDATION_ERROR"),
        ("highlights?start=0&end=30000", 400, "VALIDATION_ERROR"),
        ("highlights?start=5000&end=5001", 400, "VALIDATION_ERROR"),
        ("highlights?start=a&end=5", 400, "VALIDATION_ERROR"),
    ],
)
def test_what_is_not_there_is_told(client: httpx.Client, towers: str, path: str, status: int, code: str):
    assert_problem(client.get(f"/v1/documents/{towers}/{path}"), status, code)


@pytest.mark.parametrize("path", ["pages/1/image", "pages/1", "highlights", "file"])
def test_an_unknown_document_is_a_404_and_a_malformed_id_a_400(client: httpx.Client, path: str):
    assert_problem(client.get(f"/v1/documents/{UNKNOWN_ID}/{path}"), 404, "NOT_FOUND")
    assert_problem(client.get(f"/v1/documents/none/{path}"), 400, "VALIDATION_ERROR")


def test_the_quote_of_an_answer_is_marked_on_its_page(client: httpx.Client, ingest: Ingest):
    page = PrintedPage()
    printed.plain(page)
    ingest("plain.pdf", page.pdf())
    answer = client.post(
        "/v1/query", json={"query": "How many steps did the lighthouse keeper count?"}
    ).json()
    (citation, *_) = answer["citations"]

    found = client.get(
        f"/v1/documents/{citation['document_id']}/highlights",
        params={
            "start": citation["start_char"],
            "end": citation["end_char"],
            "checksum": citation["checksum"],
        },
    ).json()

    assert found["quoted_text"] == citation["quoted_text"]
    assert (found["replaced"], found["text"]) == (False, None)
    assert found["document"]["has_pages"]
    (marked,) = found["pages"]
    assert (marked["number"], marked["method"]) == (1, "exact")
    (phrase,) = (phrase for phrase in page.phrases if phrase.words == citation["quoted_text"])
    assert marked["rects"][0] == pytest.approx(phrase.boxes[0], abs=0.01)


def test_a_quote_over_the_end_of_a_page_is_marked_on_both(client: httpx.Client, towers: str):
    text = client.get(f"/v1/documents/{towers}").json()["content"]
    start, end = text.index("253"), text.index("granite")

    pages = client.get(f"/v1/documents/{towers}/highlights", params={"start": start, "end": end}).json()[
        "pages"
    ]

    assert [(page["number"], len(page["rects"])) for page in pages] == [(1, 1), (2, 1)]


def test_a_replaced_document_says_that_the_quote_is_of_an_earlier_version(client: httpx.Client, towers: str):
    checksum = client.get(f"/v1/documents/{towers}").json()["content_hash"]
    newer = make_pdf("The tower has 254 steps.")
    job = client.put(f"/v1/documents/{towers}", files={"file": ("towers.pdf", newer)}).json()["job_id"]
    client.get(f"/v1/ingest/{job}", params={"wait": 60})

    found = client.get(
        f"/v1/documents/{towers}/highlights", params={"start": 0, "end": 9, "checksum": checksum}
    ).json()

    assert (found["replaced"], found["pages"]) == (True, [])


def test_the_lines_of_a_page_say_what_stands_where(client: httpx.Client, towers: str):
    page = client.get(f"/v1/documents/{towers}/pages/2").json()
    text = client.get(f"/v1/documents/{towers}").json()["content"]

    assert (page["number"], page["method"]) == (2, "exact")
    assert text[page["start_char"] :] == page["text"]
    (line,) = page["lines"]
    assert text[line["start_char"] : line["end_char"]] == line["text"] == "It was built of granite in 1893."
    left, top, right, bottom = line["box"]
    assert 0 < left < right < 1
    assert 0 < top < bottom < 1


def test_a_text_shows_its_quote_and_what_stands_around_it(client: httpx.Client, ingest: Ingest):
    id_ = ingest("notes.md", b"# Notes\n\nThe lamp is green. It hangs in the hall.\n")
    text = client.get(f"/v1/documents/{id_}").json()["content"]
    start = text.index("It hangs")

    found = client.get(f"/v1/documents/{id_}/highlights", params={"start": start, "end": start + 8}).json()

    assert found["text"] == {"before": text[:start], "quote": "It hangs", "after": text[start + 8 :]}
    assert (found["document"]["has_pages"], found["pages"]) == (False, [])
    assert_problem(client.get(f"/v1/documents/{id_}/pages/1/image"), 422, "NOT_A_PDF")
    assert client.get(f"/v1/documents/{id_}/pages/1").json()["lines"] == []


@pytest.mark.parametrize("name", ["page.html", "ünïcode “x”.html"])
def test_the_original_file_is_only_ever_saved(client: httpx.Client, ingest: Ingest, name: str):
    page = b"<!doctype html><title>T</title><p>The lamp in the hall is green.</p><script>alert(1)</script>"
    id_ = ingest(name, page)

    reply = client.get(f"/v1/documents/{id_}/file")

    assert reply.content == page
    assert reply.headers["Content-Type"] == "application/octet-stream"
    assert reply.headers["Content-Disposition"].startswith("attachment; filename=")
    assert reply.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


def test_pictures_go_with_their_document_and_are_counted(server: Stack, towers: str):
    client = server.client
    for number in (1, 2):
        assert client.get(f"/v1/documents/{towers}/pages/{number}/image").status_code == 200
        assert client.get(f"/v1/documents/{towers}/pages/{number}").status_code == 200
    kept = list((server.folder / "files" / "views").rglob("*-1200"))
    assert len(kept) == 2

    receipt = client.delete(f"/v1/documents/{towers}").json()

    assert receipt["views_removed"] == 4
    assert not any(path.exists() for path in kept)


def test_the_passages_come_before_the_first_token_if_they_are_wanted(client: httpx.Client, towers: str):
    asked = {
        "query": "How many steps has the tower?",
        "settings": {"streaming": True, "passages_first": True},
    }

    events = _events(client.post("/v1/query", json=asked))

    assert events[0][0] == "passages"
    (passage, *_) = events[0][1]["passages"]
    assert (passage["document_name"], passage["page_number"]) == ("towers.pdf", 1)
    assert passage["end_char"] - passage["start_char"] >= len("The tower has 253 steps.")
    without = _events(client.post("/v1/query", json={**asked, "settings": {"streaming": True}}))
    assert without[0][0] == "token"


def test_conversations_are_listed_found_and_read_again(client: httpx.Client, towers: str):
    first = client.post("/v1/query", json={"query": "How many steps has the tower?"}).json()
    follow_up = {"query": "What was it built of?", "conversation_id": first["conversation_id"]}
    second = client.post("/v1/query", json=follow_up).json()
    client.post("/v1/feedback", json={"query_id": second["query_id"], "rating": "thumbs_up"})
    other = client.post("/v1/query", json={"query": "Who lit the lamp?"}).json()

    listed = client.get("/v1/conversations", params={"limit": 2}).json()["conversations"]

    assert [(one["id"], one["title"], one["turns"]) for one in listed] == [
        (other["conversation_id"], "Who lit the lamp?", 1),
        (first["conversation_id"], "How many steps has the tower?", 2),
    ]
    found = client.get("/v1/conversations", params={"q": "BUILT of"}).json()["conversations"]
    assert [one["id"] for one in found] == [first["conversation_id"]]
    turns = client.get(f"/v1/conversations/{first['conversation_id']}").json()["turns"]
    assert [turn["query"] for turn in turns] == ["How many steps has the tower?", "What was it built of?"]
    assert [turn["answer"] for turn in turns] == [first["answer"], second["answer"]]
    assert [turn["feedback"] for turn in turns] == [None, "thumbs_up"]
    assert [source["citation_index"] for source in turns[0]["sources"]] == [1]
    for nobodys in ("nobody", "%00"):
        assert_problem(client.get(f"/v1/conversations/{nobodys}"), 404, "NOT_FOUND")


def test_a_conversation_is_read_by_any_id_that_was_given_to_it(client: httpx.Client, towers: str):
    asked = {"query": "How many steps has the tower?", "conversation_id": "ann/monday"}
    client.post("/v1/query", json=asked)
    for path in ("ann/monday", "ann%2Fmonday"):
        read = client.get(f"/v1/conversations/{path}").json()
        assert (read["id"], len(read["turns"])) == ("ann/monday", 1)


def test_conversations_come_in_pages(client: httpx.Client, towers: str):
    asked = [
        client.post("/v1/query", json={"query": f"Question {n}?"}).json()["conversation_id"] for n in range(3)
    ]

    first = client.get("/v1/conversations", params={"limit": 2}).json()
    rest = client.get("/v1/conversations", params={"limit": 2, "cursor": first["next_cursor"]}).json()

    assert [one["id"] for one in first["conversations"] + rest["conversations"]] == asked[::-1]
    assert rest["next_cursor"] is None
    assert_problem(client.get("/v1/conversations", params={"cursor": "x"}), 400, "VALIDATION_ERROR")


def _events(reply: httpx.Response) -> list[tuple[str, Any]]:
    parts = (part.split("\n") for part in reply.text.split("\n\n") if part and not part.startswith(":"))
    return [
        (lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))) for lines in parts
    ]
