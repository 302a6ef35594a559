"""Uploads that are cut off, raced, deleted meanwhile or meant to choke the extractor."""

import random
import socket
import struct
import time
import zlib
from pathlib import Path

import httpx
import psutil
import pytest

from tests.faults.conftest import Background
from tests.support.api import ask, assert_problem, embed, ingest, search, together, upload
from tests.support.invariants import assert_documents_whole, assert_embedded_once
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf, question
from tests.support.waiting import wait_until


def staged_files(stack: Stack) -> list[Path]:
    """Files below the data folder that are neither logs nor the broker's nor kept originals."""
    skipped = {"broker", "valkey", "postgres", "logs", "files"}
    return [
        path
        for path in stack.folder.rglob("*")
        if path.is_file()
        and not skipped & set(path.relative_to(stack.folder).parts)
        and path.suffix != ".log"
    ]


def clients(stack: Stack, count: int) -> list[httpx.Client]:
    return [httpx.Client(base_url=stack.url, timeout=90) for _ in range(count)]


def test_f35_a_client_that_leaves_in_mid_upload_leaves_nothing_behind(server: Stack):
    before, logged = staged_files(server), len(server.log("web"))
    head = (
        b"POST /api/v1/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n"
        b"Content-Type: multipart/form-data; boundary=x\r\n\r\n"
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
    )
    for _ in range(5):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        connection.sendall(head + b"%PDF-1.7" + bytes(1_000_000))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    wait_until(lambda: staged_files(server) == before, what="no temporary file")
    assert server.client.get("/api/v1/documents").json() == []
    assert "Traceback" not in server.log("web")[logged:]
    assert_documents_whole(server)


@pytest.mark.slow
def test_f37_fifty_races_of_equal_uploads(server: Stack):
    racers = clients(server, 20)
    for race in range(50):
        data = facts_pdf(5, first=10 * race)
        replies = together([lambda c=c, data=data: upload(c, data) for c in racers])
        assert sorted(reply.status_code for reply in replies) == [201] + [409] * 19
    assert server.count("documents_document") == 50
    assert_documents_whole(server)


def test_f38_an_equal_upload_while_the_first_is_being_deleted(server: Stack):
    data = facts_pdf(10)
    one, other = clients(server, 2)
    document_id = ingest(one, data)["documentId"]
    for _ in range(10):
        removed, reply = together(
            [
                lambda d=document_id: one.delete(f"/api/v1/documents/{d}"),
                lambda: upload(other, data),
            ]
        )
        assert removed.status_code == 204
        assert reply.status_code in (201, 409)
        document_id = (
            reply.json()["documentId"] if reply.status_code == 201 else ingest(one, data)["documentId"]
        )
        assert_documents_whole(server)


def test_f42_of_ten_deletes_at_once_one_succeeds(server: Stack, client: httpx.Client):
    path = f"/api/v1/documents/{ingest(client, facts_pdf(10))['documentId']}"
    replies = together([lambda c=c: c.delete(path) for c in clients(server, 10)])
    assert sorted(reply.status_code for reply in replies) == [204] + [404] * 9
    assert_documents_whole(server)


def test_f43_deleting_during_search_and_ask_never_fails_them(server: Stack, client: httpx.Client):
    ids = [ingest(client, facts_pdf(20, first=50 * n))["documentId"] for n in range(6)]
    embed(client)

    def read(reader: httpx.Client) -> list[httpx.Response]:
        return [call for n in range(12) for call in (search(reader, fact(50)), ask(reader, question(50 + n)))]

    def delete() -> list[httpx.Response]:
        return [client.delete(f"/api/v1/documents/{document_id}") for document_id in ids]

    results = together([lambda c=c: read(c) for c in clients(server, 4)] + [delete])
    assert {reply.status_code for reply in results[-1]} == {204}
    for reply in (reply for replies in results[:-1] for reply in replies):
        assert reply.status_code == 200
        rows = reply.json() if isinstance(reply.json(), list) else reply.json()["sourceChunks"]
        assert all(row["content"] for row in rows)
    assert search(client, fact(50)).json() == []
    assert_documents_whole(server)
    assert_embedded_once(server)


A_LITTLE = 0.1  # of a bomb: it is over after some seconds, by itself or by the limit of its size


def endless_kids(share: float = 1.0) -> bytes:
    """A page tree that names its one page 100,000 times, or a share of that."""
    body = facts_pdf(1)
    start, end = body.index(b"/Kids ["), body.index(b"]", body.index(b"/Kids ["))
    reference = body[start + 7 : end]
    return body[:start] + b"/Kids [" + (reference + b" ") * int(share * 100_000) + body[end:]


def packed_strings(share: float = 1.0) -> bytes:
    """A page of 40 MB of strings, or a share of that, packed into a few kilobytes."""
    stream = zlib.compress(
        b"BT /F1 9 Tf " + b"(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj " * int(share * 1_000_000) + b"ET", 9
    )
    content = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream)
    body = facts_pdf(1)
    number = body.index(b"<< /Length")
    return body[:number] + content + body[body.index(b"endstream") + 9 :]


def rss_mb(process_id: int) -> float:
    return float(psutil.Process(process_id).memory_info().rss / 1e6)


@pytest.mark.slow
@pytest.mark.parametrize("bomb", [endless_kids, packed_strings])
def test_f47_a_bomb_is_answered_in_time_outside_the_web_process(server: Stack, client: httpx.Client, bomb):
    assert_harmless(server, client, bomb())


def test_f47_a_small_bomb_is_answered_outside_the_web_process(
    server: Stack, client: httpx.Client, chance: random.Random
):
    assert_harmless(server, client, chance.choice([endless_kids, packed_strings])(A_LITTLE))


def assert_harmless(server: Stack, client: httpx.Client, bomb: bytes) -> None:
    ingest(client, facts_pdf(1, first=50))  # loads what tells the language of a text
    server.warm_web()
    assert server.web is not None
    before = rss_mb(server.web.pid)
    reply = client.post("/api/v1/documents", files={"file": ("bomb.pdf", bomb)}, timeout=80)
    assert reply.status_code in (201, 422)
    assert rss_mb(server.web.pid) < before + 50
    started = time.monotonic()
    ingest(client, facts_pdf(2, first=99))
    assert time.monotonic() - started < 10
    assert_documents_whole(server)


@pytest.mark.parametrize(
    ("count", "share"), [(4, A_LITTLE), pytest.param(8, 1.0, marks=pytest.mark.slow)], ids=["small", "large"]
)
def test_f48_bombs_do_not_keep_good_uploads_out(
    server: Stack, background: Background, count: int, share: float
):
    bombs = [
        background(upload, c, endless_kids(share) + b"%%%d" % n) for n, c in enumerate(clients(server, count))
    ]
    good = together(
        [lambda c=c, n=n: upload(c, facts_pdf(5, first=9 * n)) for n, c in enumerate(clients(server, 20))]
    )
    for reply in good:
        if reply.status_code != 201:
            assert_problem(reply, 503, "SERVICE_UNAVAILABLE")
            assert reply.headers["Retry-After"]
    assert {reply.result(120).status_code for reply in bombs} <= {201, 422, 503}
    assert_documents_whole(server)
