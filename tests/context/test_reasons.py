"""Why nothing was answered: which of several reasons is told, and what `/v1/query` says."""

from typing import Any

import httpx
import pytest

from rag.retrievers.empty import Holdings, reason_of
from rag.types.answer import Reason
from tests.platform.talk import accepted, collection, ended, text
from tests.support.api import embed, ingest
from tests.support.pdf import make_pdf
from tests.support.stack import Stack

LIGHTHOUSE = "The lighthouse of Norderney is 54 metres tall. It was lit for the first time in 1874."


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        ((False, False, False, False), "no_documents"),
        ((False, True, False, False), "embeddings_pending"),
        ((True, False, False, False), "filtered_out"),
        ((True, True, False, False), "filtered_out"),
        ((True, False, True, False), "embeddings_pending"),
        ((True, False, True, True), "below_threshold"),
    ],
)
def test_what_has_to_be_mended_first_is_told(held: tuple[bool, ...], reason: Reason) -> None:
    assert reason_of(Holdings(*held)) == reason


def asked(client: httpx.Client, query: str, **fields: Any) -> tuple[str | None, int]:
    """The reason, and how many of the nearest passages are told."""
    body = client.post("/v1/query", json={"query": query, **fields}).json()
    assert body["sources"] == body["citations"] == []
    return body["reason"], len(body["nearest"])


def test_each_reason_over_http(server: Stack) -> None:
    client, tall = server.client, "How tall is the lighthouse of Norderney?"
    assert asked(client, tall) == ("no_documents", 0)
    ingest(client, make_pdf(LIGHTHOUSE, title="Towers"), "towers.pdf")
    assert asked(client, tall) == ("embeddings_pending", 0)
    assert asked(client, tall, filters={"tags": ["harbour"]}) == ("filtered_out", 0)
    embed(client)
    assert asked(client, tall, filters={"tags": ["harbour"]}) == ("filtered_out", 0)
    assert asked(client, tall, collections=[collection(client, "Empty")]) == ("no_documents", 0)
    assert asked(client, "Which vitamins does sauerkraut contain?") == ("below_threshold", 1)
    body = client.post("/v1/query", json={"query": tall}).json()
    assert (body["reason"], body["nearest"]) == (None, [])


def test_a_document_that_is_being_read_is_awaited(server: Stack) -> None:
    with server.paused_worker():
        job = accepted(server.client, text(LIGHTHOUSE, "towers.txt"))
        assert asked(server.client, "How tall is the lighthouse of Norderney?") == ("embeddings_pending", 0)
    assert ended(server.client, job["job_id"])["status"] == "completed"
