"""Jobs from their creation to their end, with real workers."""

from datetime import datetime

import pytest

from tests.ingest.conftest import Engine, Refused, document
from tests.provider import Provider
from tests.support.api import UNKNOWN_ID, embed, ingest, search
from tests.support.invariants import (
    assert_documents_whole,
    assert_embedded_once,
    assert_jobs_settled,
    assert_own_vectors,
)
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf, place
from tests.support.waiting import wait_until


def found(stack: Stack, text: str) -> list[str]:
    return [hit["content"] for hit in search(stack.client, text, k=3).json()]


def test_a_job_ends_completed_when_every_chunk_can_be_found(engine: Engine, provider_server: Stack):
    job = engine.create(
        document(facts_pdf(30), "facts.pdf", metadata={"shelf": "7"}),
        document(f"# Notes\n\n{fact(500)}", "notes.md", title="My notes"),
        document(fact(700), "plain.txt", source_type="text"),
    )
    report = engine.ended(job)

    assert (report["status"], report["total"], report["processed"], report["failed"]) == (
        "completed",
        3,
        3,
        0,
    )
    assert report["pages_done"] == report["pages_total"] == 2 + 1 + 1
    assert report["chunks_embedded"] == report["chunks_made"] == provider_server.count("documents_chunk")
    assert [item["stage"] for item in report["items"]] == ["ended"] * 3
    assert report["items"][1]["title"] == "My notes"
    assert datetime.fromisoformat(report["completed_at"])
    assert any(place(700) in content for content in found(provider_server, fact(700)))
    rows = provider_server.sql("SELECT status, metadata FROM documents_document ORDER BY size_bytes DESC")
    assert {row["status"] for row in rows} == {"completed"}
    assert rows[0]["metadata"]["shelf"] == "7"
    assert_documents_whole(provider_server)
    assert_embedded_once(provider_server)
    assert_own_vectors(provider_server)
    assert_jobs_settled(provider_server)


def count_sessions(stack: Stack) -> int:
    """Count those that were ever begun."""
    row = stack.sql("SELECT sessions FROM pg_stat_database WHERE datname = current_database()")[0]
    return int(row["sessions"])


def test_workers_keep_their_connection_from_task_to_task(engine: Engine, provider_server: Stack):
    """A new one costs as much CPU as the statements of a small document."""
    engine.ingest(document(fact(1)))
    before = count_sessions(provider_server)
    engine.ingest(*(document(fact(number)) for number in range(2, 22)))  # 40 tasks
    assert count_sessions(provider_server) - before < 20


def test_each_document_ends_with_its_own_reason(engine: Engine, provider_server: Stack):
    text = f"# One\n\n{fact(1)}"
    known = ingest(provider_server.client, b"# Known\n\nIt was here before.", "known.md")["documentId"]
    report = engine.ended(
        engine.create(
            document(text, "one.md"),
            document(text, "the same.md"),
            document(b"# Known\n\nIt was here before.", "again.md"),
            document(b"%PDF-1.4 broken", "broken.pdf"),
            document(b"", "empty.txt"),
            document("  \n\t ", "blank.txt"),
        )
    )
    items = report["items"]
    assert report["status"] == "completed"  # since one of its documents is
    assert report["failed"] == 5
    codes = [item["error_code"] for item in items]
    assert codes == ["", "DUPLICATE", "DUPLICATE", "UNPROCESSABLE", "VALIDATION_ERROR", "UNPROCESSABLE"]
    assert [items[1]["duplicate_of"], items[2]["duplicate_of"]] == [items[0]["id"], known]
    assert items[2]["error"] == f"Document already ingested: {known}"
    assert all(item["error"] for item in items[1:])
    assert_documents_whole(provider_server)
    assert_jobs_settled(provider_server)


def test_the_file_of_a_duplicate_is_not_kept(engine: Engine, provider_server: Stack):
    text = f"# One\n\n{fact(1)}"
    (known,) = engine.ingest(document(text))
    again = engine.create(document(text, "again.md"))  # known at once
    twice = engine.create(
        document(facts_pdf(3)), document(facts_pdf(3), "copy.pdf")
    )  # known when one is read
    assert engine.look(again)["items"][0]["duplicate_of"] == known
    assert [item["error_code"] for item in engine.ended(twice)["items"]] == ["", "DUPLICATE"]
    assert wait_until(lambda: len(provider_server.stored_files()) == 2)
    assert provider_server.count("documents_ingestitem", "file <> ''") == 0

    assert engine.call("retry_job", job=again) == 0
    assert engine.look(again)["items"][0]["error_code"] == "DUPLICATE"
    engine.call("delete", document=known)
    assert engine.call("retry_job", job=again) == 0
    item = engine.look(again)["items"][0]
    assert (item["error_code"], item["duplicate_of"]) == ("NOT_FOUND", None)
    assert item["error"].endswith("send it again.")


