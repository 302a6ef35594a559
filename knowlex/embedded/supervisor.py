"""`up`: starts every part in order, keeps them running, and stops them in the reverse order."""

import logging
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from knowlex.embedded import data_folder, processes
from knowlex.embedded.data_folder import FolderLock, StackError
from knowlex.embedded.keeping import KeptPart, wait_until_ready
from knowlex.embedded.processes import Part
from knowlex.embedded.services import EmbeddedPostgres, EmbeddedValkey
from knowlex.runtime import parts
from knowlex.runtime.disk import has_room
from knowlex.serve import GRACE_S, bind_socket

PROJECT_DIR = Path(__file__).resolve().parent.parent.parent
LOOK_EVERY_S, REST_S, TRIM_EVERY_S = 0.05, 1.0, 5.0  # REST_S: while all parts serve and none ends
log = logging.getLogger(__name__)


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
    web_processes: int
    log_level: str
    embedded_postgres: bool
    embedded_valkey: bool
    prepare: Callable[[], None]
    say: Callable[[str], None]
    once_ready: Callable[[], None]
    _services: list[KeptPart] = field(default_factory=list, init=False)
    _users: list[KeptPart] = field(default_factory=list, init=False)  # of the services: workers and web
    _told: dict[str, parts.PartState] = field(default_factory=dict, init=False)
    _stopping: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._woken, self._waking = socket.socketpair()  # Python writes to it at each signal

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM.

        Raises StackError, naming the part, if one cannot start, or ends again and again.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        self._wake_when_a_process_ends()
        with FolderLock(self.data_dir, owner="up") as lock, self._listener() as listener:
            self._say_start()
            try:
                self._start(listener)
                address = self._address(listener)
                lock.publish(address)
                self.say(f"Knowlex is ready at {address}")
                self._say_where(address)
                Thread(target=self.once_ready, name="once ready", daemon=True).start()
                self._keep()
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
        web = "the web server" if self.web_processes == 1 else f"{self.web_processes} web processes"
        self.say(f"Starting {', '.join([*embedded, workers])} and {web} in {self.data_dir} …")

    def _say_where(self, address: str) -> None:
        self.say(f"  Page   {address}/")
        self.say(f"  API    {address}/api/docs")
        self.say(f"  Admin  {address}/admin/")
        self.say(f"  Logs   {data_folder.logs_dir(self.data_dir)}")

    def _on_signal(self, _number: int, _frame: object) -> None:
        if not self._stopping:
            self._stopping = True
            raise Stopped

    def _wake_when_a_process_ends(self) -> None:
        for end in (self._woken, self._waking):
            end.setblocking(False)
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only what has a handler wakes

    def _listener(self) -> socket.socket:
        """Return a socket on the port, which one web process inherits; several bind sockets of their own.

        On the same socket, the first of them to wake accepts all who connect at once. An own socket goes with
        its process, and none that Linux has given to it waits for the next.
        """
        try:
            listener = bind_socket(self.host, self.port)
            if not self._shares_port:
                return listener
            with listener:  # now it is known that no other server has the port
                port = listener.getsockname()[1]
            return bind_socket(self.host, port, shared=True)
        except OSError as exc:
            raise StackError(f"Cannot serve at {self.host}:{self.port}: {exc.strerror or exc}.") from exc

    @property
    def _shares_port(self) -> bool:
        """Linux deals connections out to all sockets of a port; macOS gives them all to one."""
        return self.web_processes > 1 and sys.platform == "linux"

    def _address(self, listener: socket.socket) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{listener.getsockname()[1]}"

    def _start(self, listener: socket.socket) -> None:
        host, port = listener.getsockname()[:2]
        self._services = self._make_services()
        self._wait_for(self._services)
        self.prepare()
        env = {
            "KNOWLEX_DATA_DIR": str(self.data_dir),
            "KNOWLEX_HOST": self.host,
            "KNOWLEX_PORT": str(port),
            "KNOWLEX_WORKERS": str(self.workers),
            "KNOWLEX_WEB_PROCESSES": str(self.web_processes),
        }
        processes.private_folder(data_folder.counts_dir(self.data_dir), None)
        webs = [self._make_web(env, listener, number) for number in range(self.web_processes)]
        self._users = [self._make_worker(env), *webs]
        self._wait_for(self._users)
        wait_until_ready(webs[0].part, lambda: processes.is_serving(host, port))

    def _make_services(self) -> list[KeptPart]:
        services: list[KeptPart] = []
        if self.embedded_postgres:
            postgres = EmbeddedPostgres(self.data_dir)
            services.append(self._kept("database", postgres.part, postgres.start, postgres.is_ready))
        if self.embedded_valkey:
            valkey = EmbeddedValkey(self.data_dir)
            services.append(self._kept("broker", valkey.part, valkey.start, valkey.answers))
        return services

    def _make_worker(self, env: dict[str, str]) -> KeptPart:
        worker = Part(
            name="The group of workers (Celery)",
            command=[
                *(sys.executable, "-m", "celery", "-A", "knowlex", "worker"),
                *("--concurrency", str(self.workers), "--loglevel", self.log_level),
                *("--without-gossip", "--without-mingle"),
                "--without-heartbeat",  # `liveness` tells who lives
            ],
            log=data_folder.logs_dir(self.data_dir) / "worker.log",
            env=env,
            cwd=PROJECT_DIR,
            reports_ready=True,
        )
        return self._kept("workers", worker, worker.start, worker.has_reported)

    def _make_web(self, env: dict[str, str], listener: socket.socket, number: int) -> KeptPart:
        descriptors = [] if self._shares_port else [listener.fileno()]
        listening = ["--shared"] if self._shares_port else ["--fd", str(listener.fileno())]
        web = Part(
            name="The web server" if self.web_processes == 1 else f"The web server (process {number})",
            command=[sys.executable, "-m", "knowlex.serve", *listening],
            log=data_folder.logs_dir(self.data_dir) / "web.log",
            env={**env, "KNOWLEX_WEB_PROCESS": str(number)},
            cwd=PROJECT_DIR,
            pass_fds=descriptors,
            grace_s=GRACE_S + 1.0,
            reports_ready=True,
        )
        return self._kept(f"web-{number}", web, web.start, web.has_reported)

    def _kept(
        self, key: str, part: Part, start: Callable[[], None], is_ready: Callable[[], bool]
    ) -> KeptPart:
        return KeptPart(
            key,
            part,
            start=start,
            is_ready=is_ready,
            is_disk_full=lambda: not has_room(self.data_dir),
            say=self.say,
        )

    def _wait_for(self, kept: list[KeptPart]) -> None:
        """Start them at once, and wait until all serve. What was started before is kept running meanwhile."""
        while not all(part.serves for part in kept):
            self._look()
            time.sleep(LOOK_EVERY_S)

    def _keep(self) -> None:
        trimmed_at = time.monotonic()
        while True:
            self._look()
            if time.monotonic() - trimmed_at > TRIM_EVERY_S:
                trimmed_at = time.monotonic()
                for kept in self._all:
                    kept.part.trim_log()
            self._wait(REST_S if all(kept.serves for kept in self._all) else LOOK_EVERY_S)

    def _wait(self, seconds: float) -> None:
        """Wait so long, or until a process ends."""
        if select.select([self._woken], [], [], seconds)[0]:
            self._woken.recv(1024)

    @property
    def _all(self) -> list[KeptPart]:
        return [*self._services, *self._users]

    def _look(self) -> None:
        for kept in self._all:
            kept.look()
        states = {kept.key: kept.state for kept in self._all}
        if states != self._told:
            self._told = states
            try:
                parts.write_states(self.data_dir, states)
            except OSError as exc:  # a full disk: nothing ends for it
                log.warning("the states of the parts cannot be written", extra={"error": str(exc)})

    def _stop(self) -> None:
        """Ask web and workers at once, so that they end side by side, and then what they use."""
        for kept in reversed(self._users):
            kept.part.ask_to_stop()
        for kept in reversed(self._all):
            kept.part.stop()
        with suppress(OSError):
            parts.states_file(self.data_dir).unlink(missing_ok=True)
        shutil.rmtree(data_folder.counts_dir(self.data_dir), ignore_errors=True)
