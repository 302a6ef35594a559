"""Lookup of the chapter and section that an offset of a text belongs to, and how a place is told in words."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from documents.types import Heading

CHAPTER_LEVEL = 1
_DEEPEST = 8  # headings in force at once; a hostile outline nests tens of thousands


_TOLD_CHARS = 100


def describe_place(source: str, page: int | None, chapter: str, section: str) -> str:
    """Return a passage's place as a reader looks it up: page 3; slide 4; Sheet1, rows 2-31; or its headings.

    source: of the document, "" if unknown. Returns "" where nothing is known.
    """
    if page is not None and source != "XLSX":
        return f"{'slide' if source == 'PPTX' else 'page'} {page}"
    return ", ".join(heading[:_TOLD_CHARS] for heading in dict.fromkeys((chapter, section)) if heading)


@dataclass(frozen=True, slots=True)
class HeadingContext:
    """The headings in force from start_char on. chapter: the first level; section: the next level under it.

    title: of the heading that stands there itself. headers: the titles in force, outermost first, the last 8
    at most.
    """

    start_char: int
    chapter: str
    section: str
    title: str = ""
    headers: tuple[str, ...] = ()


class HeadingIndex:
    """A document's headings, for lookup by offset."""

    def __init__(self, headings: Sequence[Heading]) -> None:
        self._contexts = _build_contexts(headings)
        self.starts = [context.start_char for context in self._contexts]

    def at(self, position: int) -> HeadingContext:
        index = bisect_right(self.starts, position) - 1
        return self._contexts[index] if index >= 0 else HeadingContext(0, "", "")

    def between(self, start: int, end: int) -> list[HeadingContext]:
        """Return the contexts that begin within start < offset < end."""
        first, last = bisect_right(self.starts, start), bisect_right(self.starts, end - 1)
        return self._contexts[first:last]


def _build_contexts(headings: Sequence[Heading]) -> list[HeadingContext]:
    """Build a context for each heading; one deeper than a section changes neither chapter nor section."""
    contexts = []
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
        contexts.append(HeadingContext(heading.start_char, chapter, section, heading.title, headers))
    return contexts
