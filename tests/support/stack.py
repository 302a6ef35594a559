"""A whole Knowlex in processes of its own: broker, web server, workers, on a database of its own."""

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeVar

import httpx
import psutil
import psycopg

from knowlex.embedded import data_folder
from knowlex.embedded.services import EmbeddedValkey
from knowlex.serve import bind_socket
from tests.support import processes
from tests.support.environment import PROJECT
from tests.support.postgres import Postgres
from tests.support.waiting import wait_until

T = TypeVar("T")
TEMPLATE = "knowlex_template"
READY_S = 60.0
DOCUMENT_TABLES = (
    "documents_document, documents_page, documents_chunk, documents_ingestjob, documents_ingestitem, "
    "documents_idempotencyrecord, documents_apikey, documents_apikeycollection, documents_collectionchange, "
    "rag_querycount, rag_questionset, rag_setquestion, rag_evaluation, rag_evaluationresult, "
    "rag_query, rag_candidates, rag_response, rag_citation, rag_feedback, documents_collectionmember, "
    "documents_source, documents_sourceitem, documents_webhook, documents_webhookdelivery"
)
EMBEDDING_TABLES = (
    "embeddings_embedding, embeddings_sentencevectors, embeddings_embeddingrequest, embeddings_embeddingrun, "
    "embeddings_lexicalentry, embeddings_chunkanalysis, embeddings_lexemecount, embeddings_outboxentry, "
    "embeddings_droppedspace"
)


