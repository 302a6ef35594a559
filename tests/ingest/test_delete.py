"""Deleting a document in any state: at once, with a receipt, and for good."""

import pytest

from tests.ingest.conftest import Engine, Refused, document
from tests.provider import Provider
from tests.support.api import search
from tests.support.invariants import assert_documents_whole, assert_jobs_settled, assert_words_counted
from tests.support.processes import runs
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf
from tests.support.waiting import wait_until


def nothing_left(stack: Stack) -> None:
    for table in (
        "documents_document", "documents_page", "documents_chunk",
        "embeddings_embedding", "embeddings_lexicalentry", "embeddings_embeddingrequest",
    ):  # fmt: skip
        assert stack.count(table) == 0, table
    wait_until(lambda: stack.stored_files() == [], 10, "the files to go")
    assert_words_counted(stack)
    assert_jobs_settled(stack)


def test_a_stored_document_goes_with_a_receipt(engine: Engine, provider_server: Stack):
    kept, gone = engine.ingest(document(facts_pdf(5)), document(facts_pdf(40, first=300), "more.pdf"))
    chunks = provider_server.count("documents_chunk", f"document_id = '{gone}'")
    receipt = engine.call("delete", document=gone)
    assert receipt == {
        "documents": 1, "stored": 1, "pages": 2, "chunks": chunks, "vectors": chunks, "views": 0,
        "document_ids": [gone],
    }  # fmt: skip
    assert {hit["documentId"] for hit in search(provider_server.client, fact(303)).json()} == {kept}
    with pytest.raises(Refused, match="NOT_FOUND"):
        engine.call("delete", document=gone)
    assert_documents_whole(provider_server)


def test_a_document_that_waits_goes_and_is_not_read(engine: Engine, provider_server: Stack):
    with provider_server.paused_worker():
        job = engine.create(document(facts_pdf(5)), document(facts_pdf(5, first=50), "more.pdf"))
        first, second = (item["id"] for item in engine.look(job)["items"])
        receipt = engine.call("delete", document=first)
    assert (receipt["documents"], receipt["stored"], receipt["chunks"]) == (1, 0, 0)
    report = engine.ended(job)
    assert [item["status"] for item in report["items"]] == ["failed", "completed"]
    assert (report["items"][0]["error_code"], report["items"][0]["deleted"]) == ("DELETED", True)
    assert engine.call("retry_job", job=job) == 0
    engine.call("delete", document=second)
    nothing_left(provider_server)


def test_a_document_deleted_while_it_is_embedded_does_not_come_back(
    engine: Engine, provider_server: Stack, provider: Provider
):
    provider.hold(on="embeddings")
    job = engine.create(document(facts_pdf(60)))
    provider.wait_held()
    item = engine.look(job)["items"][0]
    assert engine.call("delete", document=item["id"])["vectors"] == 0
    provider.release()
    assert engine.ended(job)["items"][0]["error_code"] == "DELETED"
    wait_until(lambda: provider.running("embeddings") == 0)
    nothing_left(provider_server)


def test_a_document_deleted_while_it_is_read_does_not_come_back(engine: Engine, provider_server: Stack):
    """The worker is stopped in the middle of it, and goes on after the deletion."""
    job = engine.create(document(facts_pdf(3000), "long.pdf"))
    item = engine.look(job)["items"][0]
    wait_until(lambda: engine.look(job)["items"][0]["stage"] in ("extracting", "chunking"))
    children = provider_server.worker_children()
    for child in children:
        child.suspend()
    try:
        stored = engine.look(job)["items"][0]["stage"] == "embedding"
        engine.call("delete", document=item["id"])
    finally:
        for child in children:
            child.resume()
    assert not stored
    assert engine.ended(job)["items"][0]["error_code"] == "DELETED"
    assert runs(provider_server.worker)
    assert engine.ingest(document(facts_pdf(3), "after.pdf"))
    assert provider_server.count("documents_document") == 1


def test_a_failed_document_goes_with_its_file(engine: Engine, provider_server: Stack):
    (item,) = engine.ended(engine.create(document(b"%PDF-1.4 broken", "broken.pdf")))["items"]
    assert len(provider_server.stored_files()) == 1
    assert engine.call("delete", document=item["id"])["documents"] == 1
    nothing_left(provider_server)


def test_a_collection_goes_with_everything_in_it(engine: Engine, provider_server: Stack, provider: Provider):
    law = engine.call("make_collection", name="law")
    engine.ended(engine.create(document(facts_pdf(20)), document(b"%PDF-1 no", "bad.pdf"), collection="law"))
    provider.hold(on="embeddings")
    engine.create(document(facts_pdf(20, first=500), "late.pdf"), collection="law")
    provider.wait_held()
    receipt = engine.call("delete_collection", collection=law)
    assert (receipt["documents"], receipt["pages"]) == (3, 2)
    assert receipt["vectors"] == receipt["chunks"] / 2 > 0
    provider.release()
    assert provider_server.count("documents_ingestjob") == 0
    nothing_left(provider_server)
    default = provider_server.sql("SELECT id FROM documents_collection")[0]["id"]
    with pytest.raises(Refused, match="FORBIDDEN"):
        engine.call("delete_collection", collection=str(default))
