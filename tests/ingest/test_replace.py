"""A new version of a document: the old one answers until the new one is embedded, then one step."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from tests.ingest.conftest import Engine, Refused, document
from tests.provider import Provider
from tests.support.api import UNKNOWN_ID, embed, generate, ingest, search
from tests.support.invariants import (
    assert_documents_whole,
    assert_embedded_once,
    assert_jobs_settled,
    assert_own_vectors,
    assert_words_counted,
)
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf
from tests.support.waiting import wait_until

OLD, NEW, NEWER = (facts_pdf(20, first=first) for first in (0, 300, 600))


def settled(stack: Stack) -> None:
    assert stack.count("documents_document", "replaces_id IS NOT NULL") == 0
    assert_documents_whole(stack)
    assert_embedded_once(stack)
    assert_own_vectors(stack)
    assert_words_counted(stack)
    assert_jobs_settled(stack)


def best(stack: Stack, text: str) -> str:
    hits = search(stack.client, text, k=1).json()
    return str(hits[0]["content"]) if hits else ""


def versions(stack: Stack) -> list[str]:
    """Which of OLD (a), NEW (b) and NEWER (c) can be found."""
    marks = {"a": fact(3), "b": fact(303), "c": fact(603)}
    return [mark for mark, text in marks.items() if text[:40] in best(stack, text)]


def replace(engine: Engine, document_id: str, data: bytes, name: str = "facts.pdf") -> str | None:
    answer: str | None = engine.call("replace_with", document=document_id, new=document(data, name))
    return answer


def test_the_old_version_answers_until_the_new_one_is_embedded(
    engine: Engine, provider_server: Stack, provider: Provider
):
    client = provider_server.client
    (old,) = engine.ingest(document(OLD, "old.pdf", title="Old", metadata={"title": "Old", "shelf": "7"}))
    before = client.get(f"/api/v1/documents/{old}").json()
    provider.hold(on="embeddings", contains=fact(303)[:40])
    job = replace(engine, old, NEW, "new.pdf")
    assert job
    provider.wait_held()

    assert fact(3)[:40] in best(provider_server, fact(3))
    listed = client.get("/api/v1/documents").json()
    assert [entry["id"] for entry in listed] == [old]
    assert client.get(f"/api/v1/documents/{old}").json() == before
    chunks = client.get(f"/api/v1/documents/{old}/chunks").json()
    assert fact(0)[:40] in chunks[0]["content"]
    item = engine.look(job)["items"][0]
    assert (item["id"], item["status"], item["stage"]) == (old, "processing", "embedding")
    assert client.get(f"/api/v1/documents/{item['item_id']}").status_code == 404
    assert client.get(f"/api/v1/documents/{item['item_id']}/chunks").status_code == 404
    assert generate(client, item["item_id"]).status_code == 404

    provider.release()
    assert engine.ended(job)["items"][0]["status"] == "completed"
    assert versions(provider_server) == ["b"]
    after = client.get(f"/api/v1/documents/{old}").json()
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"originalFilename", "checksum", "sizeBytes"}
    kept = provider_server.sql("SELECT title, metadata FROM documents_document")[0]
    assert (kept["title"], kept["metadata"]["shelf"]) == ("Old", "7"), "what is not sent stays"
    settled(provider_server)


def test_a_search_always_finds_one_version_and_never_none(engine: Engine, provider_server: Stack):
    (old,) = engine.ingest(document(OLD))
    done = Event()

    def watch() -> int:
        seen = 0
        while not done.is_set():
            seen += 1
            if not search(provider_server.client, "lighthouse harbour", k=3).json():
                return -1
        return seen

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        for data in (NEW, NEWER, OLD):
            job = replace(engine, old, data)
            assert job
            engine.ended(job)
        done.set()
        assert watching.result(30) > 0
    assert versions(provider_server) == ["a"]
    settled(provider_server)


def test_the_same_bytes_change_nothing(engine: Engine, provider_server: Stack):
    (old,) = engine.ingest(document(OLD))
    assert replace(engine, old, OLD) is None
    assert provider_server.count("documents_ingestjob") == 1
    settled(provider_server)


def test_the_bytes_of_another_document_are_refused(engine: Engine, provider_server: Stack):
    old, other = engine.ingest(document(OLD), document(NEW, "new.pdf"))
    with pytest.raises(Refused, match=f"DUPLICATE: Document already ingested: {other}"):
        replace(engine, old, NEW)
    with pytest.raises(Refused, match="VALIDATION_ERROR"):
        replace(engine, old, b"")
    with pytest.raises(Refused, match="NOT_FOUND"):
        replace(engine, UNKNOWN_ID, NEWER)
    settled(provider_server)


def test_a_newer_version_supersedes_the_one_under_way(
    engine: Engine, provider_server: Stack, provider: Provider
):
    (old,) = engine.ingest(document(OLD))
    provider.hold(on="embeddings")
    first = replace(engine, old, NEW)
    assert first
    provider.wait_held()
    assert replace(engine, old, NEW) is None
    second = replace(engine, old, NEWER)
    assert second
    assert engine.ended(first)["items"][0]["error_code"] == "SUPERSEDED"
    provider.release()
    assert engine.ended(second)["items"][0]["status"] == "completed"
    assert versions(provider_server) == ["c"]
    assert engine.call("retry_job", job=first) == 0
    settled(provider_server)


def test_a_version_that_failed_does_not_come_back_after_a_newer_one(
    engine: Engine, provider_server: Stack, provider: Provider
):
    (old,) = engine.ingest(document(OLD))
    unreadable = replace(engine, old, b"%PDF-1.4 broken")
    assert unreadable
    assert engine.ended(unreadable)["failed"] == 1
    provider.rule("status", status=400, on="embeddings")
    unembedded = replace(engine, old, NEW)
    assert unembedded
    assert engine.ended(unembedded)["failed"] == 1
    provider.reset()
    newest = replace(engine, old, NEWER)
    assert newest
    assert engine.ended(newest)["items"][0]["status"] == "completed"
    for job, reason in ((unreadable, "PDF"), (unembedded, "could not be embedded")):
        item = engine.look(job)["items"][0]
        assert (item["status"], item["error_code"]) == ("failed", "SUPERSEDED")
        assert reason in item["error"]
        assert engine.call("retry_job", job=job) == 0
    assert engine.call("retry_document", document=old) == 0
    assert versions(provider_server) == ["c"]
    settled(provider_server)


def test_the_job_of_a_first_version_ends_when_a_newer_one_takes_over(
    engine: Engine, provider_server: Stack, provider: Provider
):
    provider.hold(on="embeddings", contains=fact(3)[:40])
    first = engine.create(document(OLD))
    provider.wait_held()
    second = replace(engine, engine.look(first)["items"][0]["id"], NEW)
    assert second
    assert engine.ended(second)["failed"] == 0
    assert engine.ended(first)["items"][0]["status"] == "completed"
    provider.release()
    assert versions(provider_server) == ["b"]
    settled(provider_server)


def test_back_to_the_old_bytes_gives_the_version_under_way_up(
    engine: Engine, provider_server: Stack, provider: Provider
):
    (old,) = engine.ingest(document(OLD))
    provider.hold(on="embeddings")
    job = replace(engine, old, NEW)
    assert job
    provider.wait_held()
    assert replace(engine, old, OLD) is None
    provider.release()
    assert engine.ended(job)["items"][0]["error_code"] == "SUPERSEDED"
    assert versions(provider_server) == ["a"]
    settled(provider_server)


def test_a_version_that_cannot_be_read_leaves_the_old_one(engine: Engine, provider_server: Stack):
    (old,) = engine.ingest(document(OLD))
    job = replace(engine, old, b"%PDF-1.4 broken")
    assert job
    item = engine.ended(job)["items"][0]
    assert (item["id"], item["status"], item["error_code"]) == (old, "failed", "UNPROCESSABLE")
    assert versions(provider_server) == ["a"]
    settled(provider_server)


def test_a_version_that_cannot_be_embedded_leaves_the_old_one_until_a_retry(
    engine: Engine, provider_server: Stack, provider: Provider
):
    (old,) = engine.ingest(document(OLD))
    provider.rule("status", status=400, on="embeddings", contains="lighthouse")
    job = replace(engine, old, NEW)
    assert job
    assert engine.ended(job)["items"][0]["error_code"] == "EMBEDDING_FAILED"
    provider.reset()
    assert versions(provider_server) == ["a"]
    assert engine.call("retry_document", document=old) == 1
    assert engine.ended(job)["items"][0]["status"] == "completed"
    assert versions(provider_server) == ["b"]
    settled(provider_server)


def test_a_document_deleted_while_it_is_replaced_stays_deleted(
    engine: Engine, provider_server: Stack, provider: Provider
):
    (old,) = engine.ingest(document(OLD))
    provider.hold(on="embeddings")
    job = replace(engine, old, NEW)
    assert job
    provider.wait_held()
    receipt = engine.call("delete", document=old)
    assert (receipt["documents"], receipt["document_ids"]) == (1, [old])
    provider.release()
    item = engine.ended(job)["items"][0]
    assert (item["error_code"], item["deleted"]) == ("DELETED", True)
    assert_jobs_settled(provider_server)
    for table in ("documents_document", "documents_chunk", "embeddings_embedding"):
        assert provider_server.count(table) == 0
    wait_until(lambda: provider_server.stored_files() == [])
    assert_words_counted(provider_server)


def test_an_upload_is_replaced_like_any_other(engine: Engine, provider_server: Stack):
    old = ingest(provider_server.client, OLD)["documentId"]
    embed(provider_server.client)
    job = replace(engine, old, NEW)
    assert job
    engine.ended(job)
    assert versions(provider_server) == ["b"]
    settled(provider_server)


def test_what_failed_is_read_anew_from_better_bytes_in_its_own_job(engine: Engine, provider_server: Stack):
    job = engine.create(document(b"%PDF-1.4 broken", "facts.pdf"))
    (item,) = engine.ended(job)["items"]
    assert replace(engine, item["id"], OLD) == job
    assert engine.ended(job)["items"][0]["status"] == "completed"
    assert versions(provider_server) == ["a"]
    settled(provider_server)
