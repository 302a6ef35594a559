"""A document with unread pages says so wherever it is shown, and so does an answer that cites it."""

import httpx

from tests.extraction.hostile import garbled_page
from tests.support.api import ask, book, embed, ingest, query
from tests.support.texts import markdown

FACT = b"The lighthouse of Nordvik was painted green in the year 1907 by the keeper Anna Berg."
QUESTION = "Who painted the lighthouse of Nordvik green?"


def test_unread_pages_show_on_the_document_and_in_answers(client: httpx.Client):
    uploaded = ingest(client, garbled_page(FACT), "lighthouse.pdf")
    ingest(
        client,
        markdown("Bread", [("Baking", "A loaf bakes for forty minutes in the oven. " * 5)]),
        "bread.md",
    )
    embed(client)
    document_id, warnings = uploaded["documentId"], uploaded["warnings"]
    assert warnings == ["Page 2 is only partly readable: the encoding of the letters gives no text."]
    assert client.get(f"/api/v1/documents/{document_id}").json()["warnings"] == warnings
    listed = {row["id"]: row["warnings"] for row in client.get("/api/v1/documents").json()}
    assert sorted(map(len, listed.values())) == [0, 1]
    pages = client.get(f"/api/v1/documents/{document_id}/pages").json()
    assert [[warning["code"] for warning in page["warnings"]] for page in pages] == [[], ["garbled"]]

    for face in (ask, query):
        answered = face(client, QUESTION).json()["metadata"]
        assert answered["answerSynthesized"]
        [warning] = answered["warnings"]
        assert (warning["documentId"], warning["unreadPages"]) == (document_id, [2])
        assert (warning["documentName"], warning["title"]) == ("lighthouse.pdf", "lighthouse.pdf")
        assert warning["message"] == warnings[0]
        elsewhere = face(client, "How long does a loaf bake in the oven?").json()["metadata"]
        assert (elsewhere["answerSynthesized"], elsewhere["warnings"]) == (True, [])
    assert set(book(client, QUESTION).json()) == {"answer", "sources"}
