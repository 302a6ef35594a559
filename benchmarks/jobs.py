"""What documents cost on their way through the whole of Knowlex, and who pays it.

    python -m benchmarks.jobs FOLDER [--workers N] [--copies 1] [--idle 0]

`manage.py up` serves a fresh data folder; `manage.py ingest` reads the folder's PDF files into it. copies:
each file so many times, made different by a comment at its end. model: what the embedder alone takes, in this
process, for the very same chunks; the workers' row has the rest of their time. idle: seconds without work,
before, in which the CPU is measured. Memory is PSS: shared pages count once among sharers.
"""

import argparse
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from tests.support import environment

environment.set_environment()

import django

django.setup()

import psutil
import psycopg

from embeddings.protocols import Embedder
from knowlex.embedded import data_folder
from knowlex.runtime.components import component

SAMPLED_EVERY_S = 1.0
SETTLING_S = 10.0  # after the start, before idleness is measured
BATCH = 20
Seconds = dict[str, float]


class Served:
    """`up` on a fresh data folder; use as a context manager."""

    def __init__(self, workers: int | None) -> None:
        self.env = {**os.environ, **({"KNOWLEX_WORKERS": str(workers)} if workers else {})}
        for name in ("DATABASE_URL", "REDIS_URL"):
            del self.env[name]

    def __enter__(self) -> "Served":
        command = [sys.executable, "manage.py", "up", "--port", "0"]
        self._up = subprocess.Popen(
            command, cwd=environment.PROJECT, env=self.env, stdout=subprocess.PIPE, text=True
        )
        assert self._up.stdout
        if not any("is ready" in line for line in self._up.stdout):
            raise RuntimeError("Knowlex did not start.")
        return self

    def __exit__(self, *_: object) -> None:
        self._up.terminate()
        self._up.communicate()

    def processes(self) -> list[tuple[str, psutil.Process]]:
        """Return all of them, each with its kind."""
        root = psutil.Process(self._up.pid)
        found = []
        for process in [root, *root.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                found.append((self._kind(process), process))
        return found

    def _kind(self, process: psutil.Process) -> str:
        line = " ".join(process.cmdline())
        for word, kind in (
            ("fork_server", "reading"), ("celery", "workers"), ("knowlex.serve", "web"),
            ("postgres", "postgres"), ("valkey", "valkey"),
        ):  # fmt: skip
            if word in line:
                return kind
        return "up" if process.pid == self._up.pid else self._kind(process.parent() or process)

    def cpu_s(self) -> Seconds:
        """Return the CPU seconds by kind since the start, of children that have ended, too."""
        sums: Seconds = defaultdict(float)
        for kind, process in self.processes():
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                sums[kind] += times.user + times.system
                # A worker's ended children are its servers of reading.
                ended = "reading" if kind == "workers" else kind
                sums[ended] += times.children_user + times.children_system
        return sums

    def pss_mib(self) -> Seconds:
        sums: Seconds = defaultdict(float)
        for kind, process in self.processes():
            with suppress(psutil.Error):
                sums[kind] += process.memory_full_info().pss / 2**20
        return sums

    def sql(self, statement: str) -> tuple[int, ...]:
        """Return the statement's only row, of numbers."""
        url = environment.database_url(data_folder.DATABASE_NAME)
        with psycopg.connect(url, autocommit=True) as connection:
            row = connection.execute(statement.encode()).fetchone()
        return tuple(map(int, row or ()))


class MemoryWatch(Thread):
    """Keeps the memory by kind at the moment at which all together had most."""

    def __init__(self, served: Served) -> None:
        super().__init__(daemon=True)
        self.peak: Seconds = {}
        self._served, self._done = served, Event()

    def run(self) -> None:
        while not self._done.wait(SAMPLED_EVERY_S):
            now = self._served.pss_mib()
            if sum(now.values()) > sum(self.peak.values()):
                self.peak = now

    def stop(self) -> None:
        self._done.set()
        self.join()


def copy_files(folder: Path, target: Path, copies: int) -> int:
    """Copy every PDF so many times, each with other bytes; return the sum of their sizes."""
    total = 0
    for number in range(copies):
        for file in sorted(folder.rglob("*.pdf")):
            place = target / str(number) / file.name
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(file.read_bytes() + b"\n%% copy %d\n" % number)
            total += place.stat().st_size
    return total


def measure_model(texts: Sequence[str]) -> float:
    """Return the CPU seconds of the embedder alone."""
    embedder = component("EMBEDDER", Embedder)
    embedder.embed(texts[:1])  # loads the model
    began = time.process_time()
    for start in range(0, len(texts), BATCH):
        embedder.embed(texts[start : start + BATCH])
    return time.process_time() - began


def difference(after: Seconds, before: Seconds) -> Seconds:
    return {kind: seconds - before.get(kind, 0.0) for kind, seconds in after.items()}


def tell_idle(served: Served, seconds: float) -> None:
    time.sleep(SETTLING_S)
    before = served.cpu_s()
    time.sleep(seconds)
    used = {kind: 100 * s / seconds for kind, s in difference(served.cpu_s(), before).items()}
    memory = served.pss_mib()
    print(f"idle for {seconds:.0f} s: {sum(used.values()):.2f} % of a core, {sum(memory.values()):.0f} MiB")
    for kind in used:
        print(f"  {kind:<9} {used[kind]:6.2f} %  {memory.get(kind, 0):5.0f} MiB")


_COUNTERS = """
    SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn, xact_commit + xact_rollback
    FROM pg_stat_database, pg_stat_force_next_flush() WHERE datname = current_database()
"""
_STORED = """
    SELECT count(*), sum(page_count), sum(chunk_count) FROM documents_document WHERE status = 'completed'
"""
_WAL_FILES = "SELECT sum(size) FROM pg_ls_waldir()"


def ingest(served: Served, folder: Path, total_bytes: int) -> None:
    before, counters, began = served.cpu_s(), served.sql(_COUNTERS), time.monotonic()
    of_children = _children_s()
    watch = MemoryWatch(served)
    watch.start()
    command = [sys.executable, "manage.py", "ingest", str(folder)]
    output = subprocess.run(command, cwd=environment.PROJECT, env=served.env, capture_output=True, text=True)
    wall_s, command_s = time.monotonic() - began, _children_s() - of_children
    if output.returncode:
        raise RuntimeError(output.stdout + output.stderr)
    used = difference(served.cpu_s(), before)
    watch.stop()
    written, transactions = (b - a for a, b in zip(counters, served.sql(_COUNTERS), strict=True))
    documents, pages, chunks = served.sql(_STORED)
    model_s = measure_model(_read_texts())
    used["command"], used["model"] = command_s, model_s
    used["workers"] -= model_s
    total = sum(used.values())
    print(f"{documents} documents, {pages} pages, {chunks} chunks in {wall_s:.0f} s; "
          f"{transactions / documents:.1f} transactions a document")  # fmt: skip
    print(f"CPU seconds: {total:.2f}, {total / model_s:.2f} times the model's own")
    for kind, seconds in sorted(used.items(), key=lambda item: -item[1]):
        print(f"  {kind:<9} {seconds:7.2f} s  {seconds / documents * 1000:7.1f} ms a document  "
              f"{watch.peak.get(kind, 0):5.0f} MiB")  # fmt: skip
    print(f"memory at most: {sum(watch.peak.values()):.0f} MiB")
    print(f"WAL: {written / 2**20:.1f} MiB written, {served.sql(_WAL_FILES)[0] / 2**20:.0f} MiB on disk, "
          f"for {total_bytes / 2**20:.1f} MiB of files")  # fmt: skip


def _children_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _read_texts() -> list[str]:
    with psycopg.connect(environment.database_url(data_folder.DATABASE_NAME)) as connection:
        rows = connection.execute("SELECT content FROM documents_chunk ORDER BY id").fetchall()
    return [row[0] for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--idle", type=float, default=0.0)
    options = parser.parse_args()
    with TemporaryDirectory() as place, Served(options.workers) as served:
        total_bytes = copy_files(options.folder, Path(place), options.copies)
        if options.idle:
            tell_idle(served, options.idle)
        print(f"load average before: {os.getloadavg()[0]:.1f}")
        ingest(served, Path(place), total_bytes)


if __name__ == "__main__":
    main()
