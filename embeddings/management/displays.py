"""What commands show while they work: progress of an ingest, of steps, and of a model's build."""

import time
from collections.abc import Sequence

from django.core.management.base import OutputWrapper
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from embeddings.ingest.bulk import FileResult, IngestTotals
from embeddings.model_lifecycle.catalog import ModelCounts
from knowlex.runtime.progress import TerminalBar


class BuildDisplay(TerminalBar):
    ALONE = "No worker is running, so the work is done here."

    def __init__(self, stream: OutputWrapper, name: str) -> None:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        status = TextColumn("{task.fields[status]}")
        super().__init__(stream, *columns, status, TimeRemainingColumn(), at_once=True)
        self._started: tuple[float, int] | None = None
        if self._progress:
            self._task = self._progress.add_task(name, total=None, status="")

    def alone(self) -> None:
        self._write(self.ALONE)

    def show(self, counts: ModelCounts) -> None:
        rate = self._rate(counts.vectors)
        status = f"{rate:.1f} chunks/s" + (f" · {counts.failed} failed" if counts.failed else "")
        if self._progress:
            self._progress.update(self._task, completed=counts.vectors, total=counts.chunks, status=status)
            return
        left = f" · {counts.waiting / rate:.0f} s to go" if rate and counts.waiting else ""
        self._now_and_then(
            f"{counts.vectors}/{counts.chunks} vectors · {status}{left}", last=not counts.waiting
        )

    def lacking(self, count: int) -> None:
        status = f"waits for {count} chunks"
        if self._progress:
            self._progress.update(self._task, status=status)
        else:
            self._now_and_then(status)

    def _rate(self, vectors: int) -> float:
        """Return the rate since this began to look."""
        now = time.monotonic()
        if self._started is None:
            self._started = now, vectors
        started_at, before = self._started
        return (vectors - before) / (now - started_at) if now > started_at else 0.0


class StepsDisplay(TerminalBar):
    def __init__(self, stream: OutputWrapper, *, quiet: bool = False) -> None:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        super().__init__(stream, *columns, quiet=quiet)
        self._tasks: dict[str, TaskID] = {}

    def show(self, step: str, done: int, total: int) -> None:
        if self._progress:
            if step not in self._tasks:
                self._tasks[step] = self._progress.add_task(step, total=total)
            self._progress.update(self._tasks[step], completed=done, total=total)
        else:
            self._now_and_then(f"{step}: {done} of {total}")


class Display(TerminalBar):
    def __init__(self, stream: OutputWrapper, total: int) -> None:
        status = TextColumn("documents · {task.fields[status]}")
        columns = SpinnerColumn(), BarColumn(), MofNCompleteColumn(), status, TimeElapsedColumn()
        super().__init__(stream, *columns, at_once=True)
        self._total = total
        if self._progress:
            self._task = self._progress.add_task("", total=total, status="")

    def alone(self) -> None:
        self._write("No worker is running, so the work is done here.")

    def show(self, numbers: IngestTotals, results: Sequence[FileResult]) -> None:
        """Show the numbers. results: those that are new; failures are printed at once."""
        for result in results:
            if result.outcome == "failed":
                self._write(f"failed: {result.path}: {result.reason}")
        status = f"{numbers.pages} pages read · {numbers.chunks} chunks made · {numbers.embedded} embedded"
        if self._progress:
            self._progress.update(self._task, completed=numbers.ended, status=status)
        else:
            self._now_and_then(
                f"{numbers.ended}/{self._total} documents · {status}", last=numbers.ended == self._total
            )
