"""What holds for every route: error bodies, request ids, headers, methods, health, schema."""

import socket

import pytest

from tests.flow.conftest import Library
from tests.support.api import UNKNOWN_ID, assert_problem

WRONG_METHODS = [
    ("GET", "/query"),
    ("PUT", "/api/v1/documents"),
    ("POST", f"/api/v1/documents/{UNKNOWN_ID}"),
    ("DELETE", f"/api/v1/documents/{UNKNOWN_ID}/chunks"),
    ("GET", "/api/v1/embeddings/generate"),
    ("GET", "/api/v1/embeddings/search"),
    ("PATCH", "/api/v1/rag/ask"),
    ("POST", "/health"),
]


@pytest.mark.parametrize(
    "path", ["/nowhere", "/api/v1/nowhere", "/v1/nowhere", "/query/", "/api/v1/documents/"]
)
def test_an_unknown_path_is_404_in_the_error_shape(library: Library, path: str):
    assert_problem(library.client.get(path), 404, "NOT_FOUND")


@pytest.mark.parametrize(("method", "path"), WRONG_METHODS)
def test_a_wrong_method_is_405_and_tells_the_right_ones(library: Library, method: str, path: str):
    reply = library.client.request(method, path)
    assert_problem(reply, 405, "METHOD_NOT_ALLOWED")
    assert reply.headers["Allow"]


def test_a_sane_request_id_is_kept_and_any_other_replaced(library: Library):
    kept = library.client.get("/health", headers={"X-Request-ID": "trace-1.a_b"})
    assert kept.headers["X-Request-ID"] == "trace-1.a_b"
    for odd in ("x" * 300, "<script>", "a b"):
        reply = library.client.get("/health", headers={"X-Request-ID": odd})
        assert reply.headers["X-Request-ID"] not in ("", odd)


@pytest.mark.parametrize("path", ["/health", "/nowhere", "/api/v1/documents"])
def test_every_answer_has_the_security_headers(library: Library, path: str):
    headers = library.client.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert "Referrer-Policy" in headers
    assert "X-Request-ID" in headers
    assert "Server" not in headers


def test_health_is_200_and_names_its_dependencies(library: Library):
    reply = library.client.get("/health")
    assert reply.status_code == 200
    assert reply.json()["status"] == "healthy"
    assert "not_configured" in reply.text


def test_the_schema_and_its_page_are_served(library: Library):
    schema = library.client.get("/api/schema", headers={"Accept": "application/json"})
    assert schema.status_code == 200
    for path in ("/api/v1/documents", "/api/v1/embeddings/search", "/api/v1/rag/ask", "/query", "/health"):
        assert path in schema.text
    page = library.client.get("/api/docs")
    assert page.status_code == 200
    assert page.headers["Content-Type"].startswith("text/html")


def test_an_upload_over_the_limit_is_413_before_it_is_read(library: Library):
    """The declared length alone decides: the body is never sent."""
    request = (
        b"POST /api/v1/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000000\r\n"
        b"Content-Type: multipart/form-data; boundary=x\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", library.stack.port), timeout=10) as connection:
        connection.sendall(request)
        reply = b""
        while not reply.endswith(b"}") and (block := connection.recv(65536)):
            reply += block
    assert b" 413 " in reply.split(b"\r\n", 1)[0]
    assert b"PAYLOAD_TOO_LARGE" in reply


def test_html_is_never_answered_to_who_asks_for_it(library: Library):
    reply = library.client.get("/api/v1/documents/x", headers={"Accept": "text/html"})
    assert_problem(reply, 400)


def test_logs_hold_no_question_and_no_document_text(library: Library):
    library.client.post("/query", json={"query": "What is the zanzibarquux clause?"})
    log = library.stack.log("web") + library.stack.log("worker")
    assert "zanzibarquux" not in log
    assert "Consistent hashing places" not in log
