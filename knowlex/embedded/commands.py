"""Any `manage.py` command finds the embedded database: the running one, or one started for it alone."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from knowlex.embedded.lock import FolderInUse, FolderLock
from knowlex.embedded.postgres import EmbeddedPostgres

WAIT_S = 30.0
# Commands that touch no database, or see to it themselves.
WITHOUT_DATABASE = {
    *("help", "version", "--help", "-h", "--version", "up", "doctor", "build_model", "collectstatic"),
    *("compilemessages", "makemessages", "diffsettings", "startapp", "startproject"),
}


def needs_database(argv: list[str]) -> bool:
    """argv as in sys.argv. `check` needs one only when told to look at it."""
    if len(argv) < 2 or argv[1] in WITHOUT_DATABASE or {"--help", "-h"} & set(argv[2:]):
        return False
    return argv[1] != "check" or any(word.startswith(("--database", "--deploy")) for word in argv)


@contextmanager
def embedded_database(data_dir: Path, *, command: str) -> Iterator[None]:
    """The database answers inside the block; who started it stops it when the last user is done.

    Raises FolderInUse if the folder's owner neither answers nor leaves within WAIT_S.
    """
    postgres = EmbeddedPostgres(data_dir)
    lock = _own_or_join(postgres, FolderLock(data_dir, owner=command))
    with (data_dir / "users.lock").open("a") as users:
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


def _own_or_join(postgres: EmbeddedPostgres, lock: FolderLock) -> FolderLock | None:
    """The lock if nobody runs the database, None if somebody does and it answers."""
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
