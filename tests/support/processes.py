"""Starting and ending the processes of a stack."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from knowlex.embedded.processes import die_with_parent
from tests.support.environment import PROJECT

Process = subprocess.Popen[bytes]


def start(
    command: Sequence[str], *, env: Mapping[str, str], log: Path, pass_fds: Sequence[int] = ()
) -> Process:
    """A process group of its own, which dies with the test run."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=PROJECT,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=pass_fds,
            preexec_fn=die_with_parent(signal.SIGKILL),
        )


def runs(process: Process | None) -> bool:
    return process is not None and process.poll() is None


def terminate(process: Process | None, timeout_s: float = 15.0) -> None:
    """SIGTERM, and kill -9 for what is left when time is up."""
    if process is not None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout_s)
        kill_group(process)


def kill_group(process: Process | None) -> None:
    """kill -9 of the process and everything it started, as a power cut would."""
    if process is not None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def pause_group(process: Process, *, on: bool) -> None:
    """Stop the process and everything it started where it is, or let it go on."""
    os.killpg(process.pid, signal.SIGSTOP if on else signal.SIGCONT)


def children(process: Process) -> list[psutil.Process]:
    """Direct children that live, Python's resource tracker left out."""
    found = psutil.Process(process.pid).children()
    return [child for child in found if "resource_tracker" not in _command(child) and _command(child)]


def _command(process: psutil.Process) -> str:
    """ "" for one that has just ended."""
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return ""
