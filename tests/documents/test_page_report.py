"""The page report: which reader read a page, how much it found, and what is doubtful."""

from uuid import uuid4

import httpx

from tests.support.api import assert_problem, ingest
from tests.support.pdf import make_pdf


def test_each_page_says_how_it_was_read(client: httpx.Client):
    document_id = ingest(client, make_pdf("Some words.", "", "More."), "three.pdf")["documentId"]
    pages = client.get(f"/api/v1/documents/{document_id}/pages").json()
    assert [(page["number"], page["characters"], page["readBy"]) for page in pages] == [
        (1, 11, "pdfium"),
        (2, 0, "none"),
        (3, 5, "pdfium"),
    ]
    assert pages[1]["warnings"] == [{"code": "no_text", "message": "The page holds no text."}]


def test_an_unknown_document_has_no_pages(client: httpx.Client):
    assert_problem(client.get(f"/api/v1/documents/{uuid4()}/pages"), 404, "NOT_FOUND")
    assert_problem(client.get("/api/v1/documents/nonsense/pages"), 400)
