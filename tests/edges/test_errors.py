"""Every failure has one body, worded by the face that owns the path."""

import re

import httpx
import pytest

from tests.edges.server import WebProcess

KNOWLEX, QUERY, SAME_VIEW = "/api/v1/probe/fail", "/query", "/api/v1/rag/query"
PLATFORM, PLATFORM_QUERY = "/v1/documents", "/v1/query"
DRF = "/api/v1/probe/fail-in-drf"
EVERYWHERE = (KNOWLEX, DRF, QUERY, SAME_VIEW, PLATFORM, PLATFORM_QUERY)


def check_body(response: httpx.Response) -> dict[str, object]:
    """The body of the specification, and its headers; returns it."""
    body: dict[str, object] = response.json()
    id_key = "request_id" if response.request.url.path.startswith(("/v1/", "/mcp")) else "requestId"
    assert set(body) == {"status", "error", "message", "details", "timestamp", id_key}
    assert body["status"] == response.status_code
    assert body[id_key] == response.headers["X-Request-ID"]
    assert isinstance(body["details"], dict)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(body["timestamp"]))
    assert response.headers["Content-Type"] == "application/json"
    return body


def fail(web: WebProcess, path: str, name: str) -> httpx.Response:
    return web.client.post(path, headers={"X-Raise": name})


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("field", 400, "VALIDATION_ERROR"),
        ("unauthorized", 401, "UNAUTHORIZED"),
        ("forbidden", 403, "FORBIDDEN"),
        ("denied", 403, "FORBIDDEN"),
        ("not_found", 404, "NOT_FOUND"),
        ("http404", 404, "NOT_FOUND"),
        ("duplicate", 409, "DUPLICATE"),
        ("too_large", 413, "PAYLOAD_TOO_LARGE"),
        ("media_type", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("unreadable", 422, "UNPROCESSABLE"),
        ("rate", 429, "RATE_LIMITED"),
        ("throttled", 429, "RATE_LIMITED"),
        ("unexpected", 500, "INTERNAL_ERROR"),
        ("data", 500, "INTERNAL_ERROR"),
        ("disk_full", 507, "INSUFFICIENT_STORAGE"),
        ("suspicious", 400, "VALIDATION_ERROR"),
        ("drf_validation", 400, "VALIDATION_ERROR"),
        ("drf_unauthenticated", 401, "UNAUTHORIZED"),
    ],
)
def test_a_failure_is_the_same_everywhere(
    web: WebProcess, path: str, name: str, status: int, code: str
) -> None:
    response = fail(web, path, name)

    assert (response.status_code, check_body(response)["error"]) == (status, code)


@pytest.mark.parametrize(
    ("path", "name", "status", "code"),
    [
        *((KNOWLEX, name, 500, "RETRIEVAL_FAILED") for name in ("retrieval",)),
        *((KNOWLEX, name, 500, "SYNTHESIS_FAILED") for name in ("synthesis", "timeout")),
        *((KNOWLEX, name, 500, "EMBEDDING_FAILED") for name in ("embedding", "embedder")),
        *((DRF, name, 503, "SERVICE_UNAVAILABLE") for name in ("database", "broker", "operational", "pool")),
        *((KNOWLEX, name, 503, "SERVICE_UNAVAILABLE") for name in ("database", "broker", "redis")),
        *(
            (QUERY, name, 503, "RETRIEVAL_FAILED")
            for name in ("retrieval", "database", "operational", "broker")
        ),
        *((SAME_VIEW, name, 503, "RETRIEVAL_FAILED") for name in ("retrieval", "database", "embedder")),
        *((QUERY, name, 503, "SYNTHESIS_FAILED") for name in ("synthesis", "timeout")),
        (SAME_VIEW, "synthesis", 503, "SYNTHESIS_FAILED"),
        *(
            (PLATFORM, name, 503, "SERVICE_UNAVAILABLE")
            for name in ("retrieval", "synthesis", "database", "pool")
        ),
        (QUERY, "question", 400, "VALIDATION_ERROR"),
        (KNOWLEX, "question", 400, "VALIDATION_ERROR"),
        (PLATFORM_QUERY, "question", 400, "INVALID_QUERY"),
        (PLATFORM, "question", 400, "VALIDATION_ERROR"),
    ],
)
def test_a_face_words_a_failure_its_own_way(
    web: WebProcess, path: str, name: str, status: int, code: str
) -> None:
    response = fail(web, path, name)

    assert (response.status_code, check_body(response)["error"]) == (status, code)


