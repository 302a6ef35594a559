"""How far an ingest is."""

from collections.abc import Sequence

from django.core.management.base import OutputWrapper
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from embeddings.work.bulk import FileResult, IngestTotals
from knowlex.runtime.progress import TerminalBar


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

    def show(self, numbers: IngestTotals, results: Sequence[FileResult]) -> None:
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
