"""How the lines of a PDF page look: what a reader of PDFs tells beside the text."""

from collections.abc import Sequence
from dataclasses import dataclass


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
