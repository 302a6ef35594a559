"""Parts of `up` are killed while documents come in and questions are asked: they come back, nothing is lost.

Which parts in which order is drawn from a seed, which is printed: `pytest … --chaos-seed 7`.
"""

import base64
import os
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from statistics import median
from threading import Event
from typing import Any

import httpx
import psutil
import pytest

from tests.stack.up import Up, documents, manage
from tests.support import processes
from tests.support.texts import fact
from tests.support.waiting import wait_until

PARTS = ("database", "broker", "workers", "web-0", "web-1")
CHILDREN = {"session": "postgres: ", "worker": "celery"}  # processes that the parts themselves replace
STRIKING_S = 120.0
RECOVERY_S = 60.0  # on a crowded machine; on a quiet one 20 s


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    settings = {"KNOWLEX_WEB_PROCESSES": "2", "KNOWLEX_RATE_LIMIT": "off"}
    running = Up.start(tmp_path / "data", "--workers", "2", **settings)
    try:
        yield running
    finally:
        running.end()
        processes.kill_group(running.process)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Another in each run; its summary tells how to have the same again."""
    return int(request.config.option.chaos_seed)


class Load:
    """Documents and questions without a pause, each tried again until it is taken."""

    def __init__(self, base: str) -> None:
        self.client, self._stop = httpx.Client(base_url=base, timeout=30), Event()
        self.jobs: dict[int, str] = {}  # of each document
        self.answered = 0

    def ingest(self, number: int) -> str:
        """Bring in a document of its own; return the job's id."""
        text = "\n\n".join(fact(10 * number + n) for n in range(10))
        content = base64.b64encode(text.encode()).decode()
        source = {"type": "file", "filename": f"{number}.txt", "content": content}
        body = {"collection_id": "default", "documents": [{"source": source}]}
        job = str(self._persist("/v1/ingest", body)["job_id"])
        self.jobs[number] = job
        return job

    def ask(self) -> None:
        self._persist("/v1/query", {"query": f"Which harbour has lighthouse {self.answered}?"})
        self.answered += 1

    def ingest_on(self, first: int) -> None:
        number = first
        while not self._stop.is_set():
            job = self.ingest(number)
            wait_until(lambda job=job: self.ended(job), 2 * RECOVERY_S, "a document to end")
            number += 1

    def ask_on(self) -> None:
        while not self._stop.is_set():
            self.ask()

    def stop(self) -> None:
        self._stop.set()

    def ended(self, job: str) -> dict[str, Any] | None:
        with suppress(httpx.TransportError):
            response = self.client.get(f"/v1/ingest/{job}")
            if response.status_code == 200 and response.json()["status"] in ("completed", "failed"):
                return dict(response.json())
        return None

    def health(self) -> dict[str, Any]:
        with suppress(httpx.TransportError):
            return dict(self.client.get("/health").json())
        return {}

    def _persist(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        deadline = time.monotonic() + 2 * RECOVERY_S
        while time.monotonic() < deadline:
            with suppress(httpx.TransportError):
                response = self.client.post(path, json=body)
                assert response.status_code in (200, 202, 503), response.text
                if response.status_code in (200, 202):
                    return dict(response.json())
        raise AssertionError(f"{path} was not answered for {2 * RECOVERY_S:.0f} s")


def strike(up: Up, victim: str, chance: random.Random) -> bool:
    """kill -9; return False if there was nobody to kill."""
    with suppress(psutil.NoSuchProcess):
        if victim in PARTS:
            up.parts()[victim].kill()
            return True
        part = up.parts()["database" if victim == "session" else "workers"]
        children = [child for child in part.children() if CHILDREN[victim] in " ".join(child.cmdline())]
        if children:
            chance.choice(children).kill()
            return True
    return False


def recover(up: Up, load: Load, number: int, restarts: int) -> float:
    """Wait until all parts run, a question is answered and a new document embedded; return the seconds."""
    began = time.monotonic()

    def whole() -> bool:
        assert up.process.poll() is None, up.said
        told = load.health()
        again = sum(part["restarts"] for part in told.get("parts", {}).values())
        return told.get("status") == "healthy" and again >= restarts

    wait_until(whole, RECOVERY_S, "/health to be healthy")
    load.ask()
    job = load.ingest(number)
    wait_until(lambda: load.ended(job), RECOVERY_S, "a document that came after the kill")
    return time.monotonic() - began


def kill_and_check(up: Up, seed: int, victims: Callable[[random.Random], list[str]]) -> list[float]:
    """Return the seconds of each recovery. In the end nothing is lost, doubled or half done."""
    print(f"seed {seed}")
    chance, load = random.Random(seed), Load(up.ready())
    times, restarts, began = list[float](), 0, time.monotonic()
    pool = ThreadPoolExecutor()
    calls = [pool.submit(load.ingest_on, first) for first in (1_000_000, 2_000_000)]
    calls += [pool.submit(load.ask_on)]
    try:
        for number, victim in enumerate(victims(chance)):
            if time.monotonic() - began > STRIKING_S:
                break
            before = load.answered
            wait_until(lambda before=before: load.answered > before + 3, RECOVERY_S, f"answers (seed {seed})")
            if strike(up, victim, chance):
                restarts += victim in PARTS
                times.append(recover(up, load, number, restarts))
                print(f"{victim:9} {times[-1]:5.1f} s, load {os.getloadavg()[0]:.1f}")
    finally:
        load.stop()
        pool.shutdown()
    for call in calls:
        call.result()

    jobs = [wait_until(lambda job=job: load.ended(job), RECOVERY_S, job) for job in load.jobs.values()]
    failures = {document["error_code"] for job in jobs for document in job["documents"]} - {None, "DUPLICATE"}
    assert not failures, f"seed {seed}"  # a duplicate was taken before, though its reply was lost
    sanity = manage("sanity", "--data-dir", str(up.data_dir))
    assert sanity.returncode == 0, f"seed {seed}: {sanity.stdout}"
    assert len(set(documents(str(load.client.base_url)))) == len(jobs)
    assert sum(part["restarts"] for part in load.health()["parts"].values()) == restarts
    print(
        f"{len(jobs)} documents, {load.answered} answers; {median(times):.1f} s, at most {max(times):.1f} s"
    )
    return times


def test_parts_that_are_killed_come_back_and_nothing_is_lost(up: Up, seed: int) -> None:
    times = kill_and_check(up, seed, lambda chance: chance.sample(PARTS, 3))

    assert len(times) == 3


@pytest.mark.slow
def test_up_to_25_random_kills(up: Up, seed: int) -> None:
    """As many as there is time for, on a crowded machine; how long each takes is printed (`-s`)."""
    times = kill_and_check(up, seed, lambda chance: chance.choices([*PARTS, *CHILDREN], k=25))

    assert len(times) > 3
