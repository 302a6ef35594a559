"""How far something is that goes step by step."""

from django.core.management.base import OutputWrapper
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn

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
