"""The extractor the web process uses: everything that parses happens in a child that can be killed."""

import logging
import os
import time
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from pathlib import Path
from select import POLLIN, poll

from documents.extractors.failures import OUT_OF_LIMITS, Unreadable
from documents.extractors.limits import BRIEF_WALL_S, READERS, WALL_S, Job
from documents.extractors.owner import Nursery, NurseryGone
from documents.extractors.turns import Turns
from documents.extractors.wire import MAX_RESULT_BYTES, BrokenResult, NeverStarted, unpack
from documents.protocols import OnProgress
from documents.types import UPLOAD_SOURCES, Extraction, Source
from knowlex.common.errors import DependencyUnavailable, UnreadableDocument

log = logging.getLogger(__name__)
_MARKDOWN = (".md", ".markdown")
_BLOCK_BYTES = 1 << 20
_QUICK_S = 3.0  # a file that took longer to fail would take pypdf longer still
_STARTS = 3


class SandboxedExtractor:
    """TextExtractor whose parsers run in jailed, short-lived processes: at most `processes` at once.

    Every file is first tried briefly. What takes longer starts again in a slow lane that leaves one process
    free (if there are two), so that a handful of bombs does not keep ordinary files waiting.
    pdf_reader: "auto", "pdfium" or "pypdf". wait_s: how long a file waits for a free process.
    """

    def __init__(self, *, pdf_reader: str = "auto", processes: int = 2, wait_s: float = 30.0) -> None:
        if pdf_reader not in READERS:
            raise ValueError(f"pdf_reader must be one of {', '.join(READERS)}.")
        if processes < 1:
            raise ValueError("processes must be at least 1.")
        self._pdf_reader, self._wait_s = pdf_reader, wait_s
        self._free = Turns(processes)
        self._slow_lane = Turns(max(1, processes - 1))
        self._nursery = Nursery()

    def extract(
        self,
        path: Path,
        *,
        filename: str,
        sources: AbstractSet[Source] = UPLOAD_SOURCES,
        on_progress: OnProgress | None = None,
        patient: bool = False,
    ) -> Extraction:
        named_markdown = filename.lower().endswith(_MARKDOWN)
        try:
            with self._turn(self._free), suppress(BrokenResult):
                job = Job(self._pdf_reader, named_markdown, brief=True)
                return self._result(path, job, time.monotonic() + BRIEF_WALL_S)
            with self._turn(self._slow_lane), self._turn(self._free):
                return self._patiently(path, named_markdown)
        except Unreadable as exc:
            raise UnreadableDocument(str(exc)) from None

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

    def _patiently(self, path: Path, named_markdown: bool) -> Extraction:
        """A file that kills PDFium's process at once gets a try with pypdf, within the same time."""
        started = time.monotonic()
        for pdf_reader in (self._pdf_reader, "pypdf"):
            try:
                return self._result(path, Job(pdf_reader, named_markdown), started + WALL_S)
            except BrokenResult as exc:
                log.info("extractor ended early", extra={"pdf_reader": pdf_reader, "reason": str(exc)})
            if self._pdf_reader != "auto" or named_markdown or time.monotonic() - started > _QUICK_S:
                break
        raise Unreadable(OUT_OF_LIMITS)

    def _result(self, path: Path, job: Job, deadline: float) -> Extraction:
        cause: Exception | None = None
        for _ in range(_STARTS):
            try:
                return unpack(self._read(path, job, deadline))
            except NeverStarted:
                continue
            except (NurseryGone, OSError) as exc:  # no process, no descriptor, or the file cannot be opened
                cause = exc
                break
        raise DependencyUnavailable("Documents cannot be read now.", retry_after_s=10) from cause

    def _read(self, path: Path, job: Job, deadline: float) -> bytes:
        read_end, write_end = os.pipe()
        try:
            try:
                with path.open("rb") as source:
                    self._nursery.start(job, source.fileno(), write_end)
            finally:
                os.close(write_end)
            return _read_all(read_end, deadline)
        finally:
            os.close(read_end)


def _read_all(descriptor: int, deadline: float) -> bytes:
    """Until the other end closes. Raises BrokenResult past the deadline or the greatest size."""
    poller = poll()
    poller.register(descriptor, POLLIN)
    blocks: list[bytes] = []
    size = 0
    while size <= MAX_RESULT_BYTES:
        left_s = deadline - time.monotonic()
        if left_s <= 0 or not poller.poll(1000 * left_s):
            raise BrokenResult("out of time")
        block = os.read(descriptor, _BLOCK_BYTES)
        if not block:
            return b"".join(blocks)
        blocks.append(block)
        size += len(block)
    raise BrokenResult("too large")
