"""The structure of a PDF: raw pages -> text in paragraphs, with headings and blocks."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise

from documents.extractors.cleaning import clean_page
from documents.extractors.failures import MAX_TITLE
from documents.extractors.pdf.heading_detection import DetectedHeading, find_headings
from documents.extractors.pdf.layout import is_item, is_tabular, join_paragraphs
from documents.extractors.pdf.pages import LineStyle, OutlineEntry, RawPage
from documents.extractors.pdf.running_lines import TrimmedPage, take_running_lines
from documents.extractors.pdf.tables import find_tables
from documents.text.characters import clean_label
from documents.text.tables import CELLS
from documents.types import Block, ChunkType, Heading, TableHead

_FEWEST_ROWS = 2  # rows of a table, items of a list
_LONGEST_ROW = 300  # characters
_NEAR = 2.0  # points
_LINE = re.compile(r"[^\n]+")


def mark_cells(page: RawPage) -> str:
    """Return the page's raw text, with marks between the cells of rows that align."""
    if not any(style and style.gaps for style in page.styles):
        return page.text
    lines = page.text.split("\n")
    for has_gaps, group in groupby(enumerate(page.styles), key=lambda line: bool(line[1] and line[1].gaps)):
        rows = [(number, style) for number, style in group if style]
        if not has_gaps or len(rows) < _FEWEST_ROWS:
            continue
        figures = [any(map(str.isdigit, lines[number][style.gaps[-1].index :])) for number, style in rows]
        if _are_aligned([style for _, style in rows], figures):
            for number, style in rows:
                lines[number] = _insert_cell_marks(lines[number], style)
    return "\n".join(lines)


def _are_aligned(rows: Sequence[LineStyle], figures: Sequence[bool]) -> bool:
    """Tell if most rows share an edge of a cell with the row above, the outer left one aside.

    figures: whether the last cell of a row is one; of others the right edge is that of the text.
    """
    shared = [
        _share_an_edge(above, below, ends=above_ends and below_ends)
        for (above, above_ends), (below, below_ends) in pairwise(zip(rows, figures, strict=True))
    ]
    return 2 * sum(shared) >= len(shared)


def _share_an_edge(above: LineStyle, below: LineStyle, *, ends: bool) -> bool:
    if len(above.gaps) == len(below.gaps) > 1:
        return True
    edges = [(gap.right, other.right) for gap in above.gaps for other in below.gaps]
    edges += [(gap.left, other.left) for gap in above.gaps for other in below.gaps]
    if ends:
        edges.append((above.right, below.right))
    return any(abs(upper - lower) < _NEAR for upper, lower in edges)


def _insert_cell_marks(line: str, style: LineStyle) -> str:
    cells, start = [], 0
    for end in (*(gap.index for gap in style.gaps), len(line)):
        cells.append(line[start:end].strip(" "))
        start = end
    return CELLS.join(cells)


def find_blocks(text: str, offset: int) -> Iterator[Block]:
    """Yield the tables and lists of a page's text: two or more rows, or items, on lines below each other.

    offset: where the page begins in the document's text.
    """
    lines = [(*match.span(), _classify_line(match.group())) for match in _LINE.finditer(text)]
    for kind, group in groupby(lines, key=lambda line: line[2]):
        run = list(group)
        if kind != "paragraph" and len(run) >= _FEWEST_ROWS:
            yield Block(offset + run[0][0], offset + run[-1][1], kind)


def _classify_line(line: str) -> ChunkType:
    if is_tabular(line) and len(line) <= _LONGEST_ROW:
        return "table" if any(letter.isalnum() for letter in line) else "paragraph"
    return "list" if is_item(line) else "paragraph"


_SEARCHED = 50_000  # characters of one page that are searched for a title


def locate_outline(
    entries: Sequence[OutlineEntry], texts: Sequence[str], starts: Sequence[int]
) -> tuple[Heading, ...]:
    """Return headings in order, where their titles open or end a line of their page, else at its start.

    texts, starts: of each page; `starts` counts in the document's text.
    """
    headings: list[Heading] = []
    last_page, last_end = -1, 0
    for entry in entries:
        title = clean_label(entry.title, max_chars=MAX_TITLE)
        if not title or not 0 <= entry.page_index < len(texts):
            continue
        search_from = last_end if entry.page_index == last_page else 0
        start, end = _find_in_page(title, texts[entry.page_index], search_from) or (search_from, search_from)
        headings.append(Heading(entry.level, title, starts[entry.page_index] + start))
        last_page, last_end = entry.page_index, end
    return tuple(sorted(headings, key=lambda heading: heading.start_char))


def _find_in_page(title: str, text: str, search_from: int) -> tuple[int, int] | None:
    """Return (start, end) of the title in the page.

    Its lines may be broken anywhere, and any number may lead it. Within a line it counts only where it cannot
    be a word of a sentence: "Consistent hashing" is no heading "Hashing".
    What ends a long line may be one, unless a capital of its own, and the next line's, say otherwise.
    """
    words = r"\s+".join(re.escape(word) for word in title.split())
    opens = rf"(?i:^[\d.§ \t]{{0,12}}{words})(?!\w)"
    ends = rf"(?i:^[^\n]{{1,40}}(?<!\w){words}$)"
    inside = rf"(?<=[.!?:;)\d–—|][ \t]){words}(?!\w)"
    closes = rf"(?<=\S[ \t]){words}$(?=\n+[^\Wa-z_])" if title[0].isupper() else ends
    for pattern in (opens, ends, inside, closes):
        match = re.compile(pattern, re.MULTILINE).search(text, search_from, _SEARCHED)
        if match:
            return match.span()
    return None


