"""The extractor the web process uses: everything that parses happens in a child that can be killed."""

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

from documents.extractors.cleaning import has_text
from documents.extractors.failures import NO_TEXT, OUT_OF_LIMITS, Unreadable
from documents.extractors.job import (
    BRIEF_WALL_S,
    DRAW_WALL_S,
    PDF_MAGIC_WITHIN,
    READERS,
    Job,
    PagePicture,
    name_kind,
    opens_as_pdf,
)
from documents.extractors.sandbox.fair_semaphore import Turns
from documents.extractors.sandbox.ocr import OCR_MODES, OcrMode, OnPage, Scans, pages_to_recognise
from documents.extractors.sandbox.wire import (
    BrokenResult,
    Listener,
    NeverStarted,
    unpack,
)
from documents.protocols import OnProgress
from documents.types import UPLOAD_SOURCES, Extraction, ReadingProgress, Source
from knowlex.base.errors import DependencyUnavailable, UnreadableDocument

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


log = logging.getLogger(__name__)
_QUICK_S = 3.0  # a file that took longer to fail would take pypdf longer still
_STARTS = 3


class SandboxedExtractor:
    """TextExtractor whose parsers run in jailed, short-lived processes: at most `processes` at once.

    Every file is first tried briefly. What takes longer starts again in a slow lane that leaves one process
    free (if there are two), so that a handful of bombs does not keep ordinary files waiting.
    pdf_reader: "auto", "pdfium" or "pypdf". wait_s: how long a file waits for a free process.
    ocr: "auto", "on" or "off"; ocr_languages: of Tesseract, such as "eng+deu", "" for what is installed.
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
        self._free = Turns(processes)
        self._slow_lane = Turns(max(1, processes - 1))
        self._nursery = Nursery()
        self._scans = Scans(ocr, tuple(re.findall(r"[\w/-]+", ocr_languages)), Turns(1))

    def extract(
        self,
        path: Path,
        *,
        filename: str,
        sources: AbstractSet[Source] = UPLOAD_SOURCES,
        on_progress: OnProgress | None = None,
        patient: bool = False,
    ) -> Extraction:
        job = Job(self._pdf_reader, name_kind(filename), sources, patient=patient)
        try:
            found = self._read(path, job, Listener(on_progress))
            found = self._scans.complete(
                found,
                partial(self._draw, path),
                patient=patient,
                on_page=_counting(found, on_progress),
            )
            if not has_text(found.text):
                raise Unreadable(NO_TEXT)
        except Unreadable as exc:
            raise UnreadableDocument(str(exc)) from None
        return found

    def _read(self, path: Path, job: Job, listener: Listener) -> Extraction:
        with self._turn(self._free), suppress(BrokenResult):
            brief = replace(job, brief=True)
            return self._result(path, brief, time.monotonic() + BRIEF_WALL_S, listener)
        with self._turn(self._slow_lane), self._turn(self._free):
            return self._patiently(path, job, listener)

    def _draw(self, path: Path, page: int) -> PagePicture | None:
        """In a jailed process of its own: a page that cannot be drawn costs no other page."""
        pictures: list[PagePicture] = []
        job = Job("pdfium", draw=page)
        with suppress(BrokenResult, Unreadable, DependencyUnavailable), self._turn(self._free):
            self._result(path, job, time.monotonic() + DRAW_WALL_S, Listener(None, pictures.append))
        return pictures[0] if pictures and pictures[0].number == page else None

    @contextmanager
    def _turn(self, lane: Turns) -> Iterator[None]:
        if not lane.acquire(self._wait_s):
            raise DependencyUnavailable(
                "Too many documents are being read; try again soon.", retry_after_s=10
            )
        try:
            yield
        finally:
            lane.release()

    def _patiently(self, path: Path, job: Job, listener: Listener) -> Extraction:
        """A PDF that kills PDFium's process at once gets a try with pypdf, within the same time."""
        started = time.monotonic()
        for pdf_reader in (job.pdf_reader, "pypdf"):
            try:
                chosen = replace(job, pdf_reader=pdf_reader)
                return self._result(path, chosen, started + job.wall_s, listener)
            except BrokenResult as exc:
                log.info("extractor ended early", extra={"pdf_reader": pdf_reader, "reason": str(exc)})
            quick = time.monotonic() - started <= _QUICK_S
            if job.pdf_reader != "auto" or not quick or not _opens_as_pdf(path):
                break
        raise Unreadable(OUT_OF_LIMITS)

    def _result(self, path: Path, job: Job, deadline: float, listener: Listener) -> Extraction:
        for _ in range(_STARTS):
            with self._child(path, job) as said:
                try:
                    return unpack(listener.hear(said, deadline))
                except NeverStarted:
                    continue
        raise _cannot_read()

    @contextmanager
    def _child(self, path: Path, job: Job) -> Iterator[int]:
        """The descriptor on which a new child is heard. A child that is left before its end is killed."""
        with ExitStack() as ours:
            try:
                with ExitStack() as theirs:
                    said, target = _pipe(reader=ours, writer=theirs)
                    leash, _ = _pipe(reader=theirs, writer=ours)
                    source = theirs.enter_context(path.open("rb"))
                    self._nursery.start(job, source.fileno(), target, leash)
            except (NurseryGone, OSError) as exc:  # no process, no descriptor, or the file cannot be opened
                raise _cannot_read() from exc
            yield said


def _pipe(*, reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """Each end is closed by its own stack."""
    read_end, write_end = os.pipe()
    reader.callback(os.close, read_end)
    writer.callback(os.close, write_end)
    return read_end, write_end


def _counting(extraction: Extraction, on_progress: OnProgress | None) -> OnPage:
    """The pages that are pictures come after all others."""
    total = len(extraction.pages)
    others = total - len(pages_to_recognise(extraction))

    def on_page(pictures_done: int) -> None:
        if on_progress:
            on_progress(ReadingProgress(others + pictures_done, total))

    return on_page


def _cannot_read() -> DependencyUnavailable:
    return DependencyUnavailable("Documents cannot be read now.", retry_after_s=10)


def _opens_as_pdf(path: Path) -> bool:
    with path.open("rb") as source:
        return opens_as_pdf(source.read(PDF_MAGIC_WITHIN))
