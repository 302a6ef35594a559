"""How far an ingest is: a bar on a terminal, now and then a line elsewhere."""

import sys
import time
from collections.abc import Sequence
from typing import Any

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from embeddings.bulk_results import FileResult, Numbers

LINE_EVERY_S = 5.0


class Display:
    """Used as a context manager; writes to `stream`, which is no terminal in a pipe or a test."""

    def __init__(self, stream: OutputWrapper, total: int) -> None:
        self._stream, self._total = stream, total
        self._line, self._line_at = "", 0.0
        self._progress: Progress | None = None
        if stream.isatty():
            console = Console(file=sys.stderr)
            self._progress = Progress(
                SpinnerColumn(),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("documents · {task.fields[told]}"),
                TimeElapsedColumn(),
                console=console,
            )
            self._task = self._progress.add_task("", total=total, told="")

    def __enter__(self) -> "Display":
        if self._progress:
            self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._progress:
            self._progress.stop()

    def alone(self) -> None:
        self._write("No worker is running, so the work is done here.")

    def show(self, numbers: Numbers, results: Sequence[FileResult]) -> None:
        """results: those that are new; failures are told at once."""
        for result in results:
            if result.outcome == "failed":
                self._write(f"failed: {result.path}: {result.reason}")
        told = f"{numbers.pages} pages read · {numbers.chunks} chunks made · {numbers.embedded} embedded"
        if self._progress:
            self._progress.update(self._task, completed=numbers.ended, told=told)
        else:
            self._plain(
                f"{numbers.ended}/{self._total} documents · {told}", last=numbers.ended == self._total
            )

    def _plain(self, line: str, *, last: bool) -> None:
        now = time.monotonic()
        if line != self._line and (last or now - self._line_at > LINE_EVERY_S):
            self._stream.write(line)
            self._line, self._line_at = line, now

    def _write(self, line: str) -> None:
        if self._progress:
            self._progress.console.print(Text(line))
        else:
            self._stream.write(line)
