"""`python -m documents.extractors.sandbox.fork_server`: forks one jailed child for each file.

Importing the PDF libraries takes 0.3 s of CPU, as much as reading 80 pages; here it is done once. This
process imports no Django, has no secrets in its environment, and ends with its owner or after a while without
work. A job comes over the socket on standard input: a few bytes and three descriptors, which are the file,
the pipe to answer on, and a leash, at whose closing the child is killed.
"""

import gc
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass

from documents.extractors.failures import OUT_OF_LIMITS, Unreadable
from documents.extractors.file_types import PDF_MAGIC_WITHIN, opens_as_pdf
from documents.extractors.readers import read_document
from documents.extractors.sandbox.frames import PipeReport, Report
from documents.extractors.sandbox.jail import lock_in
from documents.extractors.sandbox.limits import BRIEF_USER_S, JOB_BYTES, MEMORY_BYTES, Job
from documents.extractors.sandbox.preload import warm_up, warm_up_the_rest
from documents.extractors.sandbox.wire import pack, pack_failure
from documents.types import UPLOAD_SOURCES

_POLL_S = 0.5


def main(idle_s: float) -> None:
    control = socket.socket(fileno=0)
    warm_up()
    gc.freeze()  # shared pages stay shared in the children
    children: list[_Child] = []
    idle_since = time.monotonic()
    while children or time.monotonic() - idle_since < idle_s:
        heard: list[socket.socket | int] = [control, *(child.leash for child in children)]
        readable, _, _ = select.select(heard, [], [], _POLL_S)
        if control in readable and not _take(control, children):
            break
        children = [child for child in children if not _has_ended(child, left=child.leash in readable)]
        if children:
            idle_since = time.monotonic()
    for child in children:
        _has_ended(child, left=True)


@dataclass(frozen=True, slots=True)
class _Child:
    """deadline: should it have got rid of its own timer. leash: readable once nobody waits for its answer."""

    pid: int
    deadline: float
    leash: int


def _take(control: socket.socket, children: list[_Child]) -> bool:
    """Start the next job. False when the owner has gone."""
    packed, descriptors, _, _ = socket.recv_fds(control, JOB_BYTES, 3)
    if not packed:
        return False
    if len(descriptors) == 3:
        job = Job.from_bytes(packed)
        source, target, leash = descriptors
        if job.sources - UPLOAD_SOURCES and not opens_as_pdf(os.pread(source, PDF_MAGIC_WITHIN, 0)):
            warm_up_the_rest()
        pid = os.fork()
        if pid == 0:
            _run(job, source, target)
        children.append(_Child(pid, time.monotonic() + job.wall_s + 1, leash))
        descriptors = [source, target]
    for descriptor in descriptors:
        os.close(descriptor)
    return True


def _has_ended(child: _Child, *, left: bool) -> bool:
    """Reap it if it has ended; kill it, with all its group, if it was left or has outlived its time."""
    if not os.waitpid(child.pid, os.WNOHANG)[0]:
        if not left and time.monotonic() <= child.deadline:
            return False
        with suppress(ProcessLookupError):  # it ends this moment, or has not made its group yet
            os.killpg(child.pid, signal.SIGKILL)
        os.kill(child.pid, signal.SIGKILL)
        os.waitpid(child.pid, 0)
    os.close(child.leash)
    return True


def _run(job: Job, source: int, target: int) -> None:
    """The child: never returns."""
    try:
        os.close(0)
        size_bytes = os.fstat(source).st_size
        user_s = BRIEF_USER_S if job.brief else 0.0
        lock_in(cpu_s=job.cpu_s(size_bytes), user_s=user_s, wall_s=job.wall_s, memory_bytes=MEMORY_BYTES)
        report = PipeReport(target)
        report.started()
        report.result(_result(job, source, size_bytes, report))
        os._exit(0)
    finally:
        os._exit(1)


def _result(job: Job, source: int, size_bytes: int, report: Report) -> bytes:
    try:
        data = os.pread(source, size_bytes, 0)
        return pack(read_document(data, job, report))
    except Unreadable as failure:
        return pack_failure(failure)
    except (MemoryError, RecursionError):
        return pack_failure(Unreadable(OUT_OF_LIMITS))


if __name__ == "__main__":
    main(float(sys.argv[1]))
