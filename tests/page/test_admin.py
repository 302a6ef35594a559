"""The admin in a real browser: no list is cut off on a common screen."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.page.conftest import OpenPage
from tests.support.api import embed, ingest, query
from tests.support.pdf import make_pdf
from tests.support.stack import Stack

LISTS = [
    "documents/document", "documents/collection", "documents/chunk", "documents/ingestjob",
    "embeddings/embeddingmodel", "embeddings/embeddingrun", "rag/query", "rag/feedback", "auth/user",
]  # fmt: skip
LONG = "A-report-with-a-very-long-name-without-a-space-" + "x" * 90
NAME, PASSWORD = "list-reader", "a long password"
CUT_OFF = """() => [document.documentElement, ...document.querySelectorAll('.results')]
    .filter((box) => box.scrollWidth > box.clientWidth).map((box) => `${box.className} ${box.scrollWidth}`)"""


@pytest.fixture
def operated(server: Stack) -> Iterator[Stack]:
    """A Knowlex with long names and questions, and an account for its admin."""
    ingest(server.client, make_pdf("The tower has 253 steps."), f"{LONG}.pdf")
    embed(server.client)
    server.client.post("/v1/collections", json={"name": LONG, "description": "Long words. " * 20})
    files = {"file": (f"{LONG}.md", b"# Lamp\n\nThe lamp is green.\n", "text/markdown")}
    job = server.client.post("/v1/ingest", data={"collection_id": "default"}, files=files).json()
    server.client.get(f"/v1/ingest/{job['job_id']}?wait=20")
    query_id = query(server.client, f"How many steps has {LONG}?").headers["X-Query-ID"]
    comment = {"query_id": query_id, "rating": "thumbs_down", "comment": LONG * 3}
    server.client.post("/v1/feedback", json=comment).raise_for_status()
    create = ("createsuperuser", "--noinput", "--username", NAME, "--email", "a@example.org")
    server.manage(*create, env={"DJANGO_SUPERUSER_PASSWORD": PASSWORD})
    yield server
    server.sql("DELETE FROM auth_user WHERE username = %s RETURNING id", NAME)


def log_in(page: Page) -> None:
    page.fill("#id_username", NAME)
    page.fill("#id_password", PASSWORD)
    page.click("input[type=submit]")


def test_no_list_is_cut_off_at_1280_pixels(operated: Stack, open_page: OpenPage):
    page = open_page(operated, "/admin/")
    log_in(page)

    cut: dict[str, list[str]] = {}
    for name in LISTS:
        page.goto(f"/admin/{name}/")
        cut[name] = page.evaluate(CUT_OFF)

    assert cut == {name: [] for name in LISTS}