class Stack:
    """Use as a context manager. `client` speaks to it; `sql` reads and writes its database directly."""

    def __init__(self, postgres: Postgres, folder: Path, *, workers: int, env: Mapping[str, str]) -> None:
        self.postgres, self.folder, self.workers = postgres, folder, workers
        self.database = f"kx_{secrets.token_hex(4)}"
        folder.mkdir(parents=True, exist_ok=True)
        self._listener = bind_socket("127.0.0.1", 0)  # kept, so that a restart finds its port free
        self.port = int(self._listener.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=self.url, timeout=90)
        self._filled: dict[Callable[[Stack], Any], Any] = {}
        self.broker: EmbeddedValkey | None = None
        self.web: processes.Process | None = None
        self.worker: processes.Process | None = None
        self.env = {
            **os.environ,
            "DATABASE_URL": postgres.url(self.database),
            "REDIS_URL": data_folder.redis_url(folder),
            "KNOWLEX_DATA_DIR": str(folder),
            "TMPDIR": str(folder),  # what a killed worker leaves goes with the stack
            "KNOWLEX_PORT": str(self.port),
            "KNOWLEX_WORKERS": str(max(1, workers)),
            "KNOWLEX_RATE_LIMIT": "1000000/day",
            "KNOWLEX_CACHE": "on",
            "KNOWLEX_SOURCE_FOLDERS": str(folder / "sources"),
            **env,
        }

    def __enter__(self) -> Self:
        self._ensure_template()
        self.postgres.create_database(self.database, template=TEMPLATE)
        self.ensure_running()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self._listener.close()
        self.kill_web()
        self.kill_worker()
        self.stop_broker()
        self.postgres.drop_database(self.database)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ensure_template(self) -> None:
        """The migrations run once a cluster; every stack's database is a copy."""
        if not self.postgres.has_database(TEMPLATE):
            building = f"{TEMPLATE}_building"
            self.manage("migrate", "-v0", env={"DATABASE_URL": self.postgres.create_database(building)})
            self.postgres.rename_database(building, TEMPLATE)

    def manage(self, *arguments: str, env: Mapping[str, str] | None = None, timeout_s: float = 120) -> str:
        """Run `manage.py` with the stack's environment; returns what it printed."""
        done = self.run(*arguments, env=env, timeout_s=timeout_s)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def run(
        self, *arguments: str, env: Mapping[str, str] | None = None, timeout_s: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """The same, whatever becomes of it."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env={**self.env, **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )

    # The parts

    def ensure_running(self) -> None:
        """Start what does not run, and wait until requests and work are served."""
        self.start_broker()
        web, ready = self._begin_web(), self._begin_worker()
        if ready is not None:
            self._wait_worker(ready)
        if web:
            self.wait_web()

    def start_broker(self) -> None:
        if self.broker is None or not self.broker.part.running:
            self.broker = EmbeddedValkey(self.folder)
            self.broker.start()
            self.broker.wait_ready()

    def stop_broker(self, *, kill: bool = False, forget: bool = False) -> None:
        """kill: with -9. forget: all that was queued is lost."""
        if self.broker is not None:
            self.broker.part.stop(at_once=kill)
            if forget:
                shutil.rmtree(self.broker.folder)
            self.broker = None

    @property
    def broker_process(self) -> psutil.Process:
        assert self.broker is not None
        assert self.broker.part._process is not None
        return psutil.Process(self.broker.part._process.pid)

    def start_web(self) -> None:
        if self._begin_web():
            self.wait_web()

    def _begin_web(self) -> bool:
        if processes.runs(self.web):
            return False
        descriptor = self._listener.fileno()
        command = [sys.executable, "-m", "knowlex.serve", "--fd", str(descriptor)]
        self.web = processes.start(command, env=self.env, log=self._log("web"), pass_fds=[descriptor])
        return True

    def wait_web(self) -> None:
        wait_until(lambda: _answers(self.web, self.client), READY_S, "the web server")

    def warm_web(self) -> None:
        """What it loads beside its first requests is loaded: what it takes from now on, requests take."""
        wait_until(
            lambda: self.client.get("/health").json()["embedding_model"] == "loaded", READY_S, "its model"
        )
        self.client.post("/query", json={"query": "Is it warm?"}).raise_for_status()

    def terminate_web(self) -> None:
        processes.terminate(self.web)
        self.web = None

    def kill_web(self) -> None:
        processes.kill_group(self.web)
        self.web = None

    def start_worker(self) -> None:
        ready = self._begin_worker()
        if ready is not None:
            self._wait_worker(ready)

    def _begin_worker(self) -> int | None:
        """A pipe on which the worker says that it takes tasks; None if it runs already, or is not wanted."""
        if not self.workers or processes.runs(self.worker):
            return None
        self.worker, ready = self._worker_process("worker")
        return ready

    def another_worker(self, **env: str) -> processes.Process:
        """A second worker group, as on another host with this environment; the caller ends it."""
        process, ready = self._worker_process("worker2", env)
        self._wait_worker(ready)
        return process

    @contextmanager
    def another_web(self, *, prefix: Sequence[str] = (), **env: str) -> Iterator[httpx.Client]:
        """A client of a second web server, as on another host with this environment.

        prefix: a command that runs its own.
        """
        with bind_socket("127.0.0.1", 0) as listener:
            port = int(listener.getsockname()[1])
            command = [*prefix, sys.executable, "-m", "knowlex.serve", "--fd", str(listener.fileno())]
            env = {**self.env, "KNOWLEX_PORT": str(port), **env}
            web = processes.start(command, env=env, log=self._log("web2"), pass_fds=[listener.fileno()])
            try:
                with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=90) as client:
                    wait_until(lambda: _answers(web, client), READY_S, "the second web server")
                    yield client
            finally:
                processes.terminate(web)

    @contextmanager
    def web_group(self, count: int, **env: str) -> Iterator["WebGroup"]:
        """So many web processes on one socket, as `up` starts them."""
        with bind_socket("127.0.0.1", 0) as listener:
            port, descriptor = int(listener.getsockname()[1]), listener.fileno()
            env = {**self.env, "KNOWLEX_PORT": str(port), "KNOWLEX_WEB_PROCESSES": str(count), **env}
            group = WebGroup(f"http://127.0.0.1:{port}", [], lambda number: start(number))

            def start(number: int) -> processes.Process:
                return processes.start(
                    [sys.executable, "-m", "knowlex.serve", "--fd", str(descriptor)],
                    env={**env, "KNOWLEX_WEB_PROCESS": str(number)},
                    log=self._log(f"web-{number}"),
                    pass_fds=[descriptor],
                )

            group.processes.extend(map(start, range(count)))
            try:
                with httpx.Client(base_url=group.url, timeout=90) as client:
                    wait_until(lambda: _answers(group.processes[0], client), READY_S, "the web processes")
                yield group
            finally:
                for process in group.processes:
                    processes.terminate(process)
                shutil.rmtree(data_folder.counts_dir(self.folder), ignore_errors=True)

    def _worker_process(
        self, name: str, env: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[processes.Process, int]:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        command = [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "knowlex",
            "worker",
            "--concurrency",
            str(self.workers),
        ]
        command += ["--loglevel", "INFO", "--without-gossip", "--without-mingle", "--hostname", f"{name}@%h"]
        env = {**self.env, **env, "KNOWLEX_READY_FD": str(writer)}
        process = processes.start(command, env=env, log=self._log(name), pass_fds=[writer])
        os.close(writer)
        return process, reader

    def _wait_worker(self, ready: int) -> None:
        def said() -> bool:
            try:
                return bool(os.read(ready, 1))
            except BlockingIOError:
                return False

        wait_until(said, READY_S, "the worker")
        os.close(ready)

    def kill_worker(self) -> None:
        processes.kill_group(self.worker)
        self.worker = None

    @contextmanager
    def paused_worker(self) -> Iterator[None]:
        """Nobody works meanwhile; costs nothing, unlike a new worker. It holds no lock where it stands."""
        assert self.worker is not None
        wait_until(self._pause_between_transactions, what="a worker that is in no transaction")
        try:
            yield
        finally:
            processes.pause_group(self.worker, on=False)

    def _pause_between_transactions(self) -> bool:
        assert self.worker is not None
        processes.pause_group(self.worker, on=True)
        busy = self.sql(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND state <> 'idle'"
        )
        if busy:
            processes.pause_group(self.worker, on=False)
        return not busy

    def worker_children(self) -> list[psutil.Process]:
        """The processes that run tasks."""
        assert self.worker is not None
        return processes.children(self.worker)

    # What is inside

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def log(self, name: str) -> str:
        """All that "web" or "worker" has written."""
        return self._log(name).read_text(errors="replace") if self._log(name).exists() else ""

    def log_tail(self, lines: int = 60) -> str:
        tails = {
            name: "\n".join(self.log(name).splitlines()[-lines:])
            for name in sorted(path.stem for path in self.folder.glob("*.log"))
        }
        return "\n".join(f"--- {name}\n{tail}" for name, tail in tails.items() if tail)

    def sql(self, query: str, *params: object) -> list[dict[str, Any]]:
        return self.postgres.execute(query, *params, database=self.database)

    def _truncated(self) -> bool:
        """False if a worker that is at the rest of the last test's work was in the way."""
        try:
            self.sql(f"TRUNCATE {DOCUMENT_TABLES}, {EMBEDDING_TABLES}")
        except psycopg.errors.DeadlockDetected:
            return False
        return True

    def count(self, table: str, condition: str = "true") -> int:
        return int(self.sql(f"SELECT count(*) AS n FROM {table} WHERE {condition}")[0]["n"])

    def stored_files(self) -> list[Path]:
        return sorted(path for path in (self.folder / "files").rglob("*") if path.is_file())

    def clean(self) -> None:
        """No documents, no work, no files; the collection `default` stays."""
        self._filled.clear()
        wait_until(self._truncated, what="the workers to leave the tables alone")
        self.sql("DELETE FROM documents_collection WHERE name <> 'default'")
        for file in self.stored_files():
            file.unlink(missing_ok=True)

    def filled(self, fill: Callable[["Stack"], T]) -> T:
        """What `fill` made when it was empty; made again only when others have emptied it since."""
        self.ensure_running()
        if fill not in self._filled:
            self.clean()
            self._filled[fill] = fill(self)
        made: T = self._filled[fill]
        return made


@dataclass(frozen=True)
class WebGroup:
    """Web processes on one socket, by their numbers. start: starts the one of this number, again."""

    url: str
    processes: list[processes.Process]
    start: Callable[[int], processes.Process]


def _answers(web: processes.Process | None, client: httpx.Client) -> bool:
    assert processes.runs(web), "the web server has ended; its log says why"
    try:
        return client.get("/api/v1/documents").status_code < 500
    except httpx.TransportError:
        return False