def test_a_job_whose_documents_all_failed_has_failed(engine: Engine):
    report = engine.ended(engine.create(document(b"%PDF-1.4 broken", "broken.pdf")))
    assert (report["status"], report["processed"], report["failed"]) == ("failed", 1, 1)


def test_chunking_is_as_the_job_says(engine: Engine, provider_server: Stack):
    text = " ".join(fact(n) for n in range(40))
    one, other = (
        engine.create(document(text, "a.txt"), size=40),
        engine.create(document(text + " More.", "b.txt"), size=120),
    )
    assert engine.ended(one)["chunks_made"] > 2 * engine.ended(other)["chunks_made"]
    longest = provider_server.sql("SELECT max(token_count) AS n FROM documents_chunk")[0]["n"]
    assert 40 < longest <= 120


def test_a_job_is_taken_on_without_a_broker_and_done_when_it_is_back(engine: Engine, provider_server: Stack):
    provider_server.stop_broker()
    job = engine.create(document(facts_pdf(5), "facts.pdf"))
    assert engine.look(job)["status"] == "pending"
    provider_server.start_broker()
    assert engine.ended(job)["status"] == "completed"


def test_what_could_not_be_embedded_is_told_and_a_retry_asks_only_for_that(
    engine: Engine, provider_server: Stack, provider: Provider
):
    provider.rule("status", status=400, contains=f"lighthouse of {place(7)} ", on="embeddings")
    job = engine.create(document(facts_pdf(20), "facts.pdf"))
    item = engine.ended(job)["items"][0]
    assert (item["status"], item["error_code"]) == ("failed", "EMBEDDING_FAILED")
    assert item["error"].startswith(f"1 of {item['chunk_count']} chunks could not be embedded: ")
    assert item["chunks_embedded"] == item["chunk_count"] - 1
    assert provider_server.sql("SELECT status FROM documents_document") == [{"status": "failed"}]

    provider.reset()
    assert engine.call("retry_job", job=job) == 1
    item = engine.ended(job)["items"][0]
    assert (item["status"], item["error"], item["chunks_embedded"]) == ("completed", "", item["chunk_count"])
    assert sum(provider.asked().values()) == 1
    assert_embedded_once(provider_server)
    assert engine.call("retry_job", job=job) == 0


def test_generate_completes_what_a_job_could_not(engine: Engine, provider_server: Stack, provider: Provider):
    provider.rule("status", status=400, on="embeddings")
    job = engine.create(document(facts_pdf(3), "facts.pdf"))
    assert engine.ended(job)["status"] == "failed"
    provider.reset()
    embed(provider_server.client)
    assert wait_until(lambda: engine.look(job)["status"] == "completed")


def test_an_upload_is_pending_until_it_is_embedded(provider_server: Stack):
    def status() -> str:
        return str(provider_server.sql("SELECT status FROM documents_document")[0]["status"])

    ingest(provider_server.client, facts_pdf(3))
    assert status() == "pending"
    embed(provider_server.client)
    wait_until(lambda: status() == "completed")


def test_early_documents_are_complete_while_late_ones_wait(engine: Engine, provider: Provider):
    provider.takes(0.1)  # or all are done before somebody looks
    job = engine.create(*(document(f"# {n}\n\n{fact(n)}", f"{n}.md") for n in range(30)))

    def both() -> bool:
        stages = [item["stage"] for item in engine.look(job)["items"]]
        return "ended" in stages and "queued" in stages

    wait_until(both, 30, "a document that has ended beside one that waits")
    assert engine.ended(job)["failed"] == 0


def test_a_short_job_does_not_wait_for_a_long_one(engine: Engine, provider: Provider):
    provider.takes(0.1)
    long = engine.create(*(document(f"# {n}\n\n{fact(n)}", f"{n}.md") for n in range(30)))
    short = engine.create(document(f"# Short\n\n{fact(900)}", "short.md"))
    assert engine.ended(short)["status"] == "completed"
    assert engine.look(long)["processed"] < 30
    engine.ended(long)


def test_jobs_are_listed_newest_first_page_by_page(engine: Engine):
    created = [engine.create(document(f"# {n}\n\n{fact(n)}", f"{n}.md")) for n in range(3)]
    for job in created:
        engine.ended(job)
    page, after = engine.call("list_jobs", limit=2)
    assert [job["id"] for job in page] == created[:0:-1]
    assert page[0]["chunks_embedded"] == page[0]["chunks_made"] > 0
    assert after == [page[1]["created_at"], page[1]["id"]]
    assert engine.call("list_jobs", limit=2, status="failed") == [[], None]


def test_what_is_unknown_is_not_found(engine: Engine):
    for verb, name in [("retry_job", "job"), ("retry_document", "document"), ("delete", "document")]:
        with pytest.raises(Refused, match="NOT_FOUND"):
            engine.call(verb, **{name: UNKNOWN_ID})
    with pytest.raises(Refused, match="NOT_FOUND"):
        engine.look(UNKNOWN_ID)
