"""A job of the sandbox: which file is read, and what reading may cost."""

import json
import signal
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import FrameType
from typing import Literal

from documents.types import UPLOAD_SOURCES, Source

NameKind = Literal["markdown", "html", "csv", "mail", "text", "other"]
OnPages = Callable[[int, int], object]  # pages done, pages in all

_ENDINGS: dict[str, NameKind] = {
    **dict.fromkeys(("md", "markdown", "mdown", "mkd"), "markdown"),
    **dict.fromkeys(("html", "htm", "xhtml"), "html"),
    **dict.fromkeys(("csv", "tsv", "tab"), "csv"),
    "eml": "mail",
    **dict.fromkeys(("txt", "text", "log", "json", "rst", "srt"), "text"),
}
_PDF_MAGIC = b"%PDF-"
PDF_MAGIC_WITHIN = 1024


def guess_name_kind(filename: str) -> NameKind:
    """Guess the kind of a text file by its name; all other types show in the bytes."""
    _, dot, ending = filename.rpartition(".")
    return _ENDINGS.get(ending.lower(), "other") if dot else "other"


def opens_as_pdf(head: bytes, name_kind: NameKind) -> bool:
    """Tell if a file is a PDF: anything may stand before it, but not in what is named as a text, which may
    tell of PDF. head: at least its first PDF_MAGIC_WITHIN bytes, or all there are.
    """
    head = head[:PDF_MAGIC_WITHIN]
    return _PDF_MAGIC in head if name_kind == "other" else head.lstrip().startswith(_PDF_MAGIC)


MAX_CPU_S = 60
WALL_S = 60.0
PATIENT_WALL_S = 240.0  # nobody waits, and the machine may be busy; the limit of CPU is the same
BRIEF_USER_S = 0.5  # of CPU in user mode: enough for some 100 pages
BRIEF_WALL_S = 20.0
DRAW_WALL_S = 20.0  # one page, for text recognition
VIEW_WALL_S, VIEW_CPU_S = 5.0, 3  # one page, for somebody who looks at it
MEMORY_BYTES = 1024**3
_CPU_FLOOR_S = 5
_BYTES_PER_CPU_S = 100_000  # PDFium reads a megabyte of an ordinary PDF in about a second

READERS = ("auto", "pdfium", "pypdf")
JOB_BYTES = 512


@dataclass(frozen=True, slots=True)
class Job:
    """An order to read a file, sent to the fork server as JOB_BYTES bytes.

    name_kind: guessed by the file's name. brief: within BRIEF_USER_S. patient: see TextExtractor.
    page: the 1-based page of which only a picture or the layout is wanted; 0 to read the file. width: of that
    picture in pixels, in colour; 0 for a grey one at 300 dpi, for text recognition. layout: no picture, but
    where each letter stands.
    """

    pdf_reader: str
    name_kind: NameKind = "other"
    sources: AbstractSet[Source] = UPLOAD_SOURCES
    brief: bool = False
    patient: bool = False
    page: int = 0
    width: int = 0
    layout: bool = False

    def to_bytes(self) -> bytes:
        fields = asdict(self) | {"sources": sorted(self.sources)}
        return json.dumps(fields).encode().ljust(JOB_BYTES)

    @classmethod
    def from_bytes(cls, packed: bytes) -> "Job":
        fields = json.loads(packed)
        return cls(**fields | {"sources": frozenset(fields["sources"])})

    @property
    def is_view(self) -> bool:
        """Whether somebody looks at the page, and waits."""
        return self.layout or self.width > 0

    @property
    def wall_s(self) -> float:
        if self.is_view:
            return VIEW_WALL_S
        return PATIENT_WALL_S if self.patient and not self.brief else WALL_S

    def cpu_s(self, size_bytes: int) -> int:
        """Return a file's budget of CPU: a bomb is small, and must not hold a process for a whole minute."""
        if self.is_view:
            return VIEW_CPU_S
        return min(MAX_CPU_S, _CPU_FLOOR_S + size_bytes // _BYTES_PER_CPU_S)


class OutOfTime(BaseException):
    """The CPU budget is spent. It is no Exception, so that no `except Exception` of a library swallows it."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block after `seconds` of CPU; repeated, lest a bare `except:` catch it."""
    if seconds <= 0:
        raise OutOfTime
    signal.signal(signal.SIGPROF, _raise_out_of_time)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _raise_out_of_time(_signal: int, _frame: FrameType | None) -> None:
    raise OutOfTime
