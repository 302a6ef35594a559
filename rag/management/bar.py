"""How many questions were asked."""

from django.core.management.base import OutputWrapper
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from knowlex.runtime.progress import TerminalBar


class Bar(TerminalBar):
    def __init__(self, stream: OutputWrapper, total: int) -> None:
        columns = BarColumn(), MofNCompleteColumn(), TextColumn("questions"), TimeRemainingColumn()
        super().__init__(stream, *columns, transient=True)
        self._total, self._done = total, 0
        if self._progress:
            self._task = self._progress.add_task("", total=total)

    def step(self) -> None:
        self._done += 1
        if self._progress:
            self._progress.advance(self._task)
        else:
            self._now_and_then(f"{self._done}/{self._total} questions")
