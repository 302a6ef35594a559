"""Which chapter and section a place in a text belongs to."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from documents.types import Heading

CHAPTER_LEVEL = 1
_DEEPEST = 8  # headings in force at once; a hostile outline nests tens of thousands


@dataclass(frozen=True, slots=True)
class HeadingContext:
    """The headings in force from start_char on. chapter: first level; section: the next level under it.

    title: of the heading that stands there itself. headers: the titles in force, outermost first, the last 8
    at most.
    """

    start_char: int
    chapter: str
    section: str
    title: str = ""
    headers: tuple[str, ...] = ()


class HeadingIndex:
    """A document's headings, for looking up places."""

    def __init__(self, headings: Sequence[Heading]) -> None:
        self._places = _build_contexts(headings)
        self.starts = [place.start_char for place in self._places]

    def at(self, position: int) -> HeadingContext:
        index = bisect_right(self.starts, position) - 1
        return self._places[index] if index >= 0 else HeadingContext(0, "", "")

    def between(self, start: int, end: int) -> list[HeadingContext]:
        """Those that come into force within start < place < end."""
        first, last = bisect_right(self.starts, start), bisect_right(self.starts, end - 1)
        return self._places[first:last]


def _build_contexts(headings: Sequence[Heading]) -> list[HeadingContext]:
    """A deeper heading within a section changes neither chapter nor section, but is a place all the same."""
    places = []
    chapter = section = ""
    section_level = 0
    above: list[Heading] = []
    for heading in headings:
        if heading.level <= CHAPTER_LEVEL:
            chapter, section, section_level = heading.title, "", 0
        elif not section_level or heading.level <= section_level:
            section, section_level = heading.title, heading.level
        above = [*(other for other in above if other.level < heading.level), heading][-_DEEPEST:]
        headers = tuple(other.title for other in above)
        places.append(HeadingContext(heading.start_char, chapter, section, heading.title, headers))
    return places
