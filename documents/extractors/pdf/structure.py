"""Raw pages -> the document's text in paragraphs, with its headings and blocks."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

from documents.extractors.cleaning import clean_label, clean_page
from documents.extractors.failures import MAX_TITLE
from documents.extractors.pdf.heading_detection import FoundHeading, find_headings
from documents.extractors.pdf.layout import CELLS, is_item, is_tabular, line_key, paragraphs
from documents.extractors.pdf.pages import Look, OutlineEntry, RawPage
from documents.types import Block, ChunkType, Heading

_FEWEST_ROWS = 2  # rows of a table, items of a list
_LONGEST_ROW = 300  # characters
_NEAR = 2.0  # points
_LINE = re.compile(r"[^\n]+")


def with_cells(page: RawPage) -> str:
    """The page's raw text; in rows whose cells align, what divides them is written out."""
    if not any(look and look.gaps for look in page.looks):
        return page.text
    lines = page.text.split("\n")
    for has_gaps, group in groupby(enumerate(page.looks), key=lambda line: bool(line[1] and line[1].gaps)):
        rows = [(place, look) for place, look in group if look]
        ends = [
            any(map(str.isdigit, lines[place][look.gaps[-1].place :])) for place, look in rows if look.gaps
        ]
        if has_gaps and len(rows) >= _FEWEST_ROWS and _aligned([look for _, look in rows], ends):
            for place, look in rows:
                lines[place] = _parted(lines[place], look)
    return "\n".join(lines)


def _aligned(rows: Sequence[Look], figures: Sequence[bool]) -> bool:
    """Whether most rows have an edge of a cell in common with the row above, the outer left one aside.

    figures: whether the last cell of a row is one; of others the right edge is that of the text.
    """
    pairs = pairwise(zip(rows, figures, strict=True))
    shared = [_share_an_edge(above, below, ends=one and other) for (above, one), (below, other) in pairs]
    return 2 * sum(shared) >= len(shared)


def _share_an_edge(above: Look, below: Look, *, ends: bool) -> bool:
    if len(above.gaps) == len(below.gaps) > 1:
        return True
    edges = [(gap.right, other.right) for gap in above.gaps for other in below.gaps]
    edges += [(gap.left, other.left) for gap in above.gaps for other in below.gaps]
    edges += [(above.right, below.right)] if ends else []
    return any(abs(one - other) < _NEAR for one, other in edges)


def _parted(line: str, look: Look) -> str:
    cells, start = [], 0
    for end in (*(gap.place for gap in look.gaps), len(line)):
        cells.append(line[start:end].strip(" "))
        start = end
    return CELLS.join(cells)


def blocks_of(text: str, offset: int) -> Iterator[Block]:
    """Tables and lists of a page's text: two or more rows, or items, on lines below each other.

    offset: where the page begins in the document's text.
    """
    lines = [(found.start(), found.end(), _kind(found.group())) for found in _LINE.finditer(text)]
    for kind, group in groupby(lines, key=lambda line: line[2]):
        run = list(group)
        if kind != "paragraph" and len(run) >= _FEWEST_ROWS:
            yield Block(offset + run[0][0], offset + run[-1][1], kind)


def _kind(line: str) -> ChunkType:
    if is_tabular(line) and len(line) <= _LONGEST_ROW:
        return "table" if any(letter.isalnum() for letter in line) else "paragraph"
    return "list" if is_item(line) else "paragraph"


_EDGE = 0.09  # of the page's height
_LARGER = 1.15  # times the size of most lines
_SHARE = 0.4  # of the pages; heads of left and right pages differ
_FEWEST_PAGES = 3  # pages that say the same
_LONGEST = 120  # characters
_NUMBER = re.compile(r"\d+|\b[ivxlc]{1,6}\b")


def running_lines(pages: Sequence[RawPage]) -> set[str]:
    """Keys of the lines that repeat, but for numbers in them; page numbers by themselves are among them."""
    shapes = [dict(_edge_lines(page)) for page in pages]
    counts = Counter(shape for of_page in shapes for shape in set(of_page.values()))
    enough = max(_FEWEST_PAGES, _SHARE * len(pages))
    return {key for of_page in shapes for key, shape in of_page.items() if counts[shape] >= enough}


def _edge_lines(page: RawPage) -> Iterator[tuple[str, str]]:
    """(key, shape): in large letters a number makes a difference, as in "Chapter 2"."""
    if not page.height:
        return
    sizes = sorted(look.size for look in page.looks if look)
    for text, look in zip(page.text.split("\n"), page.looks, strict=False):
        if look and not _EDGE < look.baseline / page.height < 1 - _EDGE and len(text) <= _LONGEST:
            key = line_key(text)
            yield key, key if look.size > _LARGER * sizes[len(sizes) // 2] else _NUMBER.sub("#", key)


_SEARCHED = 50_000  # characters of one page that are searched for a title


def place_headings(
    entries: Sequence[OutlineEntry], texts: Sequence[str], starts: Sequence[int]
) -> tuple[Heading, ...]:
    """Headings in order of start_char: where the title opens or ends a line of its page, else its start.

    texts, starts: of each page; `starts` counts in the document's text.
    """
    headings: list[Heading] = []
    last_page, last_end = -1, 0
    for entry in entries:
        title = clean_label(entry.title, max_chars=MAX_TITLE)
        if not title or not 0 <= entry.page_index < len(texts):
            continue
        search_from = last_end if entry.page_index == last_page else 0
        found = _find(title, texts[entry.page_index], search_from)
        at, end = found or (search_from if entry.page_index == last_page else 0, search_from)
        headings.append(Heading(entry.level, title, starts[entry.page_index] + at))
        last_page, last_end = entry.page_index, end
    return tuple(sorted(headings, key=lambda heading: heading.start_char))


def _find(title: str, text: str, search_from: int) -> tuple[int, int] | None:
    """(start, end) of the title in the page, however its lines are broken and whatever number leads it.

    Within a line only where it cannot be a word of a sentence: "Consistent hashing" is no heading "Hashing".
    What ends a long line may be one, unless a capital of its own, and the next line's, say otherwise.
    """
    words = r"\s+".join(re.escape(word) for word in title.split())
    opens = rf"(?i:^[\d.§ \t]{{0,12}}{words})(?!\w)"
    ends = rf"(?i:^[^\n]{{1,40}}(?<!\w){words}$)"
    inside = rf"(?<=[.!?:;)\d–—|][ \t]){words}(?!\w)"
    closes = rf"(?<=\S[ \t]){words}$(?=\n+[^\Wa-z_])" if title[0].isupper() else ends
    for pattern in (opens, ends, inside, closes):
        found = re.compile(pattern, re.MULTILINE).search(text, search_from, _SEARCHED)
        if found:
            return found.span()
    return None


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
