"""Idempotency-Key: a request that its sender repeats is carried out once."""

from typing import Any

import httpx
import pytest

from tests.platform.talk import accepted, ended, post, stored, text
from tests.support.api import assert_problem, together
from tests.support.stack import Stack

KEY = {"Idempotency-Key": "order-7"}
WORDS = b"# Words\n\nThe lamp is green."


def send(client: httpx.Client, data: bytes = WORDS, **how: Any) -> httpx.Response:
    files = {"file": ("a.md", data, "text/markdown")}
    return client.post("/api/v1/documents", files=files, headers=KEY, **how)


def test_a_repeated_job_is_answered_as_before(client: httpx.Client):
    first = post(client, text("Words."), key="k")
    again = post(client, text("Words."), key="k")

    assert (again.status_code, again.json()) == (200, first.json())
    assert again.headers["Location"] == first.headers["Location"]
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(client.get("/v1/ingest").json()["jobs"]) == 1
    assert_problem(post(client, text("Other words."), key="k"), 422, field="Idempotency-Key")
    assert post(client, text("Words."), key="l").json()["job_id"] != first.json()["job_id"]


def test_a_repeated_upload_is_a_201_and_no_duplicate(client: httpx.Client):
    """Whatever boundary the form has: only what is in it counts."""
    first, again = send(client), send(client)

    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotency-Replayed"] == "true"
    assert_problem(send(client, b"# Other words"), 422, field="Idempotency-Key")


def test_a_repeated_replacement_makes_one_new_version(client: httpx.Client):
    one = stored(client, text("Old words."))

    replies = [client.put(f"/v1/documents/{one}", json=text("New words."), headers=KEY) for _ in "12"]

    assert [reply.status_code for reply in replies] == [202, 202]
    assert replies[0].json() == replies[1].json()
    assert ended(client, replies[0].json()["job_id"])["status"] == "completed"


def test_of_equal_requests_at_once_one_is_carried_out(client: httpx.Client):
    replies = together([lambda: post(client, text("Words."), key="k")] * 8)

    assert {reply.status_code for reply in replies} <= {200, 409}
    jobs = {reply.json()["job_id"] for reply in replies if reply.status_code == 200}
    assert len(jobs) == 1
    for reply in replies:
        if reply.status_code == 409:
            assert int(reply.headers["Retry-After"]) > 0
    assert post(client, text("Words."), key="k").json()["job_id"] in jobs


def test_a_failure_may_be_tried_again_with_the_same_key(client: httpx.Client):
    assert_problem(post(client, text("Words."), to="Manuals", key="k"), 400)
    client.post("/v1/collections", json={"name": "Manuals"})

    assert post(client, text("Words."), to="Manuals", key="k").status_code == 200


def test_a_server_that_died_leaves_no_trap(server: Stack):
    """As long as it may be at work, 409; then the next one carries the request out."""
    first = send(server.client).json()
    server.sql("UPDATE documents_idempotencyrecord SET status = NULL, locked_until = now() + interval '9 s'")
    assert int(send(server.client).headers["Retry-After"]) > 0
    assert_problem(send(server.client), 409, "CONFLICT")

    server.sql("UPDATE documents_idempotencyrecord SET locked_until = now() - interval '1 s'")
    again = send(server.client)

    assert (again.status_code, again.json()) == (201, first)  # it was stored, only its answer was lost
    assert send(server.client).headers["Idempotency-Replayed"] == "true"


def test_a_document_that_was_there_before_stays_a_duplicate(client: httpx.Client):
    files = {"file": ("a.md", WORDS, "text/markdown")}
    assert client.post("/api/v1/documents", files=files).status_code == 201

    for _ in range(2):
        assert_problem(send(client), 409, "DUPLICATE")


def test_records_are_kept_for_a_day(server: Stack):
    first = accepted(server.client, text("Words."), key="k")
    server.sql("UPDATE documents_idempotencyrecord SET created_at = now() - interval '25 h'")

    assert accepted(server.client, text("Words."), key="k")["job_id"] != first["job_id"]


@pytest.mark.parametrize("key", ["", "x" * 256, "a b", "\u00e9"])
def test_a_key_is_up_to_255_visible_characters(client: httpx.Client, key: str):
    headers = {"Idempotency-Key": key.encode("latin-1")}
    body = {"collection_id": "default", "documents": [text("Words.")]}

    reply = client.post("/v1/ingest", json=body, headers=headers)

    assert_problem(reply, 400, "VALIDATION_ERROR", field="Idempotency-Key")
