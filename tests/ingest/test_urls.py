"""Documents that a job names by their address, from the queue to their vectors."""

from collections.abc import Iterator
from contextlib import closing
from threading import Event
from typing import Any

import pytest

from tests.conftest import MakeStack, provider_env
from tests.documents.test_fetching import Site, page
from tests.ingest.conftest import Engine
from tests.provider import Provider
from tests.support.invariants import assert_documents_whole, assert_embedded_once, assert_jobs_settled
from tests.support.texts import fact


@pytest.fixture
def site() -> Iterator[Site]:
    with closing(Site()) as running:
        yield running


def url(address: str) -> dict[str, Any]:
    return {"source_type": "url", "filename": "", "url": address}


def test_off_means_that_nothing_is_fetched(engine: Engine, site: Site):
    (item,) = engine.ended(engine.create(url(f"{site.url}/facts.md")))["items"]
    assert (item["status"], item["error_code"]) == ("failed", "FORBIDDEN")
    assert "KNOWLEX_URL_INGEST" in item["error"]
    assert site.hosts == []


def test_each_address_ends_in_a_document_or_with_its_reason(
    make_stack: MakeStack, provider: Provider, site: Site
):
    """One that hangs is given up after its 10 s, and holds nobody up meanwhile."""
    over = Event()
    site.pages = {
        "/facts.md": page(f"# Facts\n\n{fact(1)}".encode(), Content_Type="text/markdown"),
        "/gone.md": page(b"no", status=404),
        "/moved.md": page(status=302, Location="http://127.0.0.2/elsewhere.md"),
        "/hangs.md": lambda _: over.wait(60) and None,
    }
    allowed = {"KNOWLEX_URL_INGEST": "on", "KNOWLEX_URL_ALLOWED_HOSTS": f"127.0.0.1:{site.port}"}
    stack = make_stack(**provider_env(provider), **allowed)
    with closing(Engine(stack)) as engine:
        job = engine.create(*(url(site.url + path) for path in ("/hangs.md", *list(site.pages)[:3])))
        hung, stored, gone, moved = engine.ended(job)["items"]
        over.set()
        assert (stored["status"], stored["filename"], stored["error"]) == ("completed", "facts.md", "")
        assert [item["status"] for item in (hung, gone, moved)] == ["failed"] * 3
        assert "404" in gone["error"]
        assert all(item["error"] for item in (hung, moved))
        assert stored["started_at"] < hung["ended_at"]

        again = engine.ended(engine.create(url(f"{site.url}/facts.md")))["items"][0]
        assert (again["error_code"], again["duplicate_of"]) == ("DUPLICATE", stored["id"])
        assert len(stack.stored_files()) == 1
        site.pages["/gone.md"] = page(f"# Found\n\n{fact(2)}".encode())
        assert engine.call("retry_document", document=gone["id"]) == 1
        assert engine.ended(job)["items"][2]["status"] == "completed"
    assert_documents_whole(stack)
    assert_embedded_once(stack)
    assert_jobs_settled(stack)
