"""Raw pages -> the document's text in paragraphs, with its headings and blocks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from documents.extractors.cleaning import clean_page
from documents.extractors.detection import FoundHeading, find_headings
from documents.extractors.layout import paragraphs
from documents.extractors.looks import RawPage
from documents.extractors.outline import place_headings
from documents.extractors.pages import OutlineEntry
from documents.extractors.running import running_lines
from documents.extractors.tables import blocks_of, with_cells
from documents.types import Block, Heading


@dataclass(frozen=True, slots=True)
class Arrangement:
    """texts: of each page; the document's is them joined by one line feed. title: "" unless sure."""

    texts: list[str]
    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...] = ()
    title: str = ""


def arrange(pages: Sequence[RawPage], outline: Sequence[OutlineEntry]) -> Arrangement:
    """The outline tells the headings; where it tells nothing, the look of the lines does."""
    running = running_lines(pages)
    found, title = find_headings(pages, running) if not _is_useful(outline) else ([], "")
    texts = _texts(pages, found, running)
    starts = list(accumulate((len(text) + 1 for text in texts[:-1]), initial=0))
    headings = _place(found, texts, starts) if found else place_headings(outline, texts, starts)
    blocks = (block for text, start in zip(texts, starts, strict=True) for block in blocks_of(text, start))
    return Arrangement(texts, headings, tuple(blocks), title)


def _is_useful(outline: Sequence[OutlineEntry]) -> bool:
    """One entry tells no more than the title, which is often all there is."""
    return len(outline) > 1


def _texts(pages: Sequence[RawPage], found: Sequence[FoundHeading], running: set[str]) -> list[str]:
    """Headings are kept apart from the paragraphs, and so are running heads and feet."""
    alone = {key: -1 - place for place, key in enumerate(running)}
    apart: list[dict[str, int]] = [{} for _ in pages]
    for number, heading in enumerate(found):
        apart[heading.page_index] |= dict.fromkeys(heading.lines, number)
    return [
        paragraphs(clean_page(with_cells(page)), alone | own) for page, own in zip(pages, apart, strict=True)
    ]


def _place(found: Sequence[FoundHeading], texts: Sequence[str], starts: Sequence[int]) -> tuple[Heading, ...]:
    """Where each stands as a line of its own; one that does not, after cleaning, is left out."""
    headings = []
    last_page, last_end = -1, 0
    for heading in found:
        page = heading.page_index
        line = re.compile(rf"^{re.escape(' '.join(heading.lines))}$", re.MULTILINE)
        where = line.search(texts[page], last_end if page == last_page else 0)
        if where:
            headings.append(Heading(heading.level, heading.title, starts[page] + where.start()))
            last_page, last_end = page, where.end()
    return tuple(headings)
