"""Below HTTP: what the parser refuses is answered in the error body, and the connection closed."""

import json
from contextlib import ExitStack

import pytest

from tests.edges.server import WebProcess, read_response

GET = b"GET /api/v1/probe/report HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /api/v1/probe/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SMUGGLED = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"G\x00T /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        GET + b"Host: localhost\r\n\r\n",
        GET + b"Bad Header: 1\r\n\r\n",
        GET + b"A\x00: 1\r\n\r\n",
        GET + b"A: 1\x00\r\n\r\n",
        POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n" + SMUGGLED,
        POST + b"Content-Length: -1\r\n\r\n{}",
        POST + b"Content-Length: +2\r\n\r\n{}",
        POST + b"Content-Length: 0x2\r\n\r\n{}",
        POST + b"Content-Length: 99999999999999999999999\r\n\r\n{}",
        POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\n",
    ],
    ids=repr,
)
def test_malformed_and_smuggling_requests_are_400_and_closed(web: WebProcess, request_bytes: bytes) -> None:
    status, head, body = web.raw(request_bytes)

    assert status == 400
    assert b"connection: close" in head
    assert b"x-content-type-options: nosniff" in head
    problem = json.loads(body)  # one response, nothing smuggled behind it
    assert (problem["status"], problem["error"]) == (400, "VALIDATION_ERROR")
    assert problem["requestId"].encode() in head


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        GET + b"".join(b"X-%d: 1\r\n" % number for number in range(200)) + b"\r\n",
        GET + b"X: " + b"x" * 100_000 + b"\r\n\r\n",
    ],
    ids=["url", "number", "size"],
)
def test_headers_beyond_any_sense_are_refused(web: WebProcess, request_bytes: bytes) -> None:
    status, _, body = web.raw(request_bytes)

    assert (status, json.loads(body)["error"]) == (431, "HEADERS_TOO_LARGE")


def test_a_client_that_does_not_finish_its_headers_is_cut_off(web: WebProcess) -> None:
    with ExitStack() as opened:
        connections = [opened.enter_context(web.connect()) for _ in range(4)]
        for connection, beginning in zip(connections, (b"", b"GET /api", GET, GET + b"A: "), strict=True):
            connection.sendall(beginning)
        for connection in connections:
            status, _, body = read_response(connection)
            assert (status, json.loads(body)["error"]) == (408, "REQUEST_TIMEOUT")


def test_each_request_on_a_kept_connection_has_limits_of_its_own(web: WebProcess) -> None:
    """Its headers may have their size, and the next one's must come in time again."""
    with web.connect() as connection:
        for _ in range(3):
            connection.sendall(GET + b"X: " + b"x" * 40_000 + b"\r\n\r\n")
            received = b""
            while b'"spools"' not in received:
                received += connection.recv(65536)
            assert received.startswith(b"HTTP/1.1 200")
        connection.sendall(GET + b"A: ")
        status, _, body = read_response(connection)

    assert (status, json.loads(body)["error"]) == (408, "REQUEST_TIMEOUT")


def test_pipelined_requests_are_answered_in_order(web: WebProcess) -> None:
    body = b'{"n": %d}'
    requests = [POST + b"Content-Length: 8\r\n\r\n" + body % number for number in (1, 2)]
    last = POST + b"Connection: close\r\nContent-Length: 8\r\n\r\n" + body % 3
    with web.connect() as connection:
        connection.sendall(b"".join(requests) + last)
        received = b""
        while block := connection.recv(65536):
            received += block

    assert [received.index(b'"n":%d' % number) for number in (1, 2, 3)] == sorted(
        received.index(b'"n":%d' % number) for number in (1, 2, 3)
    )


def test_the_server_does_not_name_itself(web: WebProcess) -> None:
    assert "server" not in web.client.get("/api/v1/probe/report").headers


@pytest.mark.parametrize(("version", "chunked"), [(b"1.0", False), (b"1.1", True)])
def test_who_speaks_http_1_0_gets_a_stream_without_chunks(
    web: WebProcess, version: bytes, chunked: bool
) -> None:
    request = b"GET /api/v1/probe/parts HTTP/%s\r\nHost: localhost\r\nConnection: close\r\n\r\n" % version
    status, head, body = web.raw(request)

    assert (status, b"connection: close" in head) == (200, True)
    assert (b"transfer-encoding: chunked" in head) == chunked
    assert body == (b"4\r\none\n\r\n4\r\ntwo\n\r\n0\r\n\r\n" if chunked else b"one\ntwo\n")


def test_who_speaks_http_1_0_gets_the_length_of_what_has_one(web: WebProcess) -> None:
    status, head, body = web.raw(b"GET /nowhere HTTP/1.0\r\nHost: localhost\r\n\r\n")

    assert (status, b"content-length: %d" % len(body) in head, json.loads(body)["error"]) == (
        404,
        True,
        "NOT_FOUND",
    )
