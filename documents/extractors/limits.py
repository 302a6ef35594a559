"""What an extraction may cost."""

from dataclasses import dataclass

MAX_CPU_S = 60
WALL_S = 60.0
BRIEF_USER_S = 0.5  # of CPU in user mode: enough for some 100 pages
BRIEF_WALL_S = 20.0
MEMORY_BYTES = 1024**3
_CPU_FLOOR_S = 5
_BYTES_PER_CPU_S = 100_000  # PDFium reads a megabyte of an ordinary PDF in about a second

READERS = ("auto", "pdfium", "pypdf")


@dataclass(frozen=True, slots=True)
class Job:
    """How to read a file; travels to the nursery as one byte. brief: within BRIEF_USER_S."""

    pdf_reader: str
    named_markdown: bool
    brief: bool = False

    def to_byte(self) -> bytes:
        return bytes([4 * READERS.index(self.pdf_reader) + 2 * self.brief + self.named_markdown])

    @classmethod
    def from_byte(cls, byte: bytes) -> "Job":
        return cls(READERS[byte[0] // 4], bool(byte[0] & 1), bool(byte[0] & 2))

    def cpu_s(self, size_bytes: int) -> int:
        """The CPU budget of a file: a bomb is small, and must not hold an extractor for a whole minute."""
        return min(MAX_CPU_S, _CPU_FLOOR_S + size_bytes // _BYTES_PER_CPU_S)
