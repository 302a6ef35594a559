"""PostgreSQL refuses to run as root: there it runs as an account of its own, which must reach its folders."""

import os
import pwd
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from knowlex.embedded.errors import StackError

DESCRIPTORS = Path("/proc/self/fd")
KNOWN = ("pgserver", "postgres")  # the first is the wheel's own convention


@dataclass(frozen=True, slots=True)
class Account:
    uid: int
    gid: int


def service_account(folder: Path) -> Account | None:
    """Whom PostgreSQL runs as: None (this very user), but for root the folder's owner or a system account."""
    if os.geteuid() != 0:
        return None
    if folder.exists() and folder.stat().st_uid != 0:
        return Account(folder.stat().st_uid, folder.stat().st_gid)
    for name in KNOWN:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    return _new_account(KNOWN[0])


def _new_account(name: str) -> Account:
    command = [
        "useradd",
        "--system",
        "--user-group",
        "--no-create-home",
        "--shell",
        "/usr/sbin/nologin",
        name,
    ]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as exc:
        raise StackError(
            f"PostgreSQL refuses to run as root, and the account {name} cannot be made ({exc}). "
            "Run Knowlex as another user, or set DATABASE_URL."
        ) from exc
    entry = pwd.getpwnam(name)
    return Account(entry.pw_uid, entry.pw_gid)


def private_folder(folder: Path, account: Account | None) -> None:
    """Make `folder`, or take one that is there, open to the account alone. Raises StackError if it cannot."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if account is not None and folder.lstat().st_uid == 0:
        os.chown(folder, account.uid, account.gid, follow_symlinks=False)
    check_private(folder, account)


def check_private(folder: Path, account: Account | None) -> None:
    """A folder under /tmp may have been laid there by somebody else: then nothing in it is trusted."""
    found = folder.lstat()
    uid = account.uid if account else os.geteuid()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {uid, os.geteuid()}:
        raise StackError(f"{folder} is not a folder of this user: remove it, or choose another data folder.")
    if found.st_mode & 0o077:
        folder.chmod(0o700)


@contextmanager
def entrances(account: Account | None, *folders: Path) -> Iterator[dict[str, int]]:
    """Descriptors, by path, through which the account enters folders that it could not walk to.

    What lies above a data folder is often closed to all but its owner (a home, a test's folder), and is not
    ours to open. Empty where the account is this very user, or the kernel has no /proc/self/fd.
    """
    if account is None or not DESCRIPTORS.is_dir():
        for folder in folders:
            make_reachable(folder, account)
        yield {}
        return
    opened = {str(folder): os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in set(folders)}
    try:
        yield opened
    finally:
        for descriptor in opened.values():
            os.close(descriptor)


def by_descriptor(words: Sequence[str], opened: Mapping[str, int]) -> list[str]:
    """A command with each opened path replaced by its entrance."""
    return [str(DESCRIPTORS / str(opened[word])) if word in opened else word for word in words]


def make_reachable(path: Path, account: Account | None) -> None:
    """Let the account pass through the folders above `path` (search permission only, not listing)."""
    if account is None:
        return
    for folder in path.resolve().parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)
