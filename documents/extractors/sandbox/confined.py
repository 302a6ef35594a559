"""`python -I -S confined.py PROGRAM ARGUMENT…`: becomes the program, within limits.

The program reads strangers' pictures: it gets no secrets (who starts it makes its environment), can write
no file, has no network and ends with its parent.
"""

import ctypes
import os
import resource
import runpy
import signal
import sys
from pathlib import Path

CPU_S = 20
MEMORY_BYTES = 1024**3
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38


def become(command: list[str]) -> None:
    """Never returns. Raises OSError if the program cannot be started."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:  # Linux only; elsewhere its CPU limit is what ends an orphan
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    # A module of ours, which a Python without our folders finds by its path only.
    runpy.run_path(str(Path(__file__).with_name("seccomp.py")))["refuse_harmful"]()
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    become(sys.argv[1:])
