"""Two hosts of web and workers on one database, one broker and one bucket; one fails in the middle of work.

Once with folders of their own on this machine, once in network namespaces, where the whole host is killed, or
its cable is pulled out and put in again.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest

from knowlex.embedded.services import EmbeddedValkey
from tests.conftest import provider_env
from tests.platform import talk
from tests.provider import Provider
from tests.scaling.test_s3 import host, names
from tests.support import environment, processes
from tests.support.invariants import (
    BATCH,
    assert_asked_once,
    assert_embedded_once,
    assert_jobs_settled,
    assert_words_counted,
    wait_embedded,
)
from tests.support.network import Network
from tests.support.postgres import Postgres
from tests.support.s3 import S3Server
from tests.support.stack import Stack
from tests.support.texts import facts_pdf, question
from tests.support.waiting import wait_until

PREFIX = "hosts"
FACTS = 20
HOLDS_A_LOCK = """
import signal
from django.db import transaction
from knowlex.db.threads import execute
with transaction.atomic():
    execute("SELECT pg_advisory_xact_lock(42)")
    signal.pause()
"""
IS_HELD = "locktype = 'advisory' AND objid = 42"
Place = Callable[[], AbstractContextManager[None]]


@dataclass
class Hosts:
    """first: the stack's own web server and workers. second: a client of the other host's web server.

    on_first, on_second: contexts in which a thread is on that host.
    """

    stack: Stack
    s3: S3Server
    second: httpx.Client
    worker: processes.Process
    on_first: Place = nullcontext
    on_second: Place = nullcontext


@dataclass
class Asking:
    """Asks the second host without a pause; answers: how many came; failures: what else came."""

    hosts: Hosts
    answers: int = 0
    slowest_s: float = 0.0
    failures: list[str] = field(default_factory=list)

    @contextmanager
    def going_on(self) -> Iterator["Asking"]:
        stop = Event()
        thread = Thread(target=self._ask, args=[stop])
        thread.start()
        try:
            yield self
        finally:
            stop.set()
            thread.join()

    def _ask(self, stop: Event) -> None:
        with self.hosts.on_second():
            while not stop.is_set():
                began = time.monotonic()
                try:
                    reply = self.hosts.second.post("/v1/query", json={"query": question(self.answers)})
                except httpx.TransportError as exc:
                    self.failures.append(repr(exc))
                    continue
                self.slowest_s = max(self.slowest_s, time.monotonic() - began)
                if reply.status_code == 200:
                    self.answers += 1
                else:
                    self.failures.append(reply.text[:300])
                stop.wait(0.2)


@contextmanager
def two_hosts(
    stack: Stack, s3: S3Server, folder: Path, *, on_first: Place = nullcontext, on_second: Place = nullcontext
) -> Iterator[Hosts]:
    with ExitStack() as running:
        with on_first():
            running.enter_context(stack)
        env = host(stack, folder)
        with on_second():
            second = running.enter_context(stack.another_web(**env))
            worker = stack.another_worker(**env)
        running.callback(processes.terminate, worker)
        yield Hosts(stack, s3, second, worker, on_first, on_second)


def bring(client: httpx.Client, count: int, first: int) -> str:
    """The id of a job with so many documents, each of as many chunks."""
    files = [facts_pdf(FACTS, first=FACTS * n) for n in range(first, first + count)]
    return str(
        talk.accepted(client, *(talk.file(data, f"{n}.pdf") for n, data in enumerate(files)))["job_id"]
    )


def ended(client: httpx.Client, job_id: str) -> dict[str, Any] | None:
    report: dict[str, Any] = client.get(f"/v1/ingest/{job_id}", params={"wait": 5}).json()
    return report if report["status"] in ("completed", "failed") else None


def lose_one_in_the_middle(
    hosts: Hosts, count: int, lose: Callable[[], AbstractContextManager[None]]
) -> Asking:
    """Give each host so many documents; lose the first while both work; the second does the rest."""
    stack, asking = hosts.stack, Asking(hosts)
    with asking.going_on():
        with hosts.on_first():
            jobs = [bring(stack.client, count, 0)]
        with hosts.on_second():
            jobs.append(bring(hosts.second, count, count))
        wait_until(lambda: stack.count("documents_document") >= 2, 60, "both to be at work")
        with lose():
            began = time.monotonic()
            for job in jobs:
                with hosts.on_second():
                    report = wait_until(partial(ended, hosts.second, job), 150, "the job to end")
                assert {one["status"] for one in report["documents"]} == {"completed"}, report
            wait_embedded(stack, 60)
            print(f"the other host had done all after {time.monotonic() - began:.1f} s")
            asked_meanwhile = asking.answers
            wait_until(lambda: asking.answers > asked_meanwhile, what="an answer by the host that is left")
    assert asking.failures == []
    return asking


def assert_whole(hosts: Hosts, documents: int) -> None:
    stack = hosts.stack
    assert stack.count("documents_document", "status = 'completed'") == documents
    assert_embedded_once(stack)
    assert_jobs_settled(stack)
    assert_words_counted(stack)
    stored = {name for name in hosts.s3.keys(PREFIX) if name.startswith("documents/")}
    assert stored == names(stack)


def test_the_host_that_is_left_does_the_work_of_both(postgres: Postgres, provider: Provider, tmp_path: Path):
    with S3Server(tmp_path / "s3") as s3:
        stack = Stack(
            postgres, environment.FOLDER / "first", workers=1, env=s3.env(PREFIX) | provider_env(provider)
        )
        with two_hosts(stack, s3, tmp_path / "second") as hosts:

            @contextmanager
            def killed() -> Iterator[None]:
                stack.kill_web()
                stack.kill_worker()
                yield

            provider.takes(0.2)
            lose_one_in_the_middle(hosts, 4, killed)
            assert_whole(hosts, 8)
            # What was being embedded when its worker died is asked for once more.
            assert_asked_once(stack, provider, beyond=BATCH)


@pytest.fixture
def networked(tmp_path: Path) -> Iterator[tuple[Network, Hosts]]:
    """Database, broker and bucket on host 0, Knowlex on hosts 1 and 2; nothing else is reached by any."""
    with Network(3) as network, ExitStack() as running:
        services = network.address(0)
        with network.inside(0):
            postgres = Postgres(environment.FOLDER / "services", listen_addresses=services)
            running.callback(postgres.stop, crash=True)
            with (postgres.data_dir / "postgres" / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {services}/24 trust\n")
            postgres.execute("SELECT pg_reload_conf()")
            broker = EmbeddedValkey(environment.FOLDER / "services")
            broker.part.command += ["--port", "6379", "--bind", services, "--protected-mode", "no"]
            broker.start()
            running.callback(broker.part.stop)
            broker.wait_ready()
            s3 = running.enter_context(S3Server(tmp_path / "s3", address=services))
        with network.inside(1):
            stack = Stack(postgres, environment.FOLDER / "host1", workers=2, env=s3.env(PREFIX))
        stack.env["DATABASE_URL"] = f"postgresql://postgres@{services}:5432/{stack.database}"
        stack.env["REDIS_URL"] = f"redis://{services}:6379/0"
        on_first, on_second = partial(network.inside, 1), partial(network.inside, 2)
        with two_hosts(stack, s3, tmp_path / "host2", on_first=on_first, on_second=on_second) as hosts:
            yield network, hosts


@pytest.mark.slow
@pytest.mark.parametrize("end", ["killed", "cut off"])
def test_a_host_in_a_network_may_go(networked: tuple[Network, Hosts], end: str):
    network, hosts = networked
    stack = hosts.stack

    @contextmanager
    def killed() -> Iterator[None]:
        stack.kill_web()
        stack.kill_worker()
        yield

    @contextmanager
    def cut_off() -> Iterator[None]:
        """In a transaction, too, whose lock PostgreSQL would keep for two hours."""
        with hosts.on_first():
            command = [sys.executable, "manage.py", "shell", "-v0", "-c", HOLDS_A_LOCK]
            holder = processes.start(command, env=stack.env, log=stack.folder / "holder.log")
        wait_until(lambda: stack.count("pg_locks", IS_HELD), what="the lock to be held")
        try:
            with network.cut_off(1):
                wait_until(lambda: not stack.count("pg_locks", IS_HELD), 60, "the lock to be free")
                yield
        finally:
            processes.kill_group(holder)

    lost = killed if end == "killed" else cut_off
    asking = lose_one_in_the_middle(hosts, 3, lost)
    print(
        f"{asking.answers} answers by the other host, none failed, the slowest after {asking.slowest_s:.1f} s"
    )
    if end == "cut off":  # what comes back does not do again what was done meanwhile
        with hosts.on_first():
            wait_until(lambda: stack.client.get("/health").json()["status"] == "healthy", 60, "its return")
            job = bring(stack.client, 1, 6)
            assert talk.ended(stack.client, job)["status"] == "completed"
    wait_embedded(stack, 60)
    with network.inside(0):
        assert_whole(hosts, 6 + (end == "cut off"))