@pytest.mark.parametrize("path", [KNOWLEX, DRF, QUERY])
@pytest.mark.parametrize("name", ["unexpected", "data", "operational", "redis", "disk_full", "suspicious"])
def test_nothing_internal_reaches_the_client(web: WebProcess, path: str, name: str) -> None:
    response = fail(web, path, name)

    assert "s3cret" not in response.text
    assert "Traceback" not in response.text


def test_what_nobody_foresaw_and_an_unknown_path_are_told_in_the_words_of_the_specification(
    web: WebProcess,
) -> None:
    assert check_body(fail(web, KNOWLEX, "unexpected"))["message"] == "Something went wrong"
    assert check_body(web.client.get("/v1/nothing"))["message"] == "Resource not found"


def test_an_unexpected_failure_is_logged_with_its_traceback_and_request_id(web: WebProcess) -> None:
    response = fail(web, KNOWLEX, "unexpected")

    lines = [line for line in web.log.splitlines() if response.headers["X-Request-ID"] in line]
    assert any("RuntimeError" in line and "Traceback" in line for line in lines)


def test_a_validation_failure_names_its_field(web: WebProcess) -> None:
    assert check_body(fail(web, KNOWLEX, "field"))["details"] == {"field": "k"}
    assert check_body(fail(web, DRF, "drf_validation"))["details"] == {"field": "name"}


def test_headers_tell_when_to_come_back_and_how_to_authenticate(web: WebProcess) -> None:
    assert fail(web, KNOWLEX, "rate").headers["Retry-After"] == "9"
    assert fail(web, DRF, "throttled").headers["Retry-After"] == "7"
    assert fail(web, QUERY, "unauthorized").headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/nothing",
        "/api/v1/documents/",
        "/query/",
        "/health/",
        "/v1/nothing",
        "/api/v1/a%00b",
        "/..%2f..%2fetc",
    ],
)
def test_an_unknown_path_is_404_in_json(web: WebProcess, path: str) -> None:
    response = web.client.get(path)

    assert response.status_code == 404
    assert check_body(response)["error"] == "NOT_FOUND"


@pytest.mark.parametrize("path", ["/api/v1/documents/1", "/api/v1/documents/not-a-uuid/chunks"])
def test_a_malformed_id_is_400_in_json(web: WebProcess, path: str) -> None:
    response = web.client.get(path)

    assert response.status_code == 400
    assert check_body(response)["error"] == "VALIDATION_ERROR"


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
@pytest.mark.parametrize("path", ["/api/v1/probe/echo", "/api/v1/probe/echo-in-drf"])
def test_a_wrong_method_is_405_in_json_with_the_right_ones(web: WebProcess, path: str, method: str) -> None:
    response = web.client.request(method, path)

    assert response.status_code == 405
    assert check_body(response)["error"] == "METHOD_NOT_ALLOWED"
    assert "POST" in response.headers["Allow"]


def test_options_tells_the_methods_of_an_async_view(web: WebProcess) -> None:
    response = web.client.options("/api/v1/probe/echo")

    assert (response.status_code, response.headers["Allow"], response.content) == (204, "POST, OPTIONS", b"")


def test_head_goes_with_get(web: WebProcess) -> None:
    response = web.client.head("/api/v1/probe/report")

    assert (response.status_code, response.content) == (200, b"")


def test_a_foreign_host_is_400_in_json(web: WebProcess) -> None:
    response = web.client.get("/api/v1/probe/report", headers={"Host": "evil.example"})

    assert response.status_code == 400
    check_body(response)


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "nonsense", "x" * 5000])
def test_accept_never_changes_the_answer_to_html(web: WebProcess, accept: str) -> None:
    response = web.client.post(
        "/api/v1/probe/echo-in-drf", json={"a": 1}, headers={"Accept": accept}, params={"format": "api"}
    )

    assert response.status_code == 200
    assert response.json()["received"] == {"a": 1}
