"""200 documents are ingested while the broker is flushed, workers are killed and PostgreSQL crashes.

What strikes when is drawn by chance: `pytest tests/faults/test_chaos.py -m slow --chaos-seed 7`.
"""

import base64
import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import httpx
import pytest
import redis

from tests.conftest import provider_env
from tests.provider import Provider
from tests.support.invariants import (
    assert_asked_once,
    assert_documents_whole,
    assert_embedded_once,
    assert_own_vectors,
    assert_settled,
)
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow
JOBS, A_JOB = 10, 20
BLOWS = ["child"] * 16 + ["worker", "flush"] * 8 + ["broker", "database"] * 4
KINDS = ("pdf", "markdown", "html", "text", "duplicate", "unreadable")


@pytest.fixture
def stack(make_stack: Callable[..., Stack], cluster: Postgres, provider: Provider) -> Stack:
    return make_stack(cluster=cluster, workers=4, **provider_env(provider))


def documents(chance: random.Random) -> list[tuple[str, dict[str, Any]]]:
    """(kind, a document as /v1/ingest takes it); duplicates are equal to one that came before."""
    made: list[tuple[str, dict[str, Any]]] = []
    for number in range(JOBS * A_JOB):
        good = [document for kind, document in made if kind in KINDS[:4]]
        kind = chance.choices(KINDS, weights=(6, 4, 3, 3, 1, 1))[0] if good else "pdf"
        made.append((kind, chance.choice(good) if kind == "duplicate" else document(kind, number)))
    return made


def document(kind: str, number: int) -> dict[str, Any]:
    """Of some 10 to 20 chunks, with facts of its own."""
    lines = [fact(100 * number + n) for n in range(20)]
    content, name = {
        "pdf": lambda: (facts_pdf(20, first=100 * number), "facts.pdf"),
        "markdown": lambda: (f"# Part {number}\n\n{' '.join(lines)}\n".encode(), "facts.md"),
        "html": lambda: (html(number, lines), "facts.html"),
        "text": lambda: ("\n\n".join(lines).encode(), "facts.txt"),
        "unreadable": lambda: (b"%PDF-1.7 nothing but noise " + str(number).encode(), "broken.pdf"),
    }[kind]()
    source = {"type": "file", "filename": f"{number}-{name}", "content": base64.b64encode(content).decode()}
    return {"source": source, "metadata": {"number": number}}


def html(number: int, lines: list[str]) -> bytes:
    body = "".join(f"<p>{line}</p>" for line in lines)
    page = f"<html><head><title>Page {number}</title></head><body><h1>Page {number}</h1>{body}</body></html>"
    return page.encode()


def persistently(stop: Event, call: Callable[[], httpx.Response]) -> dict[str, Any]:
    """The answer of the first try that succeeds; it carries an Idempotency-Key, so trying again is safe."""
    while not stop.wait(0.05):
        try:
            response = call()
        except httpx.TransportError:
            continue
        if response.status_code == 200:
            answer: dict[str, Any] = response.json()
            return answer
        assert response.status_code in (409, 503), response.text
    return {}


def strike(stack: Stack, blow: str, chance: random.Random) -> None:
    if blow == "worker":
        stack.kill_worker()
    elif blow == "flush":
        redis.Redis.from_url(stack.env["REDIS_URL"]).flushall()
    elif blow == "broker":
        stack.stop_broker(kill=True, forget=True)
    elif blow == "database":
        stack.postgres.restart(crash=True)
    elif children := stack.worker_children():
        chance.choice(children).kill()
    stack.ensure_running()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(JOBS)
    yield pool
    pool.shutdown(wait=False, cancel_futures=True)


def test_200_documents_all_end_nothing_twice_nothing_lost(
    stack: Stack, provider: Provider, threads: ThreadPoolExecutor, chance: random.Random
):
    stop = Event()
    provider.takes(0.05)
    made = documents(chance)
    collection = stack.sql("SELECT id FROM documents_collection WHERE name = 'default'")[0]["id"]

    def post(number: int) -> httpx.Response:
        some = [document for _, document in made[number * A_JOB : (number + 1) * A_JOB]]
        body = {"collection_id": str(collection), "documents": some}
        return stack.client.post("/v1/ingest", json=body, headers={"Idempotency-Key": f"job-{number}"})

    calls = [threads.submit(persistently, stop, lambda n=n: post(n)) for n in range(JOBS)]
    try:
        for blow in chance.sample(BLOWS, len(BLOWS)):
            strike(stack, blow, chance)
        wait_until(lambda: all(call.done() for call in calls), 60, "all jobs to be accepted")
    finally:
        stop.set()

    jobs = [call.result() for call in calls]
    assert stack.count("documents_ingestjob") == JOBS  # no job twice, however often it was asked for
    ended = [wait_ended(stack, job["job_id"]) for job in jobs]

    kinds = Counter(kind for kind, _ in made)
    good = sum(kinds[kind] for kind in KINDS[:4])
    codes = Counter(line["error_code"] or "" for job in ended for line in job["documents"])
    assert codes == Counter({"": good, "DUPLICATE": kinds["duplicate"], "UNPROCESSABLE": kinds["unreadable"]})
    assert stack.count("documents_document", "status = 'completed'") == good
    assert_settled(stack)
    assert_embedded_once(stack)
    assert_own_vectors(stack)
    assert_asked_once(stack, provider, beyond=len(BLOWS) * 80)
    assert_documents_whole(stack)
    assert "broken" not in stack.manage("sanity").lower()


def wait_ended(stack: Stack, job_id: str) -> dict[str, Any]:
    def ended() -> dict[str, Any] | None:
        job: dict[str, Any] = stack.client.get(f"/v1/ingest/{job_id}", params={"wait": 10}).json()
        return job if job["status"] in ("completed", "failed") else None

    return wait_until(ended, 150, f"the job {job_id} to end")
