"""How far a command is: a bar on a terminal, now and then a line elsewhere."""

import sys
import time
from typing import Any, Self

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import Progress, ProgressColumn
from rich.text import Text

LINE_EVERY_S = 5.0


class TerminalBar:
    """Used as a context manager; writes to `stream`, which is no terminal in a pipe or a test.

    quiet: nothing at all. at_once: the first line does not wait for five seconds.
    """

    def __init__(
        self,
        stream: OutputWrapper,
        *columns: ProgressColumn,
        transient: bool = False,
        quiet: bool = False,
        at_once: bool = False,
    ) -> None:
        self._stream, self._quiet, self._line = stream, quiet, ""
        self._line_at = float("-inf") if at_once else time.monotonic()
        self._progress: Progress | None = None
        if stream.isatty() and not quiet:
            self._progress = Progress(*columns, console=Console(file=sys.stderr), transient=transient)

    def __enter__(self) -> Self:
        if self._progress:
            self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._progress:
            self._progress.stop()

    def _now_and_then(self, line: str, *, last: bool = False) -> None:
        """Where there is no bar; no line twice in a row. last: without waiting."""
        now = time.monotonic()
        if not self._quiet and line != self._line and (last or now - self._line_at > LINE_EVERY_S):
            self._stream.write(line)
            self._line, self._line_at = line, now

    def _write(self, line: str) -> None:
        """Write at once, above the bar."""
        if self._progress:
            self._progress.console.print(Text(line))
        elif not self._quiet:
            self._stream.write(line)
