"""How far a model's vectors are, with rate and rest."""

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

from embeddings.model_lifecycle.listing import Counts
from embeddings.work.bulk import FileResult, Numbers
from knowlex.runtime.progress import TerminalBar


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
        told = TextColumn("documents · {task.fields[told]}")
        columns = SpinnerColumn(), BarColumn(), MofNCompleteColumn(), told, TimeElapsedColumn()
        super().__init__(stream, *columns, at_once=True)
        self._total = total
        if self._progress:
            self._task = self._progress.add_task("", total=total, told="")

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
            self._now_and_then(
                f"{numbers.ended}/{self._total} documents · {told}", last=numbers.ended == self._total
            )


class BuildDisplay(TerminalBar):
    ALONE = "No worker is running, so the work is done here."

    def __init__(self, stream: OutputWrapper, name: str) -> None:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        told = TextColumn("{task.fields[told]}")
        super().__init__(stream, *columns, told, TimeRemainingColumn(), at_once=True)
        self._started: tuple[float, int] | None = None
        if self._progress:
            self._task = self._progress.add_task(name, total=None, told="")

    def alone(self) -> None:
        self._write(self.ALONE)

    def show(self, held: Counts) -> None:
        rate = self._rate(held.vectors)
        told = f"{rate:.1f} chunks/s" + (f" · {held.failed} failed" if held.failed else "")
        if self._progress:
            self._progress.update(self._task, completed=held.vectors, total=held.chunks, told=told)
            return
        rest = f" · {held.waiting / rate:.0f} s to go" if rate and held.waiting else ""
        self._now_and_then(f"{held.vectors}/{held.chunks} vectors · {told}{rest}", last=not held.waiting)

    def lacking(self, count: int) -> None:
        told = f"waits for {count} chunks"
        if self._progress:
            self._progress.update(self._task, told=told)
        else:
            self._now_and_then(told)

    def _rate(self, vectors: int) -> float:
        """Since this began to look."""
        now = time.monotonic()
        if self._started is None:
            self._started = now, vectors
        started_at, held = self._started
        return (vectors - held) / (now - started_at) if now > started_at else 0.0
