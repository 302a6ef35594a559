"""A job of the sandbox: which file is read, how its reader reports progress, and what reading may cost."""

import signal
import struct
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Literal, Protocol

from documents.types import UPLOAD_SOURCES, PageLayout, PagePicture, Source

NameKind = Literal["markdown", "html", "text", "other"]
NAME_KINDS: tuple[NameKind, ...] = ("markdown", "html", "text", "other")

_ENDINGS: dict[str, NameKind] = {
    **dict.fromkeys(("md", "markdown", "mdown", "mkd"), "markdown"),
    **dict.fromkeys(("html", "htm", "xhtml"), "html"),
    **dict.fromkeys(("txt", "text", "log", "csv", "tsv", "json", "rst", "srt"), "text"),
}
_PDF_MAGIC = b"%PDF-"
PDF_MAGIC_WITHIN = 1024


def guess_name_kind(filename: str) -> NameKind:
    """Guess the kind of a text file by its name; all other types show in the bytes."""
    _, dot, ending = filename.rpartition(".")
    return _ENDINGS.get(ending.lower(), "other") if dot else "other"


def opens_as_pdf(head: bytes) -> bool:
    """Tell if a file is a PDF. head: at least its first PDF_MAGIC_WITHIN bytes, or all there are."""
    return _PDF_MAGIC in head[:PDF_MAGIC_WITHIN]


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
_SOURCES: tuple[Source, ...] = ("PDF", "MARKDOWN", "HTML", "DOCX", "TEXT")
_PACKED = struct.Struct("!4BIH")
JOB_BYTES = _PACKED.size


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
        source_bits = sum(1 << place for place, source in enumerate(_SOURCES) if source in self.sources)
        flags = self.brief + 2 * self.patient + 4 * self.layout
        reader, name_kind = READERS.index(self.pdf_reader), NAME_KINDS.index(self.name_kind)
        return _PACKED.pack(reader, name_kind, source_bits, flags, self.page, self.width)

    @classmethod
    def from_bytes(cls, packed: bytes) -> "Job":
        reader, name_kind, source_bits, flags, page, width = _PACKED.unpack(packed)
        sources = frozenset(source for place, source in enumerate(_SOURCES) if source_bits & 1 << place)
        brief, patient, layout = (bool(flags & bit) for bit in (1, 2, 4))
        return cls(READERS[reader], NAME_KINDS[name_kind], sources, brief, patient, page, width, layout)

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
        """Return the CPU budget of a file.

        A bomb is small, and must not hold an extractor for a whole minute.
        """
        if self.is_view:
            return VIEW_CPU_S
        return min(MAX_CPU_S, _CPU_FLOOR_S + size_bytes // _BYTES_PER_CPU_S)


class Reporter(Protocol):
    """The channel on which a reader in the jail reports its work."""

    def progress(self, pages_done: int, pages_total: int) -> None:
        """Report pages read.

        It may be called for every page: what follows the last report too soon is dropped.
        """
        ...

    def picture(self, picture: PagePicture) -> None:
        """Send a picture and wait until the parent has read it."""
        ...

    def layout(self, layout: PageLayout) -> None: ...


class SilentReporter:
    """A Reporter that drops everything."""

    def progress(self, pages_done: int, pages_total: int) -> None:
        pass

    def picture(self, picture: PagePicture) -> None:
        pass

    def layout(self, layout: PageLayout) -> None:
        pass


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
