"""Bodies: counted and timed before a view sees them, and gone from disk afterwards."""

import asyncio
import hashlib
import http.client
import json
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from tests.edges.server import WebProcess, read_response
from tests.edges.test_errors import check_body
from tests.support.waiting import wait_until

MB = 1024 * 1024
UPLOAD, ECHO = "/api/v1/probe/upload", "/api/v1/probe/echo"
HEAD = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def sixty_mb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("edges") / "large"
    with path.open("wb") as file:
        file.truncate(60 * MB)
    yield path
    path.unlink()


def blocks(size: int) -> Iterator[bytes]:
    while size > 0:
        yield b"x" * min(size, 65536)
        size -= 65536


def test_a_large_upload_arrives_whole_by_way_of_the_disk(web: WebProcess) -> None:
    body = bytes(range(256)) * 40_000

    response = web.client.post(UPLOAD, content=body, headers={"Content-Type": "application/json"})

    assert response.json() == {
        "bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
        "on_disk": True,
    }
    assert web.report["spools"] == 0


@pytest.mark.parametrize("path", [UPLOAD, ECHO, "/nothing", "/query"])
@pytest.mark.parametrize("chunked", [False, True])
def test_httpx_is_told_why_a_body_is_too_large(web: WebProcess, path: str, chunked: bool) -> None:
    content = blocks(60 * MB) if chunked else b"x" * (60 * MB)

    response = web.client.post(path, content=content, headers={"Content-Type": "application/json"})

    assert response.status_code == (404 if path == "/nothing" else 413)
    check_body(response)
    assert web.report["spools"] == 0


@pytest.mark.parametrize(
    "headers", [[], ["Expect:"], ["Transfer-Encoding: chunked"], ["Expect: 100-continue"]], ids=repr
)
def test_curl_is_told_why_a_body_is_too_large(web: WebProcess, sixty_mb: Path, headers: list[str]) -> None:
    options = [option for header in headers for option in ("-H", header)]
    command = ["curl", "-sS", "-w", "\n%{http_code}", *options, "--data-binary", f"@{sixty_mb}"]

    done = subprocess.run([*command, f"{web.url}{UPLOAD}"], capture_output=True, text=True, timeout=30)

    body, _, status = done.stdout.rpartition("\n")
    assert (status, json.loads(body)["error"]) == ("413", "PAYLOAD_TOO_LARGE"), done.stderr


@pytest.mark.parametrize("chunked", [False, True])
def test_who_sends_everything_before_reading_is_told_why_it_is_too_large(
    web: WebProcess, chunked: bool
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=30)
    body = blocks(60 * MB) if chunked else b"x" * (60 * MB)

    connection.request("POST", UPLOAD, body)

    assert connection.getresponse().status == 413
    connection.close()


def test_a_body_declared_too_large_is_refused_before_it_is_sent(web: WebProcess) -> None:
    request = HEAD % UPLOAD.encode() + b"Expect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n"

    status, head, _ = web.raw(request)

    assert status == 413
    assert b"100 continue" not in head


def test_a_client_that_asks_is_invited_to_send(web: WebProcess) -> None:
    with web.connect() as connection:
        connection.sendall(
            HEAD % ECHO.encode() + b"Expect: 100-continue\r\nConnection: close\r\nContent-Length: 7\r\n\r\n"
        )
        invitation = connection.recv(1024)
        connection.sendall(b'{"a":1}')
        status, _, body = read_response(connection)

    assert invitation.startswith(b"HTTP/1.1 100")
    assert (status, json.loads(body)["received"]) == (200, {"a": 1})


def test_a_small_refused_body_leaves_the_connection_open(web: WebProcess) -> None:
    request = b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
    with web.connect() as connection:
        connection.sendall(request)
        first = b""
        while b"requestId" not in first:
            first += connection.recv(65536)
        connection.sendall(request.replace(b"Host", b"Connection: close\r\nHost"))
        status, _, _ = read_response(connection)

    assert b"404" in first.split(b"\r\n")[0]
    assert status == 404


def test_one_megabyte_of_json_is_taken_and_one_byte_more_is_not(web: WebProcess) -> None:
    fits = b'{"a":"' + b"x" * (MB - 8) + b'"}'
    headers = {"Content-Type": "application/json"}

    assert web.client.post(ECHO, content=fits, headers=headers).status_code == 200
    assert web.client.post(ECHO, content=fits + b" ", headers=headers).status_code == 413


def test_a_client_that_stops_sending_is_cut_off(web: WebProcess) -> None:
    with web.connect() as connection:
        connection.sendall(HEAD % UPLOAD.encode() + b"Content-Length: 1000000\r\n\r\nhalf")
        started = time.monotonic()
        status, head, body = read_response(connection)

    assert (status, json.loads(body)["error"]) == (408, "REQUEST_TIMEOUT")
    assert b"connection: close" in head
    assert time.monotonic() - started < 5


def test_a_client_that_trickles_is_cut_off_while_others_are_served(web: WebProcess) -> None:
    connections = [web.connect() for _ in range(50)]
    for connection in connections:
        connection.sendall(HEAD % UPLOAD.encode() + b"Content-Length: 1000000\r\n\r\n")
        connection.settimeout(0.01)
    open_ones = set(connections)

    def all_cut_off() -> bool:
        for connection in list(open_ones):
            try:
                connection.sendall(b"x")
                if connection.recv(4096):
                    open_ones.discard(connection)
            except TimeoutError:
                continue
            except OSError:
                open_ones.discard(connection)
        assert web.client.post(ECHO, json={}).elapsed.total_seconds() < 5
        return not open_ones

    try:
        wait_until(all_cut_off, 20, "50 trickling uploads to be cut off")
    finally:
        for connection in connections:
            connection.close()
    wait_until(lambda: web.report["spools"] == 0)


def test_a_client_that_leaves_in_mid_body_leaves_nothing_behind(web: WebProcess) -> None:
    with web.connect() as connection:
        connection.sendall(HEAD % UPLOAD.encode() + b"Content-Length: 5000000\r\n\r\n" + b"x" * 2 * MB)
        wait_until(lambda: web.report["spools"] == 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")

    wait_until(lambda: web.report["spools"] == 0)
    assert '"level": "ERROR"' not in "\n".join(line for line in web.log.splitlines() if UPLOAD in line)


def test_uploads_at_once_do_not_mix(web: WebProcess) -> None:
    async def upload(client: httpx.AsyncClient, number: int) -> bool:
        body = str(number).encode() * 300_000

        async def parts() -> AsyncIterator[bytes]:
            for start in range(0, len(body), 50_000):
                yield body[start : start + 50_000]
                await asyncio.sleep(0)

        response = (await client.post(UPLOAD, content=parts())).raise_for_status()
        return bool(response.json()["sha256"] == hashlib.sha256(body).hexdigest())

    async def all_at_once() -> list[bool]:
        async with httpx.AsyncClient(base_url=web.client.base_url, timeout=60) as client:
            return await asyncio.gather(*(upload(client, number) for number in range(40)))

    assert all(asyncio.run(all_at_once()))


def test_a_body_that_cannot_be_put_on_disk_is_507_and_the_next_one_works(web: WebProcess) -> None:
    folder = web.folder / "tmp"
    folder.rename(web.folder / "elsewhere")
    try:
        response = web.client.post(ECHO, json={"text": "a" * (MB // 2)})
    finally:
        (web.folder / "elsewhere").rename(folder)

    assert check_body(response)["error"] == "INSUFFICIENT_STORAGE"
    assert response.status_code == 507
    assert web.client.post(ECHO, json={"text": "a" * (MB // 2)}).status_code == 200
