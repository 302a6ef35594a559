"""What a PDF library must offer to be one of the two readers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Gap:
    """A wide space. place: in the line, as it is in the text. left, right: where it begins and ends."""

    place: int
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Look:
    """size: of the letters as printed, in points. left, right, baseline: on the page, from its lower left.

    gaps: between what may be the cells of a row, in order; () for a line of plain text.
    """

    size: float
    bold: bool
    left: float
    right: float
    baseline: float
    gaps: tuple[Gap, ...] = ()

    def beside(self, other: "Look | None") -> bool:
        """Whether the two stand on one height, as the cells of a row do, or the lines of two columns."""
        return other is not None and abs(self.baseline - other.baseline) < 0.4 * self.size


@dataclass(frozen=True, slots=True)
class RawPage:
    """text: uncleaned. looks: of each of its lines, split at line feeds; None for a blank or turned one.

    looks is empty where the reader knows nothing of them. height: of the page, in points; 0 if unknown.
    pictures: asked only of a page without text: whether there is something to see on it.
    """

    text: str = ""
    looks: Sequence[Look | None] = ()
    height: float = 0.0
    pictures: bool = False


ReaderName = Literal["pdfium", "pypdf"]

MAX_OUTLINE_DEPTH = 8


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
