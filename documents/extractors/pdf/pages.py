"""The raw pages of a PDF, and the protocol that a PDF library fills to be one of the two readers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Gap:
    """A wide space of a line. index: in the text. left, right: where it begins and ends, in points."""

    index: int
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class LineStyle:
    """The type of a line.

    size: of the printed letters, in points. left, right, baseline: from the lower left.

    gaps: wide spaces between what may be the cells of a row, in order; () for a line of plain text.
    table: the number on the page of the ruled table whose row it is; its gaps are where the cells begin.
    """

    size: float
    bold: bool
    left: float
    right: float
    baseline: float
    gaps: tuple[Gap, ...] = ()
    table: int | None = None

    def is_level_with(self, other: "LineStyle | None") -> bool:
        """Tell if both stand at one height, as the cells of a row do, or the lines of two columns."""
        return other is not None and abs(self.baseline - other.baseline) < 0.4 * self.size


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as a PDF library reads it. text: not cleaned. height: of the page, in points; 0 if unknown.

    styles: one for each line of the text, None for a blank or rotated line; empty if the library tells none.
    pictures: for a page without text only, whether something can be seen on it.
    """

    text: str = ""
    styles: Sequence[LineStyle | None] = ()
    height: float = 0.0
    pictures: bool = False

    def cut(self, first: int, end: int) -> "RawPage":
        """Return the page with the lines `first` to `end` alone, the last one not included."""
        lines = self.text.split("\n")[first:end]
        return replace(self, text="\n".join(lines), styles=self.styles[first:end])


ReaderName = Literal["pdfium", "pypdf"]

MAX_OUTLINE_DEPTH = 8


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry of a PDF's outline. level: 1 for a chapter. page_index: 0-based."""

    level: int
    title: str
    page_index: int


class PdfReader(Protocol):
    """An opened PDF. Every method may raise anything: pypdf is known for 14 kinds of exceptions.

    page_count: of the pages that are there.
    """

    page_count: int

    @property
    def claimed_pages(self) -> int:
        """Return how many pages the file says it has, as far as the library tells."""
        ...

    def page(self, page_index: int) -> RawPage:
        """Return the raw text of a page, and the styles of its lines."""
        ...

    def outline(self) -> list[OutlineEntry]:
        """Return at most MAX_OUTLINE_ENTRIES, no deeper than MAX_OUTLINE_DEPTH, in reading order."""
        ...

    def metadata(self) -> dict[str, str]:
        """Return raw values by PDF name, such as "Title" and "CreationDate"."""
        ...


OpenReader = Callable[[bytes], PdfReader]
