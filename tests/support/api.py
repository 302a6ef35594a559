"""The Knowlex API as a client sees it, in as few words as tests need."""

import json
import re
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

import httpx

T = TypeVar("T")
EMBEDDED = re.compile(r"Embedded (\d+) chunk\(s\)(?: for document ([0-9a-f-]{36}))?")
NO_ANSWER = "I don't have enough information to answer that."
BOOK_NO_ANSWER = "Answer not found in provided content"
UNKNOWN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"


def upload(client: httpx.Client, data: bytes, name: str = "sample.pdf", **fields: str) -> httpx.Response:
    media_type = "application/pdf" if name.endswith(".pdf") else "text/markdown"
    return client.post("/api/v1/documents", files={"file": (name, data, media_type)}, data=fields)


def ingest(client: httpx.Client, data: bytes, name: str = "sample.pdf", **fields: str) -> dict[str, Any]:
    """Upload, and the 201's body."""
    reply = upload(client, data, name, **fields)
    assert reply.status_code == 201, reply.text
    return dict(reply.json())


def generate(client: httpx.Client, document_id: str = "") -> httpx.Response:
    path = f"/api/v1/embeddings/generate/{document_id}" if document_id else "/api/v1/embeddings/generate"
    return client.post(path)


def embed(client: httpx.Client, document_id: str = "") -> int:
    """Generate, and how many chunks the 200 says were embedded."""
    reply = generate(client, document_id)
    assert reply.status_code == 200, reply.text
    return embedded_count(reply.text)


def embedded_count(text: str) -> int:
    match = EMBEDDED.fullmatch(text.strip().strip('"'))
    assert match, f"not the answer of generate: {text!r}"
    return int(match[1])


def search(client: httpx.Client, text: str, **params: Any) -> httpx.Response:
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    return client.post("/api/v1/embeddings/search", params=params, content=text.encode(), headers=headers)


def ask(client: httpx.Client, query: str, **fields: Any) -> httpx.Response:
    return client.post("/api/v1/rag/ask", json={"query": query, **fields})


def query(client: httpx.Client, text: str, **fields: Any) -> httpx.Response:
    return client.post("/query", json={"query": text, **fields})


def book(client: httpx.Client, text: str, **fields: Any) -> httpx.Response:
    return client.post("/query", json={"question": text, **fields})


def leave(url: str, path: str, body: Any, *, when: Callable[[], object], **headers: str) -> None:
    """Send a request and close its connection, unanswered, once `when` has returned."""
    content = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(content)}"]
    lines += ["Content-Type: application/json", *(f"{name}: {value}" for name, value in headers.items())]
    address = httpx.URL(url)
    with socket.create_connection((address.host, address.port or 80), timeout=30) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + content)
        when()


def together(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Run all at once, each in a thread; results in the order of the calls."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def assert_problem(reply: httpx.Response, status: int, error: str = "", *, field: str = "") -> dict[str, Any]:
    """The one error body, complete, with nothing internal in it."""
    assert reply.status_code == status, f"{reply.status_code}: {reply.text[:500]}"
    assert reply.headers["Content-Type"].startswith("application/json"), reply.headers["Content-Type"]
    body: dict[str, Any] = reply.json()
    if isinstance(body["error"], dict):
        return assert_openai_error(reply, field=field)
    request_id = "request_id" if reply.request.url.path.startswith(("/v1/", "/mcp")) else "requestId"
    assert {"status", "error", "message", "details", "timestamp", request_id} <= set(body), body
    assert body["status"] == status
    assert body["message"]
    assert isinstance(body["details"], dict)
    assert body[request_id] == reply.headers["X-Request-ID"]
    assert_now(body["timestamp"])
    for secret in ("Traceback", "psycopg", "SELECT ", "site-packages", "sk-test", ".py", "/tmp/"):
        assert secret not in reply.text, f"{secret!r} in {reply.text}"
    if error:
        assert body["error"] == error, body
    if field:
        assert body["details"].get("field") == field, body
    return body


def assert_openai_error(
    reply: httpx.Response, status: int = 0, code: str = "", *, field: str = ""
) -> dict[str, Any]:
    """The error body of OpenAI's API, on its paths alone."""
    assert reply.request.url.path.startswith(("/v1/models", "/v1/chat/completions", "/v1/embeddings"))
    assert status in (0, reply.status_code), reply.text
    (error,) = reply.json().values()
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"]
    assert error["type"] == {403: "permission_error", 429: "rate_limit_error"}.get(
        reply.status_code, "server_error" if reply.status_code >= 500 else "invalid_request_error"
    )
    assert code in ("", error["code"])
    assert field in ("", error["param"])
    return dict(error)


def assert_now(text: str, tolerance_s: float = 300.0) -> None:
    """ISO 8601 in UTC with a Z, and not long ago."""
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", text), text
    age = datetime.now(UTC) - datetime.fromisoformat(text)
    assert abs(age.total_seconds()) < tolerance_s, text


def assert_id(text: str) -> None:
    """A UUID of version 7 in its usual form."""
    assert str(UUID(text)) == text
    assert UUID(text).version == 7
