"""PostgreSQL restarted, killed, gone, hanging, full, read-only: in the middle of everything.

On a cluster of its own, whose data lie on a disk of memory where that is allowed.
"""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import ExitStack, suppress
from typing import Any

import httpx
import openai
import psycopg
import pytest

from knowlex.embedded.services import bin_dir
from tests.answers.test_mcp import call as call_tool
from tests.conftest import provider_env
from tests.edges.test_health import becomes
from tests.faults.conftest import Background
from tests.platform import talk
from tests.platform.test_openai import asked, client_of
from tests.provider import Provider
from tests.support import environment, mounts
from tests.support.api import ask, assert_problem, embed, generate, ingest, query, search, together, upload
from tests.support.invariants import (
    assert_asked_once,
    assert_documents_whole,
    assert_embedded_once,
    assert_own_vectors,
    wait_embedded,
)
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf, question
from tests.support.waiting import wait_until

CONNECTIONS = "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = %s"
END_CONNECTIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
)
ALLOWED_S = 5.0
CROWD_S = ALLOWED_S + 3.0  # dozens at once, with all of them and the server on a machine that others use too


@pytest.fixture(scope="module")
def _stack(cluster: Postgres, _provider: Provider) -> Iterator[Stack]:
    with Stack(cluster, environment.FOLDER / "crashing", workers=4, env=provider_env(_provider)) as stack:
        yield stack


@pytest.fixture
def stack(_stack: Stack, provider: Provider) -> Stack:
    _stack.postgres.ensure_running()
    answers_again(_stack)
    _stack.ensure_running()
    _stack.clean()
    return _stack


def answers_again(stack: Stack, within_s: float = 15.0) -> None:
    wait_until(lambda: stack.client.get("/api/v1/documents").status_code == 200, within_s, "an answer")


def embedded(stack: Stack, facts: int = 10) -> str:
    """The id of a document that can be asked."""
    document: str = ingest(stack.client, facts_pdf(facts))["documentId"]
    embed(stack.client)
    return document


def assert_works(stack: Stack, *, first: int) -> None:
    """Asking and storing; first: of facts that no document has yet."""
    assert query(stack.client, question(1)).status_code == 200
    ingest(stack.client, facts_pdf(10, first=first))
    assert embed(stack.client) > 0
    wait_embedded(stack)
    assert_documents_whole(stack)
    assert_embedded_once(stack)
    assert_own_vectors(stack)


def crash_during_upload(stack: Stack, background: Background, *, first: int, after_s: float) -> None:
    call = background(upload, stack.client, facts_pdf(400, first=first))
    wait([call], timeout=after_s)
    stack.postgres.restart(crash=True)
    reply = call.result(60)
    assert reply.status_code in (201, 503), reply.text
    answers_again(stack)
    listed = stack.client.get("/api/v1/documents").json()
    assert len(listed) == stack.count("documents_document") == (reply.status_code == 201)


def test_f13_a_crash_during_an_upload_keeps_it_whole_or_not_at_all(
    stack: Stack, background: Background, chance: random.Random
):
    crash_during_upload(stack, background, first=1000, after_s=chance.uniform(0, 0.4))
    ingest(stack.client, facts_pdf(3, first=9000))
    becomes(stack.client, database="connected")


@pytest.mark.slow
@pytest.mark.parametrize("after_s", [0, 0.1, 0.2, 0.3])
def test_f13_at_each_of_four_moments(stack: Stack, background: Background, after_s: float):
    crash_during_upload(stack, background, first=1000, after_s=after_s)


def test_f16_one_backend_killed_is_survived_by_the_next_request(stack: Stack):
    embedded(stack)
    backend = stack.sql(
        "SELECT pid FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()", stack.database
    )[0]["pid"]
    os.kill(backend, signal.SIGKILL)
    answers_again(stack)
    assert query(stack.client, question(1)).status_code == 200


def test_f14_a_crash_during_embedding_loses_nothing(
    stack: Stack, provider: Provider, background: Background, chance: random.Random
):
    chunks = ingest(stack.client, facts_pdf(200))["totalChunks"]
    provider.hold(on="embeddings")
    call = background(generate, stack.client)
    provider.wait_held(count=chance.randint(1, 4))
    stack.postgres.restart(crash=True)
    provider.release()
    wait_embedded(stack, 60)
    assert call.result(60).status_code in (200, 503)
    assert stack.count("embeddings_embedding") == chunks
    assert_documents_whole(stack)
    assert_embedded_once(stack)
    assert_own_vectors(stack)
    assert_asked_once(stack, provider, beyond=80)


