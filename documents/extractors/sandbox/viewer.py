"""The PageViewer that web processes use: pages are drawn and measured in jailed children, beside uploads."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from documents.extractors.failures import Unreadable
from documents.extractors.job import VIEW_WALL_S, Job
from documents.extractors.sandbox.extractor import Sandbox
from documents.extractors.sandbox.fair_semaphore import FairSemaphore
from documents.extractors.sandbox.wire import BrokenResult, ResultListener
from documents.types import PageLayout, PagePicture
from knowlex.base.errors import DependencyUnavailable, UnreadableDocument

NOT_SHOWN = "The page cannot be shown."


class SandboxedPageViewer:
    """PageViewer with turns of its own: who looks at a page does not wait for uploads, nor they for him.

    processes: at once. wait_s: for a free one; longer than a page may take, so that hostile ones end first.
    """

    def __init__(self, *, processes: int = 2, wait_s: float = VIEW_WALL_S + 1) -> None:
        self._sandbox = Sandbox()
        self._processes, self._wait_s = FairSemaphore(processes), wait_s

    def draw(self, path: Path, number: int, *, width: int) -> PagePicture:
        picture = self._run(path, Job("pdfium", page=number, width=width)).picture
        if picture is None or not picture.in_colour:
            raise UnreadableDocument(NOT_SHOWN)
        return picture

    def read_layout(self, path: Path, number: int) -> PageLayout:
        layout = self._run(path, Job("pdfium", page=number, layout=True)).layout
        if layout is None:
            raise UnreadableDocument(NOT_SHOWN)
        return layout

    def _run(self, path: Path, job: Job) -> ResultListener:
        """Run the job and return what came."""
        listener = ResultListener(page=job.page)
        with self._turn():
            try:
                self._sandbox.run(path, job, time.monotonic() + VIEW_WALL_S, listener)
            except (Unreadable, BrokenResult) as exc:
                raise UnreadableDocument(NOT_SHOWN) from exc
        return listener

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._processes.acquire(self._wait_s):
            raise DependencyUnavailable("Too many pages are being drawn; try again soon.", retry_after_s=2)
        try:
            yield
        finally:
            self._processes.release()
