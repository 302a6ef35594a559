"""The Platform API in as few words as tests need."""

import base64
from typing import Any

import httpx

WAIT_S = 60


def collection(client: httpx.Client, name: str = "Manuals", **settings: Any) -> str:
    """A new one's id."""
    reply = client.post("/v1/collections", json={"name": name, "settings": settings})
    assert reply.status_code == 201, reply.text
    return str(reply.json()["id"])


def text(content: str, filename: str = "words.txt", **metadata: Any) -> dict[str, Any]:
    return {"source": {"type": "text", "content": content, "filename": filename}, "metadata": metadata}


def file(data: bytes, filename: str, **metadata: Any) -> dict[str, Any]:
    content = base64.b64encode(data).decode()
    return {"source": {"type": "file", "content": content, "filename": filename}, "metadata": metadata}


def post(
    client: httpx.Client, *documents: Any, to: str = "default", key: str = "", **fields: Any
) -> httpx.Response:
    body = {"collection_id": to, "documents": list(documents), **fields}
    return client.post("/v1/ingest", json=body, headers={"Idempotency-Key": key} if key else {})


def accepted(client: httpx.Client, *documents: Any, **how: Any) -> dict[str, Any]:
    reply = post(client, *documents, **how)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def ended(client: httpx.Client, job_id: str) -> dict[str, Any]:
    """The job's report, once all of its documents have ended."""
    job = client.get(f"/v1/ingest/{job_id}", params={"wait": WAIT_S}).json()
    assert job["status"] in ("completed", "failed"), job
    return dict(job)


def ingested(client: httpx.Client, *documents: Any, **how: Any) -> dict[str, Any]:
    return ended(client, accepted(client, *documents, **how)["job_id"])


def stored(client: httpx.Client, document: dict[str, Any], **how: Any) -> str:
    """The id of a document that was ingested."""
    (one,) = ingested(client, document, **how)["documents"]
    assert one["status"] == "completed", one
    return str(one["id"])
