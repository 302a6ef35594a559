"""The extractor that web processes and workers use: all parsing happens in a child that can be killed."""

import logging
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from documents.extractors.failures import NO_TEXT, OUT_OF_LIMITS, Unreadable
from documents.extractors.job import (
    BRIEF_WALL_S,
    DRAW_WALL_S,
    PDF_MAGIC_WITHIN,
    READERS,
    Job,
    guess_name_kind,
    opens_as_pdf,
)
from documents.extractors.sandbox.fair_semaphore import FairSemaphore
from documents.extractors.sandbox.ocr import OCR_MODES, OcrMode, PageRecognizer
from documents.extractors.sandbox.wire import BrokenResult, NeverStarted, ResultListener, unpack
from documents.protocols import OnProgress
from documents.text.characters import has_text
from documents.types import UPLOAD_SOURCES, Extraction, PagePicture, Source
from knowlex.base.errors import DependencyUnavailable, UnreadableDocument

_ROOT = Path(__file__).resolve().parents[3]
IDLE_S = 30.0
_QUICK_S = 3.0  # a file that took longer to fail would take pypdf longer still
_STARTS = 3
log = logging.getLogger(__name__)


class ForkServerUnavailable(Exception):
    """The fork server cannot be started."""


class ForkServer:
    """The parent's end of the fork server, started when needed and replaced when gone.

    Threads may share it, and it works after a fork.
    """

    def __init__(self, *, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._started_by = 0

    def start(self, job: Job, source: int, target: int, cancel_fd: int) -> None:
        """Send a job to be read in a new jailed child; the caller keeps and closes its own copies.

        cancel_fd: the reading end of a pipe; when the other end closes, the child is killed. A server that
        has ended for want of work refuses the job and is replaced. Raises ForkServerUnavailable.
        """
        with self._lock:
            for _ in range(3):
                control = self._connect()
                try:
                    socket.send_fds(control, [job.to_bytes()], [source, target, cancel_fd])
                except OSError:
                    self._disconnect()
                else:
                    return
        raise ForkServerUnavailable

    def _connect(self) -> socket.socket:
        if self._started_by != os.getpid() or self._process is None or self._process.poll() is not None:
            self._disconnect()
        if self._control is None:
            self._control, child_ends = socket.socketpair()
            with child_ends:
                self._process = self._spawn(child_ends)
            self._started_by = os.getpid()
        return self._control

    def _spawn(self, child_ends: socket.socket) -> subprocess.Popen[bytes]:
        """Start the server without our environment: no key may reach what reads strangers' files."""
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "documents.extractors.sandbox.fork_server", str(self._idle_s)],
                stdin=child_ends.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PYTHONPATH": str(_ROOT), "PATH": os.defpath, "LANG": "C.UTF-8"},
                start_new_session=True,
            )
        except OSError as exc:
            raise ForkServerUnavailable from exc
        reaper = threading.Thread(target=process.wait, name="fork-server-reaper", daemon=True)
        reaper.start()  # so that no zombie is left
        return process

    def _disconnect(self) -> None:
        if self._control is not None:
            self._control.close()
        self._process = self._control = None


class Sandbox:
    """Runs jobs on files, each in a jailed child of the fork server."""

    def __init__(self) -> None:
        self._fork_server = ForkServer()

    def run(self, path: Path, job: Job, deadline: float, listener: ResultListener) -> Extraction:
        """Run a job on a file. deadline: as time.monotonic() counts.

        Raises Unreadable, BrokenResult (it ended early, or too late), DependencyUnavailable.
        """
        for _ in range(_STARTS):
            with self._child(path, job) as result_fd:
                try:
                    return unpack(listener.receive(result_fd, deadline))
                except NeverStarted:
                    continue
        raise _unavailable_error()

    @contextmanager
    def _child(self, path: Path, job: Job) -> Iterator[int]:
        """Start a child and give the descriptor of its result pipe; leaving the block kills the child."""
        with ExitStack() as parent_ends:
            try:
                with ExitStack() as child_ends:
                    result_fd, target = _open_pipe(reader=parent_ends, writer=child_ends)
                    cancel_fd, _ = _open_pipe(reader=child_ends, writer=parent_ends)
                    source = child_ends.enter_context(path.open("rb"))
                    self._fork_server.start(job, source.fileno(), target, cancel_fd)
            except (ForkServerUnavailable, OSError) as exc:  # OSError: no descriptor is free, or no such file
                raise _unavailable_error() from exc
            yield result_fd


