"""What an extraction may cost, and the job that is handed to the nursery."""

import struct
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from documents.extractors.file_types import NAME_KINDS, NameKind
from documents.types import UPLOAD_SOURCES, Source

MAX_CPU_S = 60
WALL_S = 60.0
PATIENT_WALL_S = 240.0  # nobody waits, and the machine may be busy; the limit of CPU is the same
BRIEF_USER_S = 0.5  # of CPU in user mode: enough for some 100 pages
BRIEF_WALL_S = 20.0
DRAW_WALL_S = 20.0  # one page, for text recognition
MEMORY_BYTES = 1024**3
_CPU_FLOOR_S = 5
_BYTES_PER_CPU_S = 100_000  # PDFium reads a megabyte of an ordinary PDF in about a second

READERS = ("auto", "pdfium", "pypdf")
_SOURCES: tuple[Source, ...] = ("PDF", "MARKDOWN", "HTML", "DOCX", "TEXT")
_PACKED = struct.Struct("!4BI")
JOB_BYTES = _PACKED.size


@dataclass(frozen=True, slots=True)
class Job:
    """How to read a file; travels to the nursery as JOB_BYTES bytes.

    named: what the file's name says. brief: within BRIEF_USER_S. patient: see TextExtractor.
    draw: the 1-based page of which only a picture is wanted; 0 to read the file.
    """

    pdf_reader: str
    named: NameKind = "other"
    sources: AbstractSet[Source] = UPLOAD_SOURCES
    brief: bool = False
    patient: bool = False
    draw: int = 0

    def to_bytes(self) -> bytes:
        taken = sum(1 << place for place, source in enumerate(_SOURCES) if source in self.sources)
        flags = self.brief + 2 * self.patient
        return _PACKED.pack(
            READERS.index(self.pdf_reader), NAME_KINDS.index(self.named), taken, flags, self.draw
        )

    @classmethod
    def from_bytes(cls, packed: bytes) -> "Job":
        reader, named, taken, flags, draw = _PACKED.unpack(packed)
        sources = frozenset(source for place, source in enumerate(_SOURCES) if taken & 1 << place)
        return cls(READERS[reader], NAME_KINDS[named], sources, bool(flags & 1), bool(flags & 2), draw)

    @property
    def wall_s(self) -> float:
        return PATIENT_WALL_S if self.patient and not self.brief else WALL_S

    def cpu_s(self, size_bytes: int) -> int:
        """The CPU budget of a file: a bomb is small, and must not hold an extractor for a whole minute."""
        return min(MAX_CPU_S, _CPU_FLOOR_S + size_bytes // _BYTES_PER_CPU_S)
