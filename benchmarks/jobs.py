"""What a document costs on its way through the whole of Knowlex, and who pays it.

    python -m benchmarks.jobs FOLDER [--workers 2] [--copies 1]

`manage.py ingest` reads the folder's PDF files into a web server, workers, PostgreSQL and Valkey of their
own. copies: each file so many times, made different by a comment at its end. model: what the embedder alone
takes, in this process, for the very same chunks. Peak memory is PSS: shared pages count once among sharers.
"""

import argparse
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from tests.support import environment

environment.set_environment()

import django

django.setup()

import psutil

from embeddings.protocols import Embedder
from knowlex.runtime.components import component
from tests.support.postgres import Postgres
from tests.support.stack import Stack

SAMPLED_EVERY_S = 0.5
BATCH = 20


@dataclass(slots=True)
class Watch:
    """CPU seconds and peak memory of processes by their kind; those that their own children used count too.

    A sampling thread, since children come and go. Use as a context manager.
    """

    roots: dict[str, psutil.Process]
    cpu_s: dict[int, float] = field(default_factory=dict)
    kinds: dict[int, str] = field(default_factory=dict)
    before: dict[int, float] = field(default_factory=dict)
    peak_mib: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    restarts: int = 0
    _done: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def __enter__(self) -> "Watch":
        self._sample()
        self.before, self.restarts = dict(self.cpu_s), 0
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        assert self._thread
        self._thread.join()
        self._sample()

    def by_kind(self) -> dict[str, float]:
        """CPU seconds since the start."""
        sums: dict[str, float] = defaultdict(float)
        for pid, seconds in self.cpu_s.items():
            sums[self.kinds[pid]] += seconds - self.before.get(pid, 0.0)
        return dict(sums)

    def _run(self) -> None:
        while not self._done.wait(SAMPLED_EVERY_S):
            self._sample()

    def _sample(self) -> None:
        for name, root in list(self.roots.items()):
            with suppress(psutil.NoSuchProcess):
                for process in [root, *root.children(recursive=True)]:
                    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                        self._look(name, process)

    def _look(self, name: str, process: psutil.Process) -> None:
        kind = _kind(name, process)
        if kind == "reading":  # its nursery counts it when it has ended
            return
        times = process.cpu_times()
        ended = times.children_user + times.children_system if kind in ("nursery", "postgres") else 0.0
        if process.pid not in self.kinds and kind == "nursery":
            self.restarts += 1
        self.kinds[process.pid], self.cpu_s[process.pid] = kind, times.user + times.system + ended
        mib = process.memory_full_info().pss / 2**20
        self.peak_mib[kind] = max(self.peak_mib[kind], mib)


def _kind(name: str, process: psutil.Process) -> str:
    line = process.cmdline()
    if name == "worker" and any("nursery" in word for word in line):
        parent = process.parent()
        inner = parent is not None and any("nursery" in word for word in parent.cmdline())
        return "reading" if inner else "nursery"
    return name


def copied(folder: Path, target: Path, copies: int) -> int:
    """Every PDF so many times, each with other bytes; returns how many there are."""
    files = sorted(folder.rglob("*.pdf"))
    for number in range(copies):
        for file in files:
            place = target / str(number) / file.name
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(file.read_bytes() + b"\n%% copy %d\n" % number)
    return len(files) * copies


def model_alone_s(texts: Sequence[str]) -> float:
    embedder = component("EMBEDDER", Embedder)
    embedder.embed(texts[:1])  # loads the model
    began = time.process_time()
    for start in range(0, len(texts), BATCH):
        embedder.embed(texts[start : start + BATCH])
    return time.process_time() - began


def transactions(stack: Stack) -> int:
    stack.sql("SELECT pg_stat_force_next_flush()")
    row = stack.sql(
        "SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = current_database()"
    )
    return int(row[0]["n"])


def measure(stack: Stack, postgres: psutil.Process, folder: Path) -> tuple[Watch, float, int]:
    assert stack.web
    assert stack.worker
    roots = {
        "web": psutil.Process(stack.web.pid),
        "worker": psutil.Process(stack.worker.pid),
        "valkey": stack.broker_process,
        "postgres": postgres,
    }
    before, began = transactions(stack), time.monotonic()
    command = [sys.executable, "manage.py", "ingest", str(folder)]
    with Watch(roots) as watch:
        ingest = subprocess.Popen(command, cwd=environment.PROJECT, env=stack.env, stderr=subprocess.DEVNULL)
        watch.roots["command"] = psutil.Process(ingest.pid)
        ingest.wait()
    return watch, time.monotonic() - began, transactions(stack) - before


def tell(stack: Stack, watch: Watch, wall_s: float, count: int) -> None:
    stored = stack.sql("SELECT count(*) AS documents, sum(page_count) AS pages FROM documents_document")[0]
    texts = [row["content"] for row in stack.sql("SELECT content FROM documents_chunk ORDER BY id")]
    documents, model_s = stored["documents"], model_alone_s(texts)
    print(f"{documents} documents, {stored['pages']} pages, {len(texts)} chunks in {wall_s:.0f} s: "
          f"{documents / wall_s * 60:.0f} a minute; {count / documents:.1f} transactions each")  # fmt: skip
    used = watch.by_kind()
    print(f"CPU seconds: {sum(used.values()):.1f} in all, {model_s:.1f} of the model alone "
          f"({sum(used.values()) / model_s:.2f} times)")  # fmt: skip
    for kind, seconds in sorted(used.items(), key=lambda item: -item[1]):
        print(f"  {kind:<9} {seconds:7.2f} s  {seconds / documents * 1000:7.1f} ms a document  "
              f"peak {watch.peak_mib[kind]:5.0f} MiB a process")  # fmt: skip
    print(f"  nurseries started: {watch.restarts}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--copies", type=int, default=1)
    options = parser.parse_args()
    postgres = Postgres(environment.DATA_DIR)
    with TemporaryDirectory() as place:
        copied(options.folder, Path(place), options.copies)
        try:
            with Stack(postgres, environment.FOLDER / "stack", workers=options.workers, env={}) as stack:
                process = psutil.Process(os.getpid())
                server = next(p for p in process.children() if "postgres" in p.name())
                watch, wall_s, count = measure(stack, server, Path(place))
                tell(stack, watch, wall_s, count)
        finally:
            postgres.stop()


if __name__ == "__main__":
    main()
