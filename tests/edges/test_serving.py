"""Waiting costs no thread; a client that leaves frees everything; every response carries its headers."""

import asyncio
import json
import re

import httpx
import pytest

from tests.edges.server import WebProcess
from tests.edges.test_errors import fail
from tests.support.waiting import wait_until

WAIT = "/api/v1/probe/wait"


def test_two_hundred_who_wait_take_no_thread(web: WebProcess) -> None:
    before = web.report["threads"]

    async def ask_all() -> dict[str, int]:
        # None is kept: the server may close one that was idle while a busy machine let the client wait.
        limits = httpx.Limits(max_connections=300, max_keepalive_connections=0)
        async with httpx.AsyncClient(base_url=web.client.base_url, limits=limits, timeout=30) as client:
            waiting = [asyncio.create_task(client.post(WAIT, json={"seconds": 60})) for _ in range(200)]
            report: dict[str, int] = {}
            while report.get("waiting", 0) < 200 and not any(task.done() for task in waiting):
                report = (await client.get("/api/v1/probe/report")).json()
            await client.post("/api/v1/probe/release")
            responses = await asyncio.gather(*waiting)
            assert {response.status_code for response in responses} == {200}
            return report

    report = asyncio.run(ask_all())

    assert report["waiting"] == 200
    assert report["threads"] < before + 10  # a process that is still loading its models begins one or two
    assert report["connections_of_loop_thread"] is False


def test_a_client_that_leaves_cancels_its_view_quietly(web: WebProcess) -> None:
    before, logged = web.report, len(_lines_of(web, WAIT))
    body = b'{"seconds": 60}'
    with web.connect() as connection:
        head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(head % WAIT.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        wait_until(lambda: web.report["waiting"] == 1)

    wait_until(lambda: web.report["cancelled"] == before["cancelled"] + 1)
    wait_until(lambda: len(_lines_of(web, WAIT)) == logged + 1, what="its line in the log")
    line = _lines_of(web, WAIT)[-1]
    assert json.loads(line)["status"] == 499
    assert '"level": "ERROR"' not in line


def _lines_of(web: WebProcess, path: str) -> list[str]:
    return [line for line in web.log.splitlines() if path in line]


def test_a_client_that_leaves_a_stream_ends_it(web: WebProcess) -> None:
    before = web.report["cancelled"]
    with web.client.stream("GET", "/api/v1/probe/stream") as response:
        parts = response.iter_bytes()
        assert next(parts).startswith(b"more")
        assert web.report["waiting"] == 1

    wait_until(lambda: web.report["cancelled"] == before + 1)
    assert web.report["waiting"] == 0


def test_sync_views_share_a_bounded_pool_of_threads(web: WebProcess) -> None:
    async def ask_all() -> set[str]:
        async with httpx.AsyncClient(base_url=web.client.base_url, timeout=60) as client:
            posts = (client.post("/api/v1/probe/sync", content=b"x" * 500_000) for _ in range(120))
            responses = await asyncio.gather(*posts)
            return {response.json()["thread"] for response in responses}

    assert len(asyncio.run(ask_all())) <= 32
    assert web.report["threads"] < 60


@pytest.mark.parametrize(
    "path", ["/api/v1/probe/report", "/nothing", "/api/docs", "/admin/login/", "/api/v1/documents/x"]
)
def test_a_sane_request_id_comes_back(web: WebProcess, path: str) -> None:
    response = web.client.get(path, headers={"X-Request-ID": "Trace-1.a_b"})

    assert response.headers["X-Request-ID"] == "Trace-1.a_b"


@pytest.mark.parametrize(
    "claimed", ["", "a b", "x" * 129, "a\tb", "<script>", "é".encode().decode("latin-1"), "a,b"]
)
def test_any_other_request_id_is_replaced_by_a_new_one(web: WebProcess, claimed: str) -> None:
    response = web.client.get("/nothing", headers={"X-Request-ID": claimed.encode("latin-1")})

    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", response.json()["requestId"]
    )
    assert response.headers["X-Request-ID"] == response.json()["requestId"]


@pytest.mark.parametrize(
    "path", ["/api/v1/probe/report", "/nothing", "/api/docs", "/admin/login/", "/api/schema"]
)
def test_every_response_carries_security_headers(web: WebProcess, path: str) -> None:
    headers = web.client.get(path).headers

    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "Cross-Origin-Opener-Policy" not in headers  # over plain http a browser takes it for an error
    script_sources = dict(
        part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";")
    )
    assert script_sources["default-src"] in ("'self'", "'none'")
    assert "script-src" not in script_sources


def test_the_docs_work_offline_and_without_inline_scripts(web: WebProcess) -> None:
    page = web.client.get("/api/docs").text
    sources = re.findall(r'(?:src|href)="([^"]+)"', page)

    assert sources
    assert re.search(r"<script>", page) is None
    for source in sources:
        assert source.startswith("/")
        assert web.client.get(source.replace("&amp;", "&")).status_code == 200, source


def test_static_files_of_the_admin_are_served(web: WebProcess) -> None:
    response = web.client.get("/static/admin/css/base.css")

    assert (response.status_code, response.headers["Content-Type"]) == (200, 'text/css; charset="utf-8"')
    assert int(response.headers["Content-Length"]) == len(response.content) > 1000
    assert web.client.get("/static/../knowlex/settings.py").status_code == 404
    assert web.client.get("/static/admin/nothing.css").status_code == 404


def test_the_schema_describes_every_route(web: WebProcess) -> None:
    response = web.client.get("/api/schema")
    schema = response.json()

    assert response.headers["Content-Type"].startswith("application/")
    assert schema["openapi"].startswith("3.")
    assert {
        *("/api/v1/documents", "/api/v1/documents/{}", "/api/v1/documents/{}/chunks"),
        *(
            "/api/v1/embeddings/generate",
            "/api/v1/embeddings/generate/{}",
            "/api/v1/embeddings/search",
        ),
        *("/api/v1/rag/ask", "/api/v1/rag/query", "/query", "/health"),
    } <= {re.sub(r"{\w+}", "{}", path) for path in schema["paths"]}
    assert not any("<" in path for path in schema["paths"])
    operations = [operation for item in schema["paths"].values() for operation in item.values()]
    assert all(operation["responses"] for operation in operations)
    names = [operation["operationId"] for operation in operations]
    assert sorted(names) == sorted(set(names))


def test_the_log_has_one_line_a_request_without_query_string_or_body(web: WebProcess) -> None:
    response = web.client.post("/api/v1/probe/echo?secret=1", json={"query": "my private question"})

    lines = [json.loads(line) for line in web.log.splitlines() if response.headers["X-Request-ID"] in line]
    assert [(line["method"], line["path"], line["status"], line["logger"]) for line in lines] == [
        ("POST", "/api/v1/probe/echo", 200, "knowlex.access")
    ]
    assert lines[0]["duration_ms"] >= 0
    assert "secret" not in web.log
    assert "private question" not in web.log


def test_expected_failures_are_no_errors_in_the_log(web: WebProcess) -> None:
    response = fail(web, "/query", "synthesis")

    levels = [
        json.loads(line)["level"] for line in web.log.splitlines() if response.headers["X-Request-ID"] in line
    ]
    assert sorted(levels) == ["INFO", "WARNING"]
