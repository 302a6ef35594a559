"""Section 6 of the Knowlex API's reference: from a raw document to an answered question."""

import httpx

from tests.flow.conftest import BALANCING, HASHING, THEOREM
from tests.support.api import NO_ANSWER, ask, ingest, search
from tests.support.invariants import assert_documents_whole, assert_embedded_once, assert_settled
from tests.support.pdf import make_pdf
from tests.support.stack import Stack


def test_from_a_pdf_to_a_cited_answer_and_away_again(server: Stack, client: httpx.Client):
    document_id = ingest(client, make_pdf(HASHING, BALANCING, THEOREM), "system-design.pdf")["documentId"]
    question = "Who presented the CAP theorem?"
    assert ask(client, question).json()["answer"] == NO_ANSWER  # nothing is embedded yet

    reply = client.post(f"/api/v1/embeddings/generate/{document_id}")
    assert reply.text.startswith("Embedded ")

    body = ask(client, question, topK=5).json()
    assert "Eric Brewer" in body["answer"]
    assert "Eric Brewer" in body["sourceChunks"][0]["content"]
    assert_documents_whole(server)
    assert_embedded_once(server)
    assert_settled(server)

    assert client.delete(f"/api/v1/documents/{document_id}").status_code == 204
    body = ask(client, question).json()
    assert (body["answer"], body["sourceChunks"]) == (NO_ANSWER, [])
    assert search(client, question).json() == []
    assert_documents_whole(server)
    assert_embedded_once(server)
