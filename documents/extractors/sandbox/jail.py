"""The limits a child process puts on itself before it touches a file."""

import ctypes
import os
import resource
import signal

from documents.extractors.sandbox.seccomp import allow_only_needed

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38


def lock_in(*, cpu_s: int, user_s: float, wall_s: float, memory_bytes: int) -> None:
    """From here on: no file can be opened, written or deleted, no socket made, no process started or ended.

    The kernel ends the process when its time is up, whatever native code it is in. user_s: CPU in user mode,
    finer than cpu_s; 0 for no such limit.
    """
    os.setpgid(0, 0)
    _end_with_parent()
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))  # open descriptors stay usable: the file and the pipe
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, wall_s)
    signal.setitimer(signal.ITIMER_VIRTUAL, user_s)
    allow_only_needed()


def _end_with_parent() -> None:
    """Linux only; elsewhere the timers above are what ends an orphan."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
