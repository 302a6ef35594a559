"""Child processes of the stack: started with a log file, watched, stopped; and the account they run as."""

import ctypes
import http.client
import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import psutil

from knowlex.base import readiness
from knowlex.embedded.data_folder import StackError

DESCRIPTORS = Path("/proc/self/fd")
ACCOUNTS = ("pgserver", "postgres")  # the first is the wheel's own convention


@dataclass(frozen=True, slots=True)
class Account:
    uid: int
    gid: int


def service_account(folder: Path) -> Account | None:
    """Return whom PostgreSQL runs as: None for this very user, but for root the folder's owner or a system
    account.
    """
    if os.geteuid() != 0:
        return None
    if folder.exists() and folder.stat().st_uid != 0:
        return Account(folder.stat().st_uid, folder.stat().st_gid)
    for name in ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    return _create_account(ACCOUNTS[0])


def _create_account(name: str) -> Account:
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"]
    try:
        subprocess.run([*command, name], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as exc:
        raise StackError(
            f"PostgreSQL refuses to run as root, and the account {name} cannot be made ({exc}). "
            "Run Knowlex as another user, or set DATABASE_URL."
        ) from exc
    entry = pwd.getpwnam(name)
    return Account(entry.pw_uid, entry.pw_gid)


def private_folder(folder: Path, account: Account | None) -> None:
    """Make `folder`, or take one that is there, open to the account alone. Raises StackError if it cannot.

    What is in a folder of root's is handed over, too: a copy by `cp -r` is all root's.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    if account is not None and folder.lstat().st_uid == 0:
        for path in [*folder.rglob("*"), folder]:  # the folder last: what was broken off is done again
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
    check_private(folder, account)


def check_private(folder: Path, account: Account | None) -> None:
    """Refuse a folder that somebody else may have laid under /tmp: nothing in it is trusted."""
    status = folder.lstat()
    uid = account.uid if account else os.geteuid()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in {uid, os.geteuid()}:
        raise StackError(f"{folder} is not a folder of this user: remove it, or choose another data folder.")
    if status.st_mode & 0o077:
        folder.chmod(0o700)


@contextmanager
def open_folders(account: Account | None, *folders: Path) -> Iterator[dict[str, int]]:
    """Yield descriptors, by path, through which the account enters folders that it could not walk to.

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


def replace_paths(words: Sequence[str], opened: Mapping[str, int]) -> list[str]:
    """Return the command with each opened path replaced by its descriptor."""
    return [str(DESCRIPTORS / str(opened[word])) if word in opened else word for word in words]


def make_reachable(path: Path, account: Account | None) -> None:
    """Let the account pass through the folders above `path` (search permission only, not listing)."""
    if account is None:
        return
    for folder in path.resolve().parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


LIMIT_S = 5.0


def is_serving(host: str, port: int) -> bool:
    """Return whether the web server answers and has its database. What else may be away, such as a vector
    store of others, comes back by itself, and much can be done without it.
    """
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (asked, not bound)
    with closing(http.client.HTTPConnection(reachable, port, timeout=LIMIT_S)) as connection:
        try:
            connection.request("GET", "/health", headers={"Host": f"127.0.0.1:{port}"})
            health = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            return False
    return isinstance(health, dict) and health.get("database") == "connected"


PR_SET_PDEATHSIG = 1
MAX_LOG_BYTES = 10 * 1024 * 1024  # beside them, as many of the time before are kept
TAIL_BYTES = 16 * 1024
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent(death_signal: int, *, parent: int | None = None) -> Callable[[], None]:
    """Return a `preexec_fn` that has the kernel send `death_signal` when the parent is gone (Linux only)."""
    parent = parent or os.getpid()

    def arrange() -> None:
        if _libc is not None:
            _libc.prctl(PR_SET_PDEATHSIG, death_signal)
            if os.getppid() != parent:  # it died before the call
                os._exit(1)

    return arrange


@dataclass
class Part:
    """`name` is for messages. `stop_signal` asks it to end; after `grace_s` its whole group is killed.

    reports_ready: it calls `report_ready` when it serves.
    """

    name: str
    command: Sequence[str]
    log: Path
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL
    grace_s: float = 10.0
    account: Account | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    pass_fds: Sequence[int] = ()
    reports_ready: bool = False
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False, repr=False)
    _was_asked: bool = field(default=False, init=False, repr=False)
    _ready: int | None = field(default=None, init=False, repr=False)

    def start(self, opened: Mapping[str, int] = MappingProxyType({})) -> None:
        """Start it, or start it again after it ended.

        opened: what `open_folders` yields. Call it from the main thread: a child dies with the thread that
        made it.
        """
        if not self.reports_ready:
            self._start(opened, self.env, self.pass_fds)
            return
        self._close_ready()
        self._ready, writer = os.pipe()
        os.set_blocking(self._ready, False)
        try:
            self._start(opened, {**self.env, readiness.VARIABLE: str(writer)}, [*self.pass_fds, writer])
        finally:
            os.close(writer)

    def _start(self, opened: Mapping[str, int], env: Mapping[str, str], descriptors: Sequence[int]) -> None:
        self._was_asked = False
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                replace_paths(self.command, opened),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.cwd,
                env={**os.environ, **env},
                pass_fds=[*descriptors, *opened.values()],
                start_new_session=True,  # Ctrl-C in the terminal is ours to hand on
                preexec_fn=die_with_parent(self.death_signal),
                user=self.account.uid if self.account else None,
                group=self.account.gid if self.account else None,
                extra_groups=[] if self.account else None,
            )

    @property
    def exit_code(self) -> int | None:
        """None while it runs (or was never started)."""
        return self._process.poll() if self._process else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def has_reported(self) -> bool:
        """Return whether it said that it serves, since it was last started; `reports_ready` asks it to."""
        if self._ready is None:
            return True
        try:
            reported = bool(os.read(self._ready, 1))
        except BlockingIOError:
            return False
        if reported:
            self._close_ready()
        return reported

    def _close_ready(self) -> None:
        if self._ready is not None:
            os.close(self._ready)
            self._ready = None

    def trim_log(self) -> None:
        """Move the text of a log over MAX_LOG_BYTES to `.log.1`; to be called now and then.

        The part appends to the open file and knows nothing of this, so the file is emptied, not renamed.
        Where no copy can be made, as on a full disk, the log goes all the same: it must not fill the disk.
        """
        with suppress(FileNotFoundError):  # somebody removed it
            if self.log.stat().st_size > MAX_LOG_BYTES:
                with suppress(OSError):
                    shutil.copyfile(self.log, self.log.with_suffix(".log.1"))
                os.truncate(self.log, 0)

    def ask_to_stop(self) -> None:
        """Send the signal once: Celery takes a second one as "at once"."""
        if self._process and self.running and not self._was_asked:
            self._was_asked = True
            self._process.send_signal(self.stop_signal)

    def stop(self, *, at_once: bool = False) -> None:
        """Returns when the process is gone; what is left of its group is killed."""
        if self._process is None:
            return
        self.ask_to_stop()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=0 if at_once else self.grace_s)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    @property
    def end(self) -> str:
        """How it ended, as what a sentence says of it."""
        code = self.exit_code or 0
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def describe_end(self, lines: int = 15) -> str:
        """Say why it may have ended: its exit and the last lines of its log."""
        return f"{self.name} {self.end}.{self.quote_log(lines)}"

    def quote_log(self, lines: int = 15) -> str:
        """Return a sentence with the last lines of its log, after a space; "" where there are none."""
        try:
            last_lines = _read_end(self.log).splitlines()[-lines:]
        except OSError:
            last_lines = []
        quoted = "".join(f"\n    {line}" for line in last_lines)
        return f" Its log, {self.log}, ends:{quoted}" if last_lines else ""


