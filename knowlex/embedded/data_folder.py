"""The data folder: where services live in it, who owns it now, and which ones are served on this machine."""

import fcntl
import hashlib
import os
import re
import secrets
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote


class StackError(Exception):
    """The stack cannot start or go on; the message is for the person at the terminal and names the part."""


class FolderInUse(StackError):
    """Another process holds the folder."""


class FolderLock:
    """The lock of who runs the embedded services of a data folder: `up`, or a command that started them."""

    def __init__(self, data_dir: Path, *, owner: str) -> None:
        self.path = data_dir / "instance.lock"
        self._owner = owner
        self._fd: int | None = None

    def acquire(self) -> None:
        """Raises FolderInUse, saying by which process."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(fd, 200).decode(errors="replace").strip() or "another process"
            os.close(fd)
            raise FolderInUse(f"The data folder {self.path.parent} is in use by {holder}.") from None
        self._fd = fd
        self._write()

    def publish(self, address: str) -> None:
        """Write the URL that its holder serves at into the lock, for `served_at` and whoever is refused."""
        self._write(f" at {address}")

    def _write(self, more: str = "") -> None:
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"process {os.getpid()} ({self._owner}{more})".encode(), 0)

    def release(self) -> None:
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.release()


def served_at(data_dir: Path) -> str | None:
    """Return the URL that the `up` of this folder serves at; None if none runs, or has not come so far."""
    try:
        match = re.fullmatch(r"process (\d+) \(up at (\S+)\)", (data_dir / "instance.lock").read_text())
        if match is None:
            return None
        os.kill(int(match[1]), 0)
    except OSError:  # never started, another user's, or killed and left behind
        return None
    return match[2]


def reached_at(data_dir: Path) -> str | None:
    """Return the same as somebody on this machine reaches it, where it is bound to all addresses."""
    address = served_at(data_dir)
    return address and address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


# The kernel takes 107 bytes for a socket's path (macOS 103); libpq splits hosts at commas, URLs at more.
MAX_SOCKET_PATH = 103
PLAIN_PATH = re.compile(r"[A-Za-z0-9_./-]+")
POSTGRES_SOCKET = ".s.PGSQL.5432"
DATABASE_NAME = "knowlex"
DATA_DIR_SETTING = "knowlex.data_dir"  # of PostgreSQL: shows in a list of processes


SECRET_KEY_FILE = "secret_key"  # noqa: S105 - a name


def secret_key(data_dir: Path) -> str:
    """Return Django's SECRET_KEY: made at first use, readable by the owner only, the same ever after."""
    path = data_dir / SECRET_KEY_FILE
    if not path.exists():
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f"secret_key.{secrets.token_hex(4)}")
        fresh.touch(mode=0o600)
        fresh.write_text(secrets.token_urlsafe(50))
        try:
            path.hardlink_to(fresh)  # two first starts at once: one wins, both read the winner's
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text().strip()


def unfinished_restore(data_dir: Path) -> Path:
    """Return the file that is there while a restore into this folder has not ended."""
    return data_dir / "restore_unfinished"


def postgres_dir(data_dir: Path) -> Path:
    return data_dir / "postgres"


def valkey_dir(data_dir: Path) -> Path:
    return data_dir / "valkey"


def logs_dir(data_dir: Path) -> Path:
    return data_dir / "logs"


def socket_dir(data_dir: Path, service: str) -> Path:
    """Return the service's folder in the data folder, or a short one under /tmp if that cannot hold a socket.

    /tmp and not $TMPDIR: every process must come to the same answer, whatever its environment.
    """
    inside = data_dir / service
    longest = os.fsencode(inside / POSTGRES_SOCKET)
    if len(longest) <= MAX_SOCKET_PATH and PLAIN_PATH.fullmatch(str(inside)):
        return inside
    return Path("/tmp") / _outside_name(data_dir, service)  # noqa: S108 (its owner is checked before use)


def counts_dir(data_dir: Path) -> Path:
    """Return where web processes share their counts: in memory, or at least not among the documents.

    The files are mapped, and a process that writes to mapped memory is killed where the disk is full.
    """
    memory = Path("/dev/shm")  # noqa: S108 (its owner is checked before use)
    usable = os.access(memory, os.W_OK | os.X_OK)
    return (memory if usable else Path(tempfile.gettempdir())) / _outside_name(data_dir, "counts")


def _outside_name(data_dir: Path, what: str) -> str:
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
    return f"knowlex-{digest}-{what}"


def valkey_socket(data_dir: Path) -> Path:
    return socket_dir(data_dir, "valkey") / "valkey.sock"


def database_url(data_dir: Path) -> str:
    folder = quote(str(socket_dir(data_dir, "postgres")), safe="")
    return f"postgresql://postgres@{folder}/{DATABASE_NAME}"


def redis_url(data_dir: Path) -> str:
    return f"unix://{valkey_socket(data_dir)}"


def running_servers() -> dict[Path, str]:
    """Return the data folders on this machine whose `up` serves now, with its URL. Others' cannot be read."""
    import psutil

    servers = {}
    for process in psutil.process_iter(["cmdline"]):
        for word in process.info["cmdline"] or ():
            name, _, folder = word.partition("=")
            if name == DATA_DIR_SETTING and (address := served_at(Path(folder))):
                servers[Path(folder)] = address
    return servers
