"""`up`: starts every part in order, watches them, and stops them in the reverse order."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from knowlex.embedded import data_folder, processes
from knowlex.embedded.data_folder import FolderLock, StackError
from knowlex.embedded.processes import Part
from knowlex.embedded.services import EmbeddedPostgres, EmbeddedValkey
from knowlex.serve import GRACE_S, bind_socket

READY_WITHIN_S = 90.0
PROJECT_DIR = Path(__file__).resolve().parent.parent.parent


class Stopped(BaseException):
    """SIGINT or SIGTERM came while starting: unwinds to the shutdown, whatever was going on."""


@dataclass
class Stack:
    """One `up`: host and port to serve at, and which services it runs itself.

    once_ready: called when all of it serves, in a thread of its own, so that it holds nothing up.
    """

    data_dir: Path
    host: str
    port: int
    workers: int
    log_level: str
    embedded_postgres: bool
    embedded_valkey: bool
    prepare: Callable[[], None]
    say: Callable[[str], None]
    once_ready: Callable[[], None]
    _parts: list[Part] = field(default_factory=list, init=False)
    _stopping: bool = field(default=False, init=False)

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM. Raises StackError, naming the part, if one cannot start or dies."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        with FolderLock(self.data_dir, owner="up") as lock, self._listener() as listener:
            self._say_start()
            try:
                self._start(listener)
                address = self._address(listener)
                lock.publish(address)
                self.say(f"Knowlex is ready at {address}")
                self._say_where(address)
                Thread(target=self.once_ready, name="once ready", daemon=True).start()
                self._watch()
            except Stopped:
                self.say("Stopping …")
            finally:
                self._stopping = True
                self._stop()

    def _say_start(self) -> None:
        """Say what starts, since the first start takes half a minute."""
        embedded = [
            name
            for name, runs_here in (("PostgreSQL", self.embedded_postgres), ("Valkey", self.embedded_valkey))
            if runs_here
        ]
        workers = f"{self.workers} worker{'s' * (self.workers != 1)}"
        self.say(f"Starting {', '.join([*embedded, workers])} and the web server in {self.data_dir} …")

    def _say_where(self, address: str) -> None:
        self.say(f"  Page   {address}/")
        self.say(f"  API    {address}/api/docs")
        self.say(f"  Admin  {address}/admin/")
        self.say(f"  Logs   {data_folder.logs_dir(self.data_dir)}")

    def _on_signal(self, _number: int, _frame: object) -> None:
        if not self._stopping:
            self._stopping = True
            raise Stopped

    def _listener(self) -> socket.socket:
        try:
            return bind_socket(self.host, self.port)
        except OSError as exc:
            raise StackError(f"Cannot serve at {self.host}:{self.port}: {exc.strerror or exc}.") from exc

    def _start(self, listener: socket.socket) -> None:
        host, port = listener.getsockname()[:2]
        self._start_services()
        self.prepare()
        env = {
            "KNOWLEX_DATA_DIR": str(self.data_dir),
            "KNOWLEX_HOST": self.host,
            "KNOWLEX_PORT": str(port),
            "KNOWLEX_WORKERS": str(self.workers),
        }
        worker_ready = self._start_worker(env)
        self._start_web(env, listener)
        self._wait(lambda: _has_line(worker_ready), "the workers")
        self._wait(lambda: processes.is_serving(host, port), "the web server")
        os.close(worker_ready)

    def _address(self, listener: socket.socket) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{listener.getsockname()[1]}"

    def _start_services(self) -> None:
        """Start them at once, then wait for both."""
        services: list[EmbeddedPostgres | EmbeddedValkey] = []
        if self.embedded_postgres:
            services.append(EmbeddedPostgres(self.data_dir))
        if self.embedded_valkey:
            services.append(EmbeddedValkey(self.data_dir))
        for service in services:
            self._parts.append(service.part)
            service.start()
        for service in services:
            service.wait_ready()

    def _start_worker(self, env: dict[str, str]) -> int:
        """Return the end of a pipe on which the worker says that it takes tasks."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        worker = Part(
            name="The workers (Celery)",
            command=[
                *(sys.executable, "-m", "celery", "-A", "knowlex", "worker"),
                *("--concurrency", str(self.workers), "--loglevel", self.log_level),
                *("--without-gossip", "--without-mingle"),
            ],
            log=data_folder.logs_dir(self.data_dir) / "worker.log",
            env={**env, "KNOWLEX_READY_FD": str(writer)},
            cwd=PROJECT_DIR,
            pass_fds=[writer],
        )
        self._parts.append(worker)
        worker.start()
        os.close(writer)
        return reader

    def _start_web(self, env: dict[str, str], listener: socket.socket) -> None:
        web = Part(
            name="The web server",
            command=[sys.executable, "-m", "knowlex.serve", "--fd", str(listener.fileno())],
            log=data_folder.logs_dir(self.data_dir) / "web.log",
            env=env,
            cwd=PROJECT_DIR,
            pass_fds=[listener.fileno()],
            grace_s=GRACE_S + 1.0,
        )
        self._parts.append(web)
        web.start()

    def _wait(self, ready: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + READY_WITHIN_S
        while not ready():
            self._check_parts()
            if time.monotonic() > deadline:
                raise StackError(f"Not ready within {READY_WITHIN_S:.0f} s: {what} did not answer.")
            time.sleep(0.05)

    def _watch(self) -> None:
        while True:
            self._check_parts()
            for part in self._parts:
                part.trim_log()
            time.sleep(0.2)

    def _check_parts(self) -> None:
        for part in self._parts:
            if not part.running:
                raise StackError(part.describe_end())

    def _stop(self) -> None:
        """Ask web and workers at once, so that they end side by side, and then what they use."""
        users = [part for part in self._parts if part.name in {"The web server", "The workers (Celery)"}]
        for part in reversed(users):
            part.ask_to_stop()
        for part in reversed(self._parts):
            part.stop()


def _has_line(reader: int) -> bool:
    try:
        return bool(os.read(reader, 1))
    except BlockingIOError:
        return False