def test_f15_without_database_everybody_is_told_within_5_s_and_served_again_after(stack: Stack):
    embedded(stack)
    before = stack.sql(CONNECTIONS, stack.database)[0]["n"]
    files = stack.stored_files()
    clients = [httpx.Client(base_url=stack.url, timeout=30) for _ in range(24)]
    stack.postgres.stop(crash=True)
    try:
        started = time.monotonic()
        calls: list[Callable[[], httpx.Response]] = [
            *(lambda c=c: c.get("/api/v1/documents") for c in clients[:8]),
            *(lambda c=c, n=n: upload(c, facts_pdf(2, first=50 + n)) for n, c in enumerate(clients[8:16])),
            *(lambda c=c: query(c, question(1)) for c in clients[16:]),
        ]
        replies = together(calls)
        assert time.monotonic() - started < CROWD_S
        for reply in replies[:16]:
            assert_problem(reply, 503, "SERVICE_UNAVAILABLE")
        for reply in replies[16:]:
            assert_problem(reply, 503, "RETRIEVAL_FAILED")
        assert_problem(ask(clients[0], question(1)), 503)
        assert_other_doors_tell(stack)
        gone = {"database": "unreachable", "database_writes": "unreachable", "vector_store": "unreachable"}
        assert becomes(clients[0], status="unhealthy", **gone)[0] == 503
        assert stack.stored_files() == files
    finally:
        stack.postgres.start()
    answers_again(stack)
    assert_works(stack, first=200)
    after = stack.sql(CONNECTIONS, stack.database)[0]["n"]
    assert after <= before + 5


def assert_other_doors_tell(stack: Stack) -> None:
    """What the clients of OpenAI's API and of MCP make of a database that is away."""
    client = client_of(stack)
    for call in (
        client.models.list,
        lambda: client.chat.completions.create(model="knowlex", messages=asked(question(1))),
        lambda: client.chat.completions.create(model="knowlex", messages=asked(question(1)), stream=True),
    ):
        with pytest.raises(openai.InternalServerError) as raised:
            call()
        assert (raised.value.status_code, raised.value.type) == (503, "server_error")
    for tool, argument in (("search", "query"), ("ask", "question")):
        assert call_tool(stack, tool, **{argument: question(1)})["error"] == "SERVICE_UNAVAILABLE"


def each_kind(stack: Stack, document_id: str, numbers: Iterator[int]) -> dict[str, Callable[..., Any]]:
    """A request of each kind; each makes its own connection to the database, or finds one."""
    return {
        "list": lambda c: c.get("/api/v1/documents"),
        "one": lambda c: c.get(f"/v1/documents/{document_id}"),
        "upload": lambda c: upload(c, facts_pdf(2, first=100 * next(numbers))),
        "ingest": lambda c: talk.post(c, talk.text(fact(next(numbers)), "fact.txt")),
        "delete": lambda c: c.delete(f"/api/v1/documents/{document_id}"),
        "search": lambda c: search(c, fact(1)),
        "exact": lambda c: c.post("/v1/search", json={"query": "lighthouse", "settings": {"mode": "exact"}}),
        "ask": lambda c: ask(c, question(1)),
        "query": lambda c: query(c, question(next(numbers))),
        "stream": lambda c: c.post("/v1/query", json={"query": question(3), "stream": True}),
        "generate": generate,
        "history": lambda c: c.get("/v1/queries"),
        "health": lambda c: c.get("/health"),
        "models": lambda c: c.get("/v1/models"),
        "chat": lambda c: c.post("/v1/chat/completions", json=chat(next(numbers))),
        "chat, streamed": lambda c: c.post("/v1/chat/completions", json=chat(next(numbers), stream=True)),
    }


def chat(number: int, **fields: Any) -> dict[str, Any]:
    return {"model": "knowlex", "messages": asked(question(number)), **fields}