def _read_end(log: Path) -> str:
    """Return the last 16 KiB: a server's log is large after some months. Raises OSError."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        return file.read(TAIL_BYTES).decode(errors="replace")


def end_orphans(folder: Path, name: str) -> None:
    """Kill the processes of that name that work in `folder` still, though their server was killed."""
    place = str(folder.resolve())
    processes = psutil.process_iter(["name", "cwd"])
    orphans = [process for process in processes if process.info == {"name": name, "cwd": place}]
    for orphan in orphans:
        with suppress(psutil.NoSuchProcess):
            orphan.kill()
    psutil.wait_procs(orphans, timeout=15)


def end_leftover(pid_file: Path, folder: Path, asking: signal.Signals, forcing: signal.Signals) -> None:
    """End a server that outlived its `up` and still works in `folder`, and remove its pid file.

    A process of that number may be anybody's, most of all in a new container: only its working folder tells.
    """
    try:
        process = psutil.Process(int(pid_file.read_text().split("\n", 1)[0]))
        ours = process.cwd() == str(folder.resolve())
    except (FileNotFoundError, ValueError, psutil.Error):
        ours = False
    if ours:
        for number in (asking, forcing):
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
            _, alive = psutil.wait_procs([process], timeout=15)
            if not alive:
                break
    pid_file.unlink(missing_ok=True)
