"""CPU seconds of other processes, with what they started."""

import os
from collections.abc import Mapping

import psutil


class CpuMeter:
    """Counts from its making on; this process counts without what it started.

    processes: a name and the process at the head of each tree.
    """

    def __init__(self, processes: Mapping[str, psutil.Process]) -> None:
        self._processes = processes
        self._before = {name: cpu_seconds(process) for name, process in processes.items()}

    def used(self) -> dict[str, float]:
        """CPU seconds since then. A child that has ended meanwhile is not counted."""
        return {name: cpu_seconds(process) - self._before[name] for name, process in self._processes.items()}


def cpu_seconds(process: psutil.Process) -> float:
    """User and system time of a process and, unless it is this one, of its living descendants."""
    seconds = 0.0
    started = [] if process.pid == os.getpid() else process.children(recursive=True)
    for each in [process, *started]:
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        seconds += times.user + times.system
    return seconds
