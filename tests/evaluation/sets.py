"""A collection of lighthouses, and a question set about it, over HTTP."""

import json
from typing import Any

import httpx

from tests.platform.talk import collection, file, stored
from tests.support.texts import fact, facts_pdf, question
from tests.support.waiting import wait_until

FACTS = 45
UNANSWERABLE = "Which composer wrote the opera about the silver mine?"


def lighthouses(client: httpx.Client, name: str = "Lighthouses") -> str:
    """The id of a collection with a PDF of three pages."""
    made = collection(client, name)
    stored(client, file(facts_pdf(FACTS), "lights.pdf"), to=made)
    return made


def line(number: int, **fields: Any) -> dict[str, Any]:
    year = fact(number).partition("year ")[2][:4]
    expected = {"answers": [year], "doc": "lights.pdf", "page": number // 20 + 1}
    return {"id": f"light-{number}", "question": question(number), **expected, **fields}


def jsonl(*objects: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in objects)


def upload(
    client: httpx.Client, *objects: dict[str, Any], name: str = "lights", **params: str
) -> httpx.Response:
    headers = {"Content-Type": "application/x-ndjson"}
    return client.post(
        "/v1/question_sets", content=jsonl(*objects), params={"name": name, **params}, headers=headers
    )


def uploaded(client: httpx.Client, *objects: dict[str, Any], **params: str) -> str:
    reply = upload(client, *objects, **params)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["id"])


def evaluate(client: httpx.Client, **body: Any) -> str:
    reply = client.post("/v1/evaluations", json=body)
    assert reply.status_code == 202, reply.text
    assert reply.headers["Location"] == f"/v1/evaluations/{reply.json()['id']}"
    return str(reply.json()["id"])


def read(client: httpx.Client, evaluation_id: str, **params: Any) -> dict[str, Any]:
    reply = client.get(f"/v1/evaluations/{evaluation_id}", params=params)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def ended(client: httpx.Client, evaluation_id: str) -> dict[str, Any]:
    def done() -> bool:
        return read(client, evaluation_id, limit=1)["status"] in ("completed", "failed")

    wait_until(done, 60, "the evaluation to end")
    return read(client, evaluation_id)
