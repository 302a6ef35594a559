"""One owner for a data folder: an flock, which the kernel drops when its holder dies, however it dies."""

import fcntl
import os
import re
from pathlib import Path
from types import TracebackType
from typing import Self

from knowlex.embedded.errors import StackError


class FolderInUse(StackError):
    """Another process holds the folder."""


class FolderLock:
    """Held by whoever runs the embedded services of a data folder: `up`, or a command that started them."""

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

    def tell(self, address: str) -> None:
        """Have the lock name the URL that its holder serves at, for `served_at` and whoever is refused."""
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
    """The URL that the `up` of this folder serves at; None if none runs, or has not come so far."""
    try:
        told = re.fullmatch(r"process (\d+) \(up at (\S+)\)", (data_dir / "instance.lock").read_text())
        if told is not None:
            os.kill(int(told[1]), 0)
    except (OSError, ValueError):  # never started, another user's, or killed and left behind
        return None
    return told[2] if told else None
