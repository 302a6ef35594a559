"""`python -m documents.extractors.nursery`: forks one jailed child for each file.

Importing the PDF libraries takes 0.3 s of CPU, as much as reading 80 pages; here it is done once. This
process imports no Django, has no secrets in its environment, and ends with its owner or after a while without
work. A job comes over the socket on standard input: a few bytes and two descriptors, the file and a pipe.
"""

import gc
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress

from documents.extractors.failures import OUT_OF_LIMITS, Unreadable
from documents.extractors.frames import PipeReport, Report
from documents.extractors.jail import lock_in
from documents.extractors.kinds import PDF_MAGIC_WITHIN, opens_as_pdf
from documents.extractors.limits import BRIEF_USER_S, JOB_BYTES, MEMORY_BYTES, Job
from documents.extractors.reading import read_document
from documents.extractors.warming import warm_up, warm_up_the_rest
from documents.extractors.wire import pack, pack_failure
from documents.types import UPLOAD_SOURCES

_POLL_S = 0.5


def main(idle_s: float) -> None:
    control = socket.socket(fileno=0)
    warm_up()
    gc.freeze()  # shared pages stay shared in the children
    children: dict[int, float] = {}
    idle_since = time.monotonic()
    while children or time.monotonic() - idle_since < idle_s:
        readable, _, _ = select.select([control], [], [], _POLL_S)
        if readable and not _take(control, children):
            break
        _end_overdue(children)
        if children:
            idle_since = time.monotonic()
    _end_overdue(children, at=float("inf"))


def _take(control: socket.socket, children: dict[int, float]) -> bool:
    """Start the next job. False when the owner has gone."""
    packed, descriptors, _, _ = socket.recv_fds(control, JOB_BYTES, 2)
    if not packed:
        return False
    if len(descriptors) == 2:
        job = Job.from_bytes(packed)
        if job.sources - UPLOAD_SOURCES and not opens_as_pdf(os.pread(descriptors[0], PDF_MAGIC_WITHIN, 0)):
            warm_up_the_rest()
        pid = os.fork()
        if pid == 0:
            _run(job, *descriptors)
        children[pid] = time.monotonic() + job.wall_s + 1  # should the child have got rid of its own timer
    for descriptor in descriptors:
        os.close(descriptor)
    return True


def _end_overdue(children: dict[int, float], *, at: float | None = None) -> None:
    """Reap what has ended; kill, with all its group, what has outlived its time."""
    for pid, deadline in list(children.items()):
        if os.waitpid(pid, os.WNOHANG)[0]:
            del children[pid]
        elif (at or time.monotonic()) > deadline:
            with suppress(ProcessLookupError):  # a child that ends this moment
                os.killpg(pid, signal.SIGKILL)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            del children[pid]


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
