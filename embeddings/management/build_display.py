"""How far a model's vectors are: a bar with rate and rest on a terminal, now and then a line elsewhere."""

import sys
import time
from typing import Any

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from embeddings.model_rows import Counts

LINE_EVERY_S = 5.0


class BuildDisplay:
    """Used as a context manager; writes to `stream`, which is no terminal in a pipe or a test."""

    ALONE = "No worker is running, so the work is done here."

    def __init__(self, stream: OutputWrapper, name: str) -> None:
        self._stream, self._line_at, self._line = stream, float("-inf"), ""
        self._started: tuple[float, int] | None = None
        self._progress: Progress | None = None
        if stream.isatty():
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[told]}"),
                TimeRemainingColumn(),
                console=Console(file=sys.stderr),
            )
            self._task = self._progress.add_task(name, total=None, told="")

    def __enter__(self) -> "BuildDisplay":
        if self._progress:
            self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._progress:
            self._progress.stop()

    def alone(self) -> None:
        self._write(self.ALONE)

    def show(self, held: Counts) -> None:
        rate = self._rate(held.vectors)
        told = f"{rate:.1f} chunks/s" + (f" · {held.failed} failed" if held.failed else "")
        if self._progress:
            self._progress.update(self._task, completed=held.vectors, total=held.chunks, told=told)
            return
        rest = f" · {held.waiting / rate:.0f} s to go" if rate and held.waiting else ""
        self._plain(f"{held.vectors}/{held.chunks} vectors · {told}{rest}", last=not held.waiting)

    def lacking(self, count: int) -> None:
        told = f"waits for {count} chunks"
        if self._progress:
            self._progress.update(self._task, told=told)
        else:
            self._plain(told, last=False)

    def _rate(self, vectors: int) -> float:
        """Since this began to look."""
        now = time.monotonic()
        if self._started is None:
            self._started = now, vectors
        started_at, held = self._started
        return (vectors - held) / (now - started_at) if now > started_at else 0.0

    def _plain(self, line: str, *, last: bool) -> None:
        now = time.monotonic()
        if line != self._line and (last or now - self._line_at > LINE_EVERY_S):
            self._write(line)
            self._line, self._line_at = line, now

    def _write(self, line: str) -> None:
        if self._progress:
            self._progress.console.print(line)
        else:
            self._stream.write(line)
