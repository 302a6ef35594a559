"""What a PDF library must offer to be one of the two readers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from documents.extractors.pdf.line_styles import RawPage

ReaderName = Literal["pdfium", "pypdf"]

MAX_PAGES = 10_000
MAX_TEXT_BYTES = 20 * 1024 * 1024
MAX_OUTLINE_ENTRIES = 5_000
MAX_OUTLINE_DEPTH = 8
MAX_TITLE = 300  # characters of a heading


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """level: 1 for a chapter. page_index: 0-based."""

    level: int
    title: str
    page_index: int


class PdfReader(Protocol):
    """An opened PDF. Every method may raise anything: pypdf is known for 14 kinds of exceptions."""

    page_count: int

    def page(self, page_index: int) -> RawPage:
        """The raw text of a page, and how it looks."""
        ...

    def outline(self) -> list[OutlineEntry]:
        """At most MAX_OUTLINE_ENTRIES, no deeper than MAX_OUTLINE_DEPTH, in reading order."""
        ...

    def metadata(self) -> dict[str, str]:
        """Raw values by PDF name, such as "Title" and "CreationDate"."""
        ...


OpenReader = Callable[[bytes], PdfReader]
