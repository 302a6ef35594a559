"""What each process takes of what several of them share: connections, memory, and the primary's CPU.

    python -m benchmarks.scaling FOLDER [--workers 2] [--askers 20] [--seconds 10]

A primary and a streaming replica; two web servers, of which the second reads from the replica; workers. First
the workers take in the folder's PDF files, then the same questions are asked of either web server, extractive
answers, nothing cached. Connections: the most at a time. Memory is PSS: shared pages count once for all.
"""

import argparse
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import cycle
from pathlib import Path

from tests.support import environment

environment.set_environment()

import django

django.setup()

import httpx
import psutil

from benchmarks.asking import Crowd, ask
from tests.scaling.replication import PRIMARY, replica_of
from tests.support.postgres import Postgres
from tests.support.stack import Stack

OWNERS = """
    SELECT CASE application_name WHEN 'knowlex' THEN 'event loops' ELSE 'threads and workers' END AS owner,
        count(*) AS n FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid() GROUP BY 1
"""


class Most:
    """Of connections by owner, at a time."""

    def __init__(self, cluster: Postgres, database: str) -> None:
        self._cluster, self._database = cluster, database
        self.seen: dict[str, int] = defaultdict(int)

    def look(self) -> None:
        for row in self._cluster.execute(OWNERS, self._database):
            self.seen[row["owner"]] = max(self.seen[row["owner"]], row["n"])


def cpu_s(process: psutil.Process) -> float:
    """With its children, those that have ended too."""
    times = process.cpu_times()
    seconds = float(times.user + times.system + times.children_user + times.children_system)
    for child in process.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            one = child.cpu_times()
            seconds += one.user + one.system
    return seconds


def server_of(cluster: Postgres) -> psutil.Process:
    assert cluster._server.part._process is not None
    return psutil.Process(cluster._server.part._process.pid)


def tell_memory(name: str, process: psutil.Process) -> None:
    for each in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            mib = each.memory_full_info().pss / 2**20
            print(f"  {name:<8} {mib:5.0f} MiB  {' '.join(each.cmdline())[-50:]}")


def take_in(stack: Stack, folder: Path, look: Callable[[], None]) -> None:
    command = [sys.executable, "manage.py", "ingest", str(folder)]
    taking = subprocess.Popen(command, cwd=environment.PROJECT, env=stack.env, stderr=subprocess.DEVNULL)
    while taking.poll() is None:
        look()
        with suppress(subprocess.TimeoutExpired):
            taking.wait(0.2)


def asked(
    name: str, url: str, processes: Mapping[str, psutil.Process], most: Most, options: argparse.Namespace
) -> None:
    words = (
        "founder",
        "population",
        "treaty",
        "war",
        "protein",
        "infection",
        "cells",
        "river",
        "treatment",
        "church",
    )
    questions = [
        f"What is said about the {one} and the {two}?" for one in words for two in words if one != two
    ]
    before = {kind: cpu_s(process) for kind, process in processes.items()}
    crowd = Crowd(f"{url}/api/v1/rag/ask", "query", cycle(questions), options.askers, options.seconds, 0.1)
    tally = ask(crowd, most.look)
    count = max(1, len(tally.latencies))
    used = {kind: (cpu_s(process) - before[kind]) / count * 1000 for kind, process in processes.items()}
    told = ", ".join(f"{kind} {ms:.1f}" for kind, ms in used.items())
    print(f"{name}: {count} answers, {tally.failures} failed; CPU ms an answer: {told}")


def measure(stack: Stack, primary: Postgres, replica: Postgres, options: argparse.Namespace) -> None:
    assert stack.web
    assert stack.worker
    most = Most(primary, stack.database)
    take_in(stack, options.folder, most.look)
    print(f"taking documents in with {options.workers} workers: connections {dict(most.seen)}")
    tell_memory("web", psutil.Process(stack.web.pid))
    tell_memory("worker", psutil.Process(stack.worker.pid))
    clusters = {"primary": server_of(primary), "replica": server_of(replica)}
    most = Most(primary, stack.database)
    asked("primary alone", stack.url, {"web": psutil.Process(stack.web.pid), **clusters}, most, options)
    print(f"  connections of {options.askers} askers: {dict(most.seen)}")
    with stack.another_web(DATABASE_READ_URL=replica.url(stack.database)) as client:
        second = next(p for p in psutil.Process().children() if str(client.base_url.port) in _port_of(p))
        most = Most(replica, stack.database)
        url = str(client.base_url).rstrip("/")
        asked("with a replica", url, {"web": second, **clusters}, most, options)
        print(f"  connections of the replica: {dict(most.seen)}")
        page = httpx.get(f"{url}/metrics").text
        print(
            "\n".join(
                f"  {line}" for line in page.splitlines() if line.startswith("knowlex_replica_reads_total")
            )
        )


def _port_of(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return process.environ().get("KNOWLEX_PORT", "")
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--askers", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    primary = Postgres(environment.FOLDER / "primary", **PRIMARY)
    replica = replica_of(primary, environment.FOLDER / "replica")
    try:
        env = {"KNOWLEX_CACHE": "off", "KNOWLEX_RELEVANCE_THRESHOLD": "0"}
        with Stack(primary, environment.FOLDER / "stack", workers=options.workers, env=env) as stack:
            measure(stack, primary, replica, options)
    finally:
        replica.stop(crash=True)
        primary.stop(crash=True)


if __name__ == "__main__":
    main()
