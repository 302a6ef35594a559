"""Vectors reach the store outside PostgreSQL with what they may be filtered by, and leave it again."""

import hashlib

from tests.outbox.looking import Chroma, active_model, chunk_ids, compared, status
from tests.platform.talk import collection, stored, text
from tests.provider import Provider
from tests.support.api import embed, ingest
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf
from tests.support.waiting import wait_until


def facts(first: int, end: int) -> str:
    return "\n\n".join(map(fact, range(first, end)))


def test_what_is_embedded_is_in_the_store_when_generate_has_answered(outside: Stack, chroma: Chroma):
    document = ingest(outside.client, facts_pdf(60), name="facts.pdf")
    assert embed(outside.client) == document["totalChunks"]
    points = chroma.points(active_model(outside))
    assert set(points) == chunk_ids(outside)
    rows = outside.sql(
        "SELECT c.*, d.collection_id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id"
    )
    for row in rows:
        point = points[str(row["id"])]
        assert point["chunk_hash"] == hashlib.sha256(row["content"].encode()).hexdigest()
        assert point["collection_id"] == point["book_id"] == str(row["collection_id"])
        assert point["document_id"] == str(row["document_id"])
        assert (point["chunk_index"], point["page_number"]) == (row["chunk_index"], row["page_number"])
        assert (point["source_file"], point["chapter"]) == ("facts.pdf", row["chapter"])
    assert status(outside, document["documentId"]) == "completed"
    assert outside.count("embeddings_outboxentry") == 0
    assert compared(outside)[0] == 0


def test_what_is_deleted_leaves_the_store(outside: Stack, chroma: Chroma):
    gone = ingest(outside.client, facts_pdf(20))["documentId"]
    ingest(outside.client, facts_pdf(20, first=100))
    embed(outside.client)
    assert outside.client.delete(f"/api/v1/documents/{gone}").status_code == 204
    model = active_model(outside)
    wait_until(lambda: set(chroma.points(model)) == chunk_ids(outside), 30, "the store to forget it")
    assert compared(outside)[0] == 0


def test_a_job_is_completed_with_its_chunks_in_the_store_and_a_collection_leaves_it(
    outside: Stack, chroma: Chroma
):
    shelf = collection(outside.client, "shelf")
    document = stored(outside.client, text(facts(0, 40)), to=shelf)
    points = chroma.points(active_model(outside))
    assert set(points) == chunk_ids(outside) != set()
    assert {point["document_id"] for point in points.values()} == {document}
    assert outside.client.delete(f"/v1/collections/{shelf}").status_code == 200
    wait_until(lambda: not chroma.points(active_model(outside)), 30, "the store to forget the collection")
    assert compared(outside)[0] == 0


def test_a_new_version_is_put_under_the_collection_that_it_is_meant_for(
    outside: Stack, chroma: Chroma, provider: Provider
):
    document = stored(outside.client, text(facts(0, 40)))
    model, old = active_model(outside), chunk_ids(outside)
    provider.hold(on="embeddings", contains=fact(340)[:40])
    reply = outside.client.put(f"/v1/documents/{document}", json=text(facts(300, 345)))
    assert reply.status_code == 202, reply.text
    provider.wait_held()
    wait_until(lambda: set(chroma.points(model)) - old, 30, "a batch of the new version in the store")
    default = str(outside.sql("SELECT id FROM documents_collection WHERE name = 'default'")[0]["id"])
    for chunk_id, point in chroma.points(model).items():
        assert (point["collection_id"], point["document_id"]) == (default, document), chunk_id
    assert old <= set(chroma.points(model)), "the old version answers meanwhile"
    assert compared(outside)[0] == 0
    provider.release()
    wait_until(lambda: chunk_ids(outside).isdisjoint(old), 30, "the new version to take over")
    wait_until(lambda: set(chroma.points(model)) == chunk_ids(outside), 30, "the old version to leave")
    assert compared(outside)[0] == 0
