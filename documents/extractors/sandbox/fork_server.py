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
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time
from functools import cache
from io import BytesIO
from time import monotonic

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
from documents.extractors.readers import OLE, ZIP, read_document
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
_MAIL = b"""From: Ann <ann@example.com>
Subject: =?utf-8?q?Warm?=
Date: Wed, 31 Jan 2024 10:00:00 +0000
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: multipart/alternative; boundary=y

--y
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

=C3=BCp
--y
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: base64

PHA+dXA8L3A+
--y--
--x
Content-Type: message/rfc822

Subject: In

up
--x--
"""
_ODT = """<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text><text:p>up</text:p>
</office:text></office:body></office:document-content>"""
_EPUB = """<package><metadata><title>Warm</title></metadata><manifest><item id="a" href="a.xhtml"
media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>"""
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
    """Load what HTML, mail, RTF, CSV and plain text need.

    Some 0.4 s of CPU and 30 MB, which a server for PDFs saves.
    """
    for text in (_PAGE, "<html><body><p>Hardly anything.</p></body></html>"):
        read_document(text.encode(), Job("auto", "html", ALL_SOURCES))
    for encoding, text in _LETTERS.items():
        read_document(text.encode(encoding), Job("auto", "text", ALL_SOURCES))
    read_document(b"a,b\n1,2\n", Job("auto", "csv", ALL_SOURCES))
    read_document(_MAIL, Job("auto", "mail", ALL_SOURCES))
    read_document(rb"{\rtf1 up}", Job("auto", sources=ALL_SOURCES))


@cache
def preload_packages() -> None:
    """Load what DOCX, XLSX, PPTX, ODT and EPUB need: some 0.4 s of CPU and 40 MB."""
    for data in (_make_docx(), _make_xlsx(), _make_pptx(), _make_odt(), _make_epub()):
        read_document(data, Job("auto", sources=ALL_SOURCES))


@cache
def preload_outlook() -> None:
    importlib.import_module("documents.extractors.office.msg")


def _make_docx() -> bytes:
    import docx  # not before the first such file

    document = docx.Document()
    document.add_heading("Warm")
    document.add_paragraph("up", style="List Bullet")
    document.add_table(2, 2).cell(0, 0).text = "cell"
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _make_xlsx() -> bytes:
    import openpyxl

    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (("head", "day"), ("up", date(2024, 1, 31)), (0.5, time(1))):
        sheet.append(row)
    sheet["A3"].number_format = "0%"
    file = BytesIO()
    workbook.save(file)
    return file.getvalue()


def _make_pptx() -> bytes:
    import pptx
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = slide.placeholders[1].text = slide.notes_slide.notes_text_frame.text = "Warm"
    slide.shapes.add_table(2, 2, 0, 0, 99, 99).table.cell(0, 0).text = "cell"
    chart = CategoryChartData()
    chart.categories = ["up"]
    chart.add_series("one", (1,))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 99, 99, chart)
    file = BytesIO()
    presentation.save(file)
    return file.getvalue()


def _make_odt() -> bytes:
    media_type = "application/vnd.oasis.opendocument.text"
    return _zip({"mimetype": media_type, "META-INF/manifest.xml": "", "content.xml": _ODT})


def _make_epub() -> bytes:
    container = '<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>'
    return _zip({"META-INF/container.xml": container, "a.opf": _EPUB, "a.xhtml": _PAGE})


def _zip(entries: dict[str, str]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


_POLL_S = 0.5


def main(idle_s: float) -> None:
    control = socket.socket(fileno=0)
    preload_pdf()
    gc.freeze()  # shared pages stay shared in the children
    children: list[_Child] = []
    idle_since = monotonic()
    while children or monotonic() - idle_since < idle_s:
        watched: list[socket.socket | int] = [control, *(child.cancel_fd for child in children)]
        readable, _, _ = select.select(watched, [], [], _POLL_S)
        if control in readable and not _start_job(control, children):
            break
        children = [child for child in children if not _reap(child, cancelled=child.cancel_fd in readable)]
        if children:
            idle_since = monotonic()
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


def _preload_others(head: bytes) -> None:
    if head.startswith(ZIP):
        preload_packages()
    elif head.startswith(OLE):
        preload_outlook()
    else:
        preload_other_formats()


def _start_job(control: socket.socket, children: list[_Child]) -> bool:
    """Receive the next job and fork a child for it; False when the parent has gone."""
    packed, descriptors, _, _ = socket.recv_fds(control, JOB_BYTES, 3)
    if not packed:
        return False
    if len(descriptors) == 3:
        job = Job.from_bytes(packed)
        source, target, cancel_fd = descriptors
        head = os.pread(source, PDF_MAGIC_WITHIN, 0)
        if not opens_as_pdf(head, job.name_kind):
            preload_markdown()
            if job.sources - UPLOAD_SOURCES:
                _preload_others(head)
        pid = os.fork()
        if pid == 0:
            _run_child(job, source, target)
        children.append(_Child(pid, monotonic() + job.wall_s + 1, cancel_fd))
        descriptors = [source, target]
    for descriptor in descriptors:
        os.close(descriptor)
    return True


def _reap(child: _Child, *, cancelled: bool) -> bool:
    """Tell if the child has ended; kill it, with its group, if it was cancelled or has outlived its time."""
    if not os.waitpid(child.pid, os.WNOHANG)[0]:
        if not cancelled and monotonic() <= child.deadline:
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
