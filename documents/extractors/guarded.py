"""A PDF library behind a border: whatever it raises, and however long it takes."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from documents.extractors.failures import PasswordNeeded, Unreadable
from documents.extractors.pdf.line_styles import RawPage
from documents.extractors.pdf.pages import OpenReader, PdfReader, ReaderName

T = TypeVar("T")


class OutOfTime(BaseException):
    """The CPU budget is spent. No Exception, so that no `except Exception` of a library swallows it."""


class GuardedReader:
    """One library's view of one file, opened when first asked, within a CPU budget of its own.

    Nothing is raised but Unreadable: what fails is None, and a reader out of budget is not asked again.
    """

    def __init__(self, name: ReaderName, open_reader: OpenReader, data: bytes, *, cpu_s: float) -> None:
        self.name = name
        self.needs_password = False
        self._open, self._data, self._left_s = open_reader, data, cpu_s
        self._reader: PdfReader | None = None
        self._tried = False

    def page_count(self) -> int:
        """0 if the file cannot be opened."""
        reader = self._opened()
        return reader.page_count if reader else 0

    def page(self, page_index: int) -> RawPage:
        """An empty one where the page fails."""
        return self.ask(lambda reader: reader.page(page_index)) or RawPage()

    def ask(self, question: Callable[[PdfReader], T]) -> T | None:
        reader = self._opened()
        return self._guard(lambda: question(reader)) if reader else None

    def _opened(self) -> PdfReader | None:
        if not self._tried:
            self._tried = True
            self._reader = self._guard(lambda: self._open(self._data))
        return self._reader

    def _guard(self, call: Callable[[], T]) -> T | None:
        started = time.process_time()
        try:
            with cpu_limit(self._left_s):
                return call()
        except PasswordNeeded:
            self.needs_password = True
        except Unreadable:
            raise
        except OutOfTime:
            self._reader = None
        except Exception:  # noqa: BLE001 - 14 kinds were seen, from AssertionError to RecursionError
            return None
        finally:
            self._left_s -= time.process_time() - started
        return None


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block after `seconds` of CPU; repeated, lest a bare `except:` catch it."""
    if seconds <= 0:
        raise OutOfTime
    signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _out_of_time(_signal: int, _frame: FrameType | None) -> None:
    raise OutOfTime