class SandboxedExtractor:
    """TextExtractor whose parsers run in jailed, short-lived processes, at most `processes` at once.

    A slow lane leaves one process free (if there are two), so that a handful of bombs does not keep ordinary
    files waiting. A file takes it if it is free; others are tried briefly, and what takes longer starts again
    when the lane is free.
    pdf_reader: "auto", "pdfium" or "pypdf". wait_s: how long a file waits for a free process. ocr: "auto",
    "on" or "off"; ocr_languages: of Tesseract, such as "eng+deu", "" for what is installed.
    """

    def __init__(
        self,
        *,
        pdf_reader: str = "auto",
        processes: int = 2,
        wait_s: float = 30.0,
        ocr: OcrMode = "auto",
        ocr_languages: str = "",
    ) -> None:
        if pdf_reader not in READERS:
            raise ValueError(f"pdf_reader must be one of {', '.join(READERS)}.")
        if ocr not in OCR_MODES:
            raise ValueError(f"ocr must be one of {', '.join(OCR_MODES)}.")
        if processes < 1:
            raise ValueError("processes must be at least 1.")
        self._pdf_reader, self._wait_s = pdf_reader, wait_s
        self._processes = FairSemaphore(processes)
        self._slow_lane = FairSemaphore(max(1, processes - 1))
        self._sandbox = Sandbox()
        self._page_recognizer = PageRecognizer(
            ocr, tuple(re.findall(r"[\w/-]+", ocr_languages)), FairSemaphore(1)
        )

    def extract(
        self,
        path: Path,
        *,
        filename: str,
        sources: AbstractSet[Source] = UPLOAD_SOURCES,
        on_progress: OnProgress | None = None,
        patient: bool = False,
    ) -> Extraction:
        job = Job(self._pdf_reader, guess_name_kind(filename), sources, patient=patient)
        try:
            extraction = self._read(path, job, ResultListener(on_progress))
            extraction = self._page_recognizer.complete(
                extraction, partial(self._draw, path), patient=patient, on_progress=on_progress
            )
            if not has_text(extraction.text):
                raise Unreadable(NO_TEXT)
        except Unreadable as exc:
            raise UnreadableDocument(str(exc)) from None
        return extraction

    def _read(self, path: Path, job: Job, listener: ResultListener) -> Extraction:
        if self._slow_lane.acquire(0):
            try:
                with self._permit(self._processes):
                    return self._read_slowly(path, job, listener)
            finally:
                self._slow_lane.release()
        with self._permit(self._processes), suppress(BrokenResult):
            brief = replace(job, brief=True)
            return self._sandbox.run(path, brief, time.monotonic() + BRIEF_WALL_S, listener)
        with self._permit(self._slow_lane), self._permit(self._processes):
            return self._read_slowly(path, job, listener)

    def _draw(self, path: Path, page: int) -> PagePicture | None:
        """Draw a page in a jailed process of its own: a page that cannot be drawn costs no other page."""
        listener = ResultListener(page=page)
        with suppress(BrokenResult, Unreadable, DependencyUnavailable), self._permit(self._processes):
            self._sandbox.run(path, Job("pdfium", page=page), time.monotonic() + DRAW_WALL_S, listener)
        return listener.picture

    @contextmanager
    def _permit(self, semaphore: FairSemaphore) -> Iterator[None]:
        if not semaphore.acquire(self._wait_s):
            raise DependencyUnavailable(
                "Too many documents are being read; try again soon.", retry_after_s=10
            )
        try:
            yield
        finally:
            semaphore.release()

    def _read_slowly(self, path: Path, job: Job, listener: ResultListener) -> Extraction:
        """Read without the brief limit; a PDF that kills PDFium's process at once is tried with pypdf."""
        started = time.monotonic()
        for pdf_reader in (job.pdf_reader, "pypdf"):
            try:
                chosen = replace(job, pdf_reader=pdf_reader)
                return self._sandbox.run(path, chosen, started + job.wall_s, listener)
            except BrokenResult as exc:
                log.info("extractor ended early", extra={"pdf_reader": pdf_reader, "reason": str(exc)})
            quick = time.monotonic() - started <= _QUICK_S
            if job.pdf_reader != "auto" or not quick or not _opens_as_pdf(path, job):
                break
        raise Unreadable(OUT_OF_LIMITS)


def _open_pipe(*, reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """Open a pipe whose ends are closed by two stacks."""
    read_end, write_end = os.pipe()
    reader.callback(os.close, read_end)
    writer.callback(os.close, write_end)
    return read_end, write_end


def _unavailable_error() -> DependencyUnavailable:
    return DependencyUnavailable("Documents cannot be read now.", retry_after_s=10)


def _opens_as_pdf(path: Path, job: Job) -> bool:
    with path.open("rb") as source:
        return opens_as_pdf(source.read(PDF_MAGIC_WITHIN), job.name_kind)
