"""How far something is that goes step by step: a bar on a terminal, now and then a line elsewhere."""

import sys
import time
from typing import Any

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

LINE_EVERY_S = 5.0


class StepsDisplay:
    """Used as a context manager; writes to `stream`, which is no terminal in a pipe or a test. quiet: nothing
    at all.
    """

    def __init__(self, stream: OutputWrapper, *, quiet: bool = False) -> None:
        self._stream, self._quiet, self._line_at = stream, quiet, time.monotonic()
        self._tasks: dict[str, Any] = {}
        self._progress: Progress | None = None
        if stream.isatty() and not quiet:
            columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
            self._progress = Progress(*columns, TimeRemainingColumn(), console=Console(file=sys.stderr))

    def __enter__(self) -> "StepsDisplay":
        if self._progress:
            self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._progress:
            self._progress.stop()

    def show(self, step: str, done: int, total: int) -> None:
        if self._progress:
            if step not in self._tasks:
                self._tasks[step] = self._progress.add_task(step, total=total)
            self._progress.update(self._tasks[step], completed=done, total=total)
        elif not self._quiet and time.monotonic() - self._line_at > LINE_EVERY_S:
            self._stream.write(f"{step}: {done} of {total}")
            self._line_at = time.monotonic()
