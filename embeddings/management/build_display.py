"""How far a model's vectors are, with rate and rest."""

import time

from django.core.management.base import OutputWrapper
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from embeddings.model_lifecycle.listing import ModelCounts
from knowlex.runtime.progress import TerminalBar


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

    def show(self, held: ModelCounts) -> None:
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
