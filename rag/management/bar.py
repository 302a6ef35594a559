"""How many questions were asked: a bar on a terminal, now and then a line elsewhere."""

import sys
import time
from typing import Any, Self

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

LINE_EVERY_S = 5.0


class Bar:
    """Used as a context manager; writes to `stream`, which is no terminal in a pipe or a test."""

    def __init__(self, stream: OutputWrapper, total: int) -> None:
        self._stream, self._total, self._done = stream, total, 0
        self._line_at = time.monotonic()
        self._progress: Progress | None = None
        if stream.isatty():
            columns = (BarColumn(), MofNCompleteColumn(), TextColumn("questions"), TimeRemainingColumn())
            self._progress = Progress(*columns, console=Console(file=sys.stderr), transient=True)
            self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> Self:
        if self._progress:
            self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._progress:
            self._progress.stop()

    def step(self) -> None:
        self._done += 1
        if self._progress:
            self._progress.advance(self._task)
        elif time.monotonic() - self._line_at > LINE_EVERY_S:
            self._line_at = time.monotonic()
            self._stream.write(f"{self._done}/{self._total} questions")
