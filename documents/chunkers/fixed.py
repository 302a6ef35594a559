"""Windows of equal size, wherever that cuts a sentence."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from documents.chunkers.drafts import MeasuredText
from documents.chunkers.packing import Group, Packer
from documents.chunkers.pieces import PROSE, Piece, Sizes, SourceText, compute_sizes, is_heading_only
from documents.protocols import TokenCounter
from documents.text.headings import HeadingContext
from documents.text.sentences import strip_span
from documents.types import Block, ChunkDraft, ChunkingSettings, Extraction
from knowlex.runtime.components import component


def iter_stretches(material: SourceText, sizes: Sizes) -> Iterator[Piece]:
    """In order, covering all but white space; of any size. None reaches over the beginning of a page, a
    heading or a block that stands apart, nor over the end of one.
    """
    text, edges = material.text, _find_edges(material, sizes)
    headed = set(material.contents.starts)
    places = [*sorted(edges), len(text)]
    pending: HeadingContext | None = None
    for start, end in pairwise(places):
        if start in headed:
            pending = material.contents.at(start)
        first, last = strip_span(text, start, end)
        if first < last:
            bare = pending is not None and is_heading_only(
                text[first : min(last, first + 1000)], pending.title
            )
            tokens = material.ruler.tokens(first, last)
            yield Piece(first, last, tokens, pending, bare, block=edges[start])
            pending = None


def _find_edges(material: SourceText, sizes: Sizes) -> dict[int, int]:
    """Where a stretch begins, and in which block (PROSE for none)."""
    edges = dict.fromkeys((0, *material.pages, *material.contents.starts), PROSE)
    for index, block in enumerate(material.blocks):
        if material.stands_apart(block, sizes):
            edges.update(dict.fromkeys(material.edges_within(block), index))
            edges[block.start_char] = index
            edges.setdefault(block.end_char, PROSE)
    return {place: block for place, block in edges.items() if place < len(material.text)}


_LEAST = 0.75  # of a window: how much of it a cut at white space must leave


class FixedChunker:
    """Chunker that cuts windows of `size` tokens, each repeating the last `overlap` of the one before.

    Cuts are between words; in code and tables between lines. Windows begin anew at pages, chapters and
    sections, and at code and tables.
    """

    def __init__(self, *, tokenizer: TokenCounter | None = None) -> None:
        self._tokenizer = tokenizer

    def split(self, extraction: Extraction, settings: ChunkingSettings) -> list[ChunkDraft]:
        """No chunk only where the text is blank. Raises ValueError for sizes that cannot be met."""
        sizes = compute_sizes(settings)
        reading = MeasuredText(extraction, self._tokenizer or component("TOKENIZER", TokenCounter))
        whole = _WholeParts(reading.material.contents, replace(sizes, tiny=0), reading.page_of)
        parts = whole.pack(iter_stretches(reading.material, sizes))
        return reading.drafts(
            (window for part in parts for window in _WindowCutter(reading, sizes, part)), most=sizes.most
        )


class _WholeParts(Packer):
    """Groups that end only where another page, part or block begins, whatever their size."""

    def is_full(self, current: Group, piece: Piece) -> bool:
        return False

    def overflows(self, current: Group, piece: Piece) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class _TokenWindow:
    start: int
    end: int
    place: HeadingContext


class _WindowCutter:
    """The windows of one part."""

    def __init__(self, reading: MeasuredText, sizes: Sizes, part: Group) -> None:
        self._material, self._sizes, self._part = reading.material, sizes, part
        self._text, self._ruler = self._material.text, self._material.ruler
        self._by_line = part.pieces[-1].block != PROSE

    def __iter__(self) -> Iterator[_TokenWindow]:
        start, done = self._part.start, self._part.start
        while done < self._part.end:
            stop = self._stop(start, done)
            first, last = strip_span(self._text, start, stop)
            if last > done:
                yield _TokenWindow(first, last, self._place(first))
            start, done = self._next_start(start, stop), stop

    def _place(self, start: int) -> HeadingContext:
        """A first window may begin with a chapter's bare heading, and belongs to the section below it."""
        return self._part.place if start == self._part.start else self._material.contents.at(start)

    def _stop(self, start: int, done: int) -> int:
        """The end of the window that begins at `start`; behind `done`, where the one before ended."""
        limit = self._ruler.place_after(start, self._sizes.target)
        stop = min(self._part.end, start + self._sizes.most_chars, limit or self._part.end)
        if stop == self._part.end:
            return stop
        if self._by_line and (line := self._text.rfind("\n", done + 1, stop)) > 0:
            return line
        block = self._material.block_at(stop)
        if block and done < block.start_char < stop and self._fits(block):
            return block.start_char
        return _find_space(self._text, max(done, start + int((stop - start) * _LEAST)), stop)

    def _next_start(self, start: int, stop: int) -> int:
        """`overlap` tokens before the end, moved on to the beginning of a word (a line)."""
        again = self._ruler.place_before(stop, self._sizes.overlap)
        again = max(again, stop - self._sizes.most_chars // 4)
        if again <= start:
            return stop
        if self._by_line:
            line = self._text.find("\n", again - 1, stop) + 1
            return line or stop
        block = self._material.block_at(again)
        if block and block.start_char < again and self._fits(block):
            return min(block.end_char, stop)
        words = (place for place in range(again, stop) if self._text[place - 1].isspace())
        return next(words, again)

    def _fits(self, block: Block) -> bool:
        tokens = self._ruler.tokens(block.start_char, block.end_char)
        return tokens <= self._sizes.target and block.end_char - block.start_char <= self._sizes.most_chars


def _find_space(text: str, earliest: int, stop: int) -> int:
    for position in range(stop, earliest, -1):
        if text[position - 1].isspace():
            return position
    return stop
