"""The chunker that cuts windows of equal size, also within sentences."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from documents.chunkers.drafts import MeasuredText
from documents.chunkers.packing import Group, Packer
from documents.chunkers.pieces import (
    LEAST_SHARE,
    PROSE,
    Piece,
    Sizes,
    SourceText,
    compute_sizes,
    find_last_space,
)
from documents.protocols import TokenCounter
from documents.text.headings import HeadingContext
from documents.text.sentences import strip_span
from documents.types import Block, ChunkDraft, ChunkingSettings, Extraction
from knowlex.runtime.components import component


def iter_stretches(source: SourceText, sizes: Sizes) -> Iterator[Piece]:
    """Yield stretches in order, covering all but white space. None reaches over the beginning of a page, a
    heading or a block that stands apart, nor over the end of one.
    """
    text, edges = source.text, _find_edges(source, sizes)
    headed = set(source.contents.starts)
    pending: HeadingContext | None = None
    for start, end in pairwise([*sorted(edges), len(text)]):
        if start in headed:
            pending = source.contents.at(start)
        first, last = strip_span(text, start, end)
        if first < last:
            is_heading = pending is not None and source.is_heading_only(first, last, pending.title)
            tokens = source.tokens.count(first, last)
            yield Piece(first, last, tokens, pending, is_heading, block=edges[start])
            pending = None


def _find_edges(source: SourceText, sizes: Sizes) -> dict[int, int]:
    """Map where stretches begin to the block they are in (PROSE for none)."""
    edges = dict.fromkeys((0, *source.pages, *source.contents.starts), PROSE)
    for index, block in enumerate(source.blocks):
        if source.stands_apart(block, sizes):
            edges.update(dict.fromkeys(source.edges_within(block), index))
            edges[block.start_char] = index
            edges.setdefault(block.end_char, PROSE)
    return {edge: block for edge, block in edges.items() if edge < len(source.text)}


class FixedChunker:
    """Chunker that cuts windows of `size` tokens, each repeating the last `overlap` of the one before.

    Cuts are between words; in code and tables between lines. Windows begin anew at pages, chapters and
    sections, and at code and tables.
    """

    def __init__(self, *, tokenizer: TokenCounter | None = None) -> None:
        self._tokenizer = tokenizer

    def split(self, extraction: Extraction, settings: ChunkingSettings) -> list[ChunkDraft]:
        """Split a text; return [] only where it is blank. Raises ValueError for sizes that cannot be met."""
        sizes = compute_sizes(settings)
        text = MeasuredText(extraction, self._tokenizer or component("TOKENIZER", TokenCounter))
        whole = _WholeParts(text.source.contents, replace(sizes, tiny=0), text.page_of)
        parts = whole.pack(iter_stretches(text.source, sizes))
        return text.drafts(
            (window for part in parts for window in _WindowCutter(text, sizes, part)), most=sizes.most
        )


class _WholeParts(Packer):
    """Packs groups that end only where another page, part or block begins, whatever their size."""

    def is_full(self, current: Group, piece: Piece) -> bool:
        return False

    def overflows(self, current: Group, piece: Piece) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class _TokenWindow:
    start: int
    end: int
    context: HeadingContext


class _WindowCutter:
    """Cuts the windows of one part."""

    def __init__(self, text: MeasuredText, sizes: Sizes, part: Group) -> None:
        self._source, self._sizes, self._part = text.source, sizes, part
        self._text, self._tokens = self._source.text, self._source.tokens
        self._by_line = part.pieces[-1].block != PROSE

    def __iter__(self) -> Iterator[_TokenWindow]:
        start, done = self._part.start, self._part.start
        while done < self._part.end:
            stop = self._stop(start, done)
            first, last = strip_span(self._text, start, stop)
            if last > done:
                yield _TokenWindow(first, last, self._context_at(first))
            start, done = self._next_start(start, stop), stop

    def _context_at(self, start: int) -> HeadingContext:
        """Return a window's headings; the first may begin with a chapter's, but is of the section below."""
        return self._part.context if start == self._part.start else self._source.contents.at(start)

    def _stop(self, start: int, done: int) -> int:
        """Return the end of the window that begins at `start`, behind `done`, where the one before ended."""
        limit = self._tokens.nth_start_after(start, self._sizes.target)
        stop = min(self._part.end, start + self._sizes.most_chars, limit or self._part.end)
        if stop == self._part.end:
            return stop
        if self._by_line and (line := self._text.rfind("\n", done + 1, stop)) > 0:
            return line
        block = self._source.block_at(stop)
        if block and done < block.start_char < stop and self._fits(block):
            return block.start_char
        return find_last_space(self._text, max(done, start + int((stop - start) * LEAST_SHARE)), stop)

    def _next_start(self, start: int, stop: int) -> int:
        """Return `overlap` tokens before the end, moved on to the beginning of a word (a line)."""
        again = self._tokens.nth_start_before(stop, self._sizes.overlap)
        again = max(again, stop - self._sizes.most_chars // 4)
        if again <= start:
            return stop
        if self._by_line:
            line = self._text.find("\n", again - 1, stop) + 1
            return line or stop
        block = self._source.block_at(again)
        if block and block.start_char < again and self._fits(block):
            return min(block.end_char, stop)
        word_starts = (start for start in range(again, stop) if self._text[start - 1].isspace())
        return next(word_starts, again)

    def _fits(self, block: Block) -> bool:
        tokens = self._tokens.count(block.start_char, block.end_char)
        return tokens <= self._sizes.target and block.end_char - block.start_char <= self._sizes.most_chars
