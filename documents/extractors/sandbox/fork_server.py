"""`python -m documents.extractors.sandbox.fork_server`: forks one jailed child for each file.

Importing the PDF libraries takes 0.3 s of CPU, as much as reading 80 pages; here it is done once. This
process imports no Django, has no secrets in its environment, and ends with its parent or after a while
without work. A job comes over the socket on standard input: a few bytes and three descriptors, which are the
file, the pipe to answer on, and a cancel pipe: when its other end closes, the child is killed.

A jailed child cannot open another file, so all that reading may need is loaded before the fork.
"""

import encodings
import gc
import importlib
import logging
import os
import pkgutil
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO

from documents.extractors.cleaning import rejoin_words
from documents.extractors.failures import OUT_OF_LIMITS, Unreadable
from documents.extractors.job import (
    BRIEF_USER_S,
    JOB_BYTES,
    MEMORY_BYTES,
    PDF_MAGIC_WITHIN,
    Job,
    opens_as_pdf,
)
from documents.extractors.pdf.reader import draw_page
from documents.extractors.pdf.view import draw_view, read_layout
from documents.extractors.readers import read_document
from documents.extractors.sandbox.jail import lock_in
from documents.extractors.sandbox.wire import PipeReporter, pack, pack_failure
from documents.types import ALL_SOURCES, UPLOAD_SOURCES, Extraction

_PDF = b"""%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R
/Resources <</Font <</F <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>>>>> endobj
4 0 obj <</Length 30>> stream
BT /F 9 Tf 9 9 Td (Hi) Tj ET  \nendstream endobj
trailer <</Root 1 0 R>>
"""


_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Warm</title>
<meta name="author" content="A. Writer">
<meta property="article:published_time" content="2024-01-31T10:00:00Z">
<script type="application/ld+json">{"@type": "Article", "headline": "Warm"}</script></head><body><nav>no</nav>
<article><h1>Warm</h1><p>By A. Writer, 31 January 2024</p>%s<ul><li>up</li></ul><pre>code</pre>
<table><tr><th>a</th><td>b</td></tr></table></article></body></html>""" % (
    "<p>Words of a paragraph, and more.</p>" * 9
)
_LETTERS = {"cp1252": "café", "cp1251": "Привет, это простой текст.", "cp932": "これは日本語の文です。"}


def preload_pdf() -> None:
    """Load what PDF needs."""
    logging.disable(logging.CRITICAL)  # pypdf warns of every fault of a file
    for module in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError):  # some exist on Windows only
            importlib.import_module(f"encodings.{module.name}")
    for module_name in ("pypdf._encryption", "pypdf._crypt_providers", "pypdf.generic._image_inline"):
        importlib.import_module(module_name)
    rejoin_words("warm\ufffe\nup")
    for reader in ("pdfium", "pypdf"):
        with suppress(Unreadable):
            read_document(_PDF, Job(reader))


@cache
def preload_markdown() -> None:
    read_document(b"---\ntitle: Warm\n---\n# Warm\n\nup", Job("auto", "markdown"))


@cache
def preload_other_formats() -> None:
    """Load what HTML, DOCX and plain text need.

    Some 0.4 s of CPU and 30 MB, which a server for PDFs saves.
    """
    for text in (_PAGE, "<html><body><p>Hardly anything.</p></body></html>"):
        read_document(text.encode(), Job("auto", "html", ALL_SOURCES))
    for encoding, text in _LETTERS.items():
        read_document(text.encode(encoding), Job("auto", "text", ALL_SOURCES))
    read_document(_make_docx(), Job("auto", sources=ALL_SOURCES))


def _make_docx() -> bytes:
    import docx  # not before the first such file

    document = docx.Document()
    document.add_heading("Warm")
    document.add_paragraph("up", style="List Bullet")
    document.add_table(2, 2).cell(0, 0).text = "cell"
    file = BytesIO()
    document.save(file)
    return file.getvalue()


_POLL_S = 0.5


def main(idle_s: float) -> None:
    control = socket.socket(fileno=0)
    preload_pdf()
    gc.freeze()  # shared pages stay shared in the children
    children: list[_Child] = []
    idle_since = time.monotonic()
    while children or time.monotonic() - idle_since < idle_s:
        watched: list[socket.socket | int] = [control, *(child.cancel_fd for child in children)]
        readable, _, _ = select.select(watched, [], [], _POLL_S)
        if control in readable and not _start_job(control, children):
            break
        children = [child for child in children if not _reap(child, cancelled=child.cancel_fd in readable)]
        if children:
            idle_since = time.monotonic()
    for child in children:
        _reap(child, cancelled=True)


@dataclass(frozen=True, slots=True)
class _Child:
    """A running child.

    deadline: ends a child that has got rid of its own timer. cancel_fd: readable once nobody waits for the
    result.
    """

    pid: int
    deadline: float
    cancel_fd: int


def _start_job(control: socket.socket, children: list[_Child]) -> bool:
    """Receive the next job and fork a child for it; False when the parent has gone."""
    packed, descriptors, _, _ = socket.recv_fds(control, JOB_BYTES, 3)
    if not packed:
        return False
    if len(descriptors) == 3:
        job = Job.from_bytes(packed)
        source, target, cancel_fd = descriptors
        if not opens_as_pdf(os.pread(source, PDF_MAGIC_WITHIN, 0)):
            preload_markdown()
            if job.sources - UPLOAD_SOURCES:
                preload_other_formats()
        pid = os.fork()
        if pid == 0:
            _run_child(job, source, target)
        children.append(_Child(pid, time.monotonic() + job.wall_s + 1, cancel_fd))
        descriptors = [source, target]
    for descriptor in descriptors:
        os.close(descriptor)
    return True


def _reap(child: _Child, *, cancelled: bool) -> bool:
    """Tell if the child has ended; kill it, with its group, if it was cancelled or has outlived its time."""
    if not os.waitpid(child.pid, os.WNOHANG)[0]:
        if not cancelled and time.monotonic() <= child.deadline:
            return False
        with suppress(ProcessLookupError):  # it ends this moment, or has not made its group yet
            os.killpg(child.pid, signal.SIGKILL)
        os.kill(child.pid, signal.SIGKILL)
        os.waitpid(child.pid, 0)
    os.close(child.cancel_fd)
    return True


def _run_child(job: Job, source: int, target: int) -> None:
    """Read the file in the child, within the limits. Never returns."""
    try:
        os.close(0)
        size_bytes = os.fstat(source).st_size
        user_s = BRIEF_USER_S if job.brief else 0.0
        lock_in(cpu_s=job.cpu_s(size_bytes), user_s=user_s, wall_s=job.wall_s, memory_bytes=MEMORY_BYTES)
        reporter = PipeReporter(target)
        reporter.started()
        reporter.result(_read_packed(job, source, size_bytes, reporter))
        os._exit(0)
    finally:
        os._exit(1)


def _read_packed(job: Job, source: int, size_bytes: int, reporter: PipeReporter) -> bytes:
    try:
        data = os.pread(source, size_bytes, 0)
        if job.layout:
            reporter.layout(read_layout(data, job.page))
        elif job.page:
            picture = draw_view(data, job.page, job.width) if job.width else draw_page(data, job.page)
            reporter.picture(picture)
        else:
            return pack(read_document(data, job, reporter.progress))
        return pack(Extraction("PDF", "", ()))
    except Unreadable as failure:
        return pack_failure(failure)
    except (MemoryError, RecursionError):
        return pack_failure(Unreadable(OUT_OF_LIMITS))


if __name__ == "__main__":
    main(float(sys.argv[1]))