def test_a_database_that_hangs_is_told_within_5_s_and_used_again_after(stack: Stack):
    """Its connections stay open and nothing answers: libpq alone would wait for ever, in a thread each."""
    document = embedded(stack)
    kinds = each_kind(stack, document, iter(range(20, 2000)))
    clients = [httpx.Client(base_url=stack.url, timeout=40) for _ in range(4 * len(kinds))]
    together([lambda c=c: c.get("/api/v1/documents") for c in clients[:8]])  # connections are open
    took: dict[str, float] = {}
    with stack.postgres.hanging():
        for kind in ("list", "query"):
            started = time.monotonic()
            assert kinds[kind](clients[0]).status_code == 503
            took[kind] = time.monotonic() - started
        started = time.monotonic()
        replies = together(
            [lambda c=c, k=k: kinds[k](c) for c, k in zip(clients, list(kinds) * 4, strict=True)]
        )
        took["a crowd"] = time.monotonic() - started
    assert max(took["list"], took["query"]) < ALLOWED_S, took
    assert took["a crowd"] < CROWD_S, took
    assert {reply.status_code for reply in replies} == {503}
    answers_again(stack)
    assert_works(stack, first=5000)
    assert stack.client.get(f"/v1/documents/{document}").status_code == 200


def test_f17_with_all_connections_taken_requests_are_refused_in_time_and_served_after(stack: Stack):
    document = embedded(stack)
    kinds = each_kind(stack, document, iter(range(20, 2000)))
    clients = [httpx.Client(base_url=stack.url, timeout=40) for _ in range(2 * len(kinds))]
    url = stack.postgres.url("postgres")
    with ExitStack() as taken, psycopg.connect(url, autocommit=True) as admin:

        def take_all() -> None:
            with suppress(psycopg.OperationalError):
                while True:
                    taken.enter_context(psycopg.connect(url))

        take_all()
        admin.execute(END_CONNECTIONS, [stack.database])
        take_all()
        started = time.monotonic()
        replies = together(
            [lambda c=c, k=k: kinds[k](c) for c, k in zip(clients, list(kinds) * 2, strict=True)]
        )
        assert time.monotonic() - started < CROWD_S
    statuses = {reply.status_code for reply in replies}
    assert 503 in statuses
    assert statuses <= {200, 201, 202, 204, 404, 503}
    answers_again(stack)
    assert_works(stack, first=5000)
    becomes(stack.client, status="healthy")


def test_a_database_that_only_reads_answers_questions_and_refuses_the_rest(stack: Stack):
    embedded(stack)
    stack.postgres.execute(f"ALTER DATABASE {stack.database} SET default_transaction_read_only = on")
    stack.postgres.execute(END_CONNECTIONS, stack.database)
    try:
        found = becomes(stack.client, database_writes="refused", status="degraded")
        assert (found[0], found[1]["database"], found[1]["files"]) == (200, "connected", "writable")
        assert query(stack.client, question(2)).status_code == 200
        assert_problem(upload(stack.client, facts_pdf(2, first=50)), 503, "SERVICE_UNAVAILABLE")
        refused = talk.post(stack.client, talk.text(fact(60), "fact.txt"))
        assert_problem(refused, 503, "SERVICE_UNAVAILABLE")
        assert query(stack.client, question(3)).status_code == 200  # nobody was told that it is gone
    finally:
        stack.postgres.execute(f"ALTER DATABASE {stack.database} RESET default_transaction_read_only")
        stack.postgres.execute(END_CONNECTIONS, stack.database)
    becomes(stack.client, database_writes="accepted", status="healthy")
    assert_works(stack, first=500)
    wait_until(lambda: stack.count("rag_query") >= 3, what="the questions' records, which waited")


def test_f45_a_full_disk_under_the_database_is_told_and_harms_nothing(stack: Stack):
    folder = stack.postgres.data_dir
    if not folder.is_mount():
        pytest.skip("needs the right to mount a disk of memory (root with CAP_SYS_ADMIN)")
    embedded(stack)
    statuses = []
    with mounts.filled(folder):
        becomes(stack.client, database_writes="no_room", status="degraded")
        for number in range(20):
            statuses.append(upload(stack.client, facts_pdf(400, first=1000 * (number + 1))).status_code)
            if statuses[-1] != 201:
                break
        assert statuses[-1] == 503, statuses
        assert stack.client.get("/health").status_code in (200, 503)
        assert query(stack.client, question(4)).status_code in (200, 503)
    stack.postgres.ensure_running()  # it ends itself where it finds no room for its log
    answers_again(stack, 30)
    assert_works(stack, first=90_000)
    becomes(stack.client, database_writes="accepted", status="healthy")
    assert "broken" not in stack.manage("sanity").lower()
    dump = [bin_dir() / "pg_dump", "--file", os.devnull, stack.env["DATABASE_URL"]]
    subprocess.run(dump, check=True, capture_output=True)
