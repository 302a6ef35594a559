"""Files on this machine's disk: failures by their names, and locks that tell who is still writing."""

import errno
import fcntl
import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from knowlex.base.errors import StorageUnavailable

log = logging.getLogger(__name__)

NO_ROOM = "There is no room left to store the file."
ROOM = 16 * 2**20  # what PostgreSQL takes at a time for its write-ahead log
_MESSAGES = {errno.ENOSPC: NO_ROOM, errno.EDQUOT: NO_ROOM}


@contextmanager
def translate_os_errors() -> Iterator[None]:
    """Translate errors of the file system to StorageUnavailable, which names no path."""
    try:
        yield
    except OSError as exc:
        log.error("storage unavailable", extra={"errno": errno.errorcode.get(exc.errno or 0, "?")})
        message = _MESSAGES.get(exc.errno or 0, "The file store cannot be written to.")
        raise StorageUnavailable(message) from exc


def has_room(folder: Path) -> bool:
    """Return False where the disk, or this account's share of it, is full; found by writing to it."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM))
    except OSError as exc:
        return exc.errno not in _MESSAGES
    return True


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Yield True if no upload has locked the file; in the block nobody else can lock it."""
    with suppress(FileNotFoundError), path.open("r+b") as file:  # NFS locks only what is open for writing
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
        return
    yield False