@dataclass(frozen=True, slots=True)
class PdfStructure:
    """The text of a PDF with its structure.

    texts: of each page, to be joined by line feeds. trimmed: the pages, with what running lines they had.
    """

    texts: list[str]
    trimmed: list[TrimmedPage]
    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...] = ()
    title: str = ""


def build_structure(raw_pages: Sequence[RawPage], outline: Sequence[OutlineEntry]) -> PdfStructure:
    """Build the structure, with headings from the outline, or from line styles where it is no use."""
    trimmed = take_running_lines(raw_pages)
    pages = [page.page for page in trimmed]
    detected: list[DetectedHeading] = []
    title = ""
    if len(outline) < 2:  # a single entry is often just the title
        detected, title = find_headings(pages)
    joined = _join_pages(pages, detected)
    texts = [text for text, _ in joined]
    starts = list(accumulate((len(text) + 1 for text in texts[:-1]), initial=0))
    blocks = tuple(
        replace(block, start_char=start + block.start_char, end_char=start + block.end_char)
        for (_, own), start in zip(joined, starts, strict=True)
        for block in own
    )
    if detected:
        headings = _without_column_heads(_locate_detected(detected, texts, starts), blocks)
    else:
        headings = locate_outline(outline, texts, starts)
    return PdfStructure(texts, trimmed, headings, blocks, title)


def _join_pages(
    pages: Sequence[RawPage], detected: Sequence[DetectedHeading]
) -> list[tuple[str, list[Block]]]:
    """Join each page's lines; headings stay apart from paragraphs, and rows of tables are lines.

    The blocks count from where their page begins.
    """
    apart: list[dict[str, int]] = [{} for _ in pages]
    for number, heading in enumerate(detected):
        apart[heading.page_index] |= dict.fromkeys(heading.lines, number)
    joined = []
    head = None
    for page, own in zip(pages, apart, strict=True):
        text, blocks, head = _join_page(page, own, head)
        joined.append((text, blocks))
    return joined


def _join_page(
    page: RawPage, apart: Mapping[str, int], above: TableHead | None
) -> tuple[str, list[Block], TableHead | None]:
    """Return the page's text, its blocks, and the head of the table that ends it.

    above: that of the page before; the table that this page begins with may go on with it.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    length = done = 0

    def append(text: str, head: TableHead | None = None, *, table: bool = False) -> None:
        nonlocal length
        if not text:
            return
        start = length + (2 if parts else 0)
        parts.append(text)
        length = start + len(text)
        blocks.extend([Block(start, length, "table", head)] if table else find_blocks(text, start))

    for table in find_tables(page):
        append(join_paragraphs(clean_page(mark_cells(page.cut(done, table.first))), apart))
        if not parts and table.goes_on_from(above):
            table.head = above
        rows = (" ".join(clean_page(row).split()) for row in table.rows)  # a word at a line's end ends none
        append("\n".join(row for row in rows if row), table.head, table=True)
        done = table.last + 1
    rest = page.cut(done, len(page.styles)) if done else page
    tables = len(parts)
    append(join_paragraphs(clean_page(mark_cells(rest)), apart))
    last = blocks[-1].head if blocks and len(parts) == tables and done else None
    return "\n\n".join(parts), blocks, last


def _locate_detected(
    detected: Sequence[DetectedHeading], texts: Sequence[str], starts: Sequence[int]
) -> tuple[Heading, ...]:
    """Locate each heading as a line of its own; one that is none after cleaning is left out."""
    headings = []
    last_page, last_end = -1, 0
    for heading in detected:
        page = heading.page_index
        line = re.compile(rf"^{re.escape(' '.join(heading.lines))}$", re.MULTILINE)
        match = line.search(texts[page], last_end if page == last_page else 0)
        if match:
            headings.append(Heading(heading.level, heading.title, starts[page] + match.start()))
            last_page, last_end = page, match.end()
    return tuple(headings)


def _without_column_heads(headings: Sequence[Heading], blocks: Sequence[Block]) -> tuple[Heading, ...]:
    """Leave out what heads a column of a table: it is bold and stands alone, too."""
    tables = [(block, block.head.columns) for block in blocks if block.head]
    starts = [block.start_char for block, _ in tables]

    def is_head(heading: Heading) -> bool:
        place = bisect_right(starts, heading.start_char) - 1
        if place < 0 or heading.start_char >= tables[place][0].end_char:
            return False
        names = list(filter(None, tables[place][1]))
        named = [name for name in names if heading.title in name]
        return 0 < len(named) < len(names)  # what stands in all is of the table

    return tuple(heading for heading in headings if not is_head(heading))
