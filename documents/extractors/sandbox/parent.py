"""The web process's hold on its nursery: started when needed, replaced when gone."""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from documents.extractors.sandbox.limits import Job

_ROOT = Path(__file__).resolve().parents[3]
IDLE_S = 30.0


class NurseryGone(Exception):
    """The nursery cannot be started."""


class Nursery:
    """Hands jobs to the fork server; safe to share between threads, and after a fork."""

    def __init__(self, *, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._owner = 0

    def start(self, job: Job, source: int, target: int, leash: int) -> None:
        """Pass the descriptors to a new jailed child; the caller keeps and closes its own copies.

        leash: the reading end of a pipe; when the other end closes the child is killed.
        A nursery that has left for want of work refuses the job and is replaced. Raises NurseryGone.
        """
        with self._lock:
            for _ in range(3):
                control = self._running()
                try:
                    socket.send_fds(control, [job.to_bytes()], [source, target, leash])
                except OSError:
                    self._forget()
                else:
                    return
        raise NurseryGone

    def _running(self) -> socket.socket:
        if self._owner != os.getpid() or self._process is None or self._process.poll() is not None:
            self._forget()
        if self._control is None:
            self._control, theirs = socket.socketpair()
            with theirs:
                self._process = self._spawn(theirs)
            self._owner = os.getpid()
        return self._control

    def _spawn(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        """The environment is made new, so that no key reaches a process that reads strangers' files."""
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "documents.extractors.sandbox.fork_server", str(self._idle_s)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PYTHONPATH": str(_ROOT), "PATH": os.defpath, "LANG": "C.UTF-8"},
                start_new_session=True,
            )
        except OSError as exc:
            raise NurseryGone from exc
        threading.Thread(target=process.wait, name="nursery-reaper", daemon=True).start()  # leaves no zombie
        return process

    def _forget(self) -> None:
        if self._control is not None:
            self._control.close()
        self._process = self._control = None
