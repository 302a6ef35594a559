"""The pieces that chunks are packed from: sentences, and lines of code and tables, with their sizes."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from documents.text.headings import HeadingContext, HeadingIndex
from documents.text.sentences import sentence_spans, strip_span
from documents.types import Block, ChunkingSettings
from knowlex.web.fields import MAX_QUESTION_CHARS

MAX_TOKENS = 500  # the embedder reads 512, its two special tokens included
MAX_CHARS = MAX_QUESTION_CHARS  # a chunk's own text must be fit to be searched for
MAX_SIZE = 512  # what may be asked for; more than MAX_TOKENS means MAX_TOKENS
MIN_SIZE = 20
TINY_TOKENS = 40  # a rest that is smaller goes back to the chunk before it


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of chunks in tokens.

    target: of a full one. most, most_chars: of any. tiny: too small to stand alone.
    """

    target: int
    overlap: int
    most: int
    most_chars: int
    tiny: int


def compute_sizes(settings: ChunkingSettings, *, overlapping: bool = True) -> Sizes:
    """Compute the sizes; ValueError if they cannot be met. overlapping: whether the strategy repeats text."""
    if not MIN_SIZE <= settings.size <= MAX_SIZE:
        raise ValueError(f"size must be from {MIN_SIZE} to {MAX_SIZE}.")
    if overlapping and not 0 <= settings.overlap <= settings.size // 2:
        raise ValueError("overlap must be from 0 to half of size.")
    size = min(settings.size, MAX_TOKENS)
    overlap = settings.overlap if overlapping else 0
    return Sizes(size, overlap, size, MAX_CHARS, min(TINY_TOKENS, size // 4))


PROSE = -1
LEAST_SHARE = 0.75  # of a full chunk or piece that a cut at white space must leave
_NUMBER_CHARS = 8
_LOOKED_AT = 1000  # characters; headings are shorter
_SMALL = 12  # characters


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, or a part of one that is too long. opens: the headings that begin with it, if any.

    is_heading: nothing but the heading that opens it. continues: within the sentence of the piece before.
    block: which list, table or code it belongs to, by its place among the blocks; PROSE for none, or for one
    that does not stand apart. tabular: of a table that does, in a source with pages.
    """

    start: int
    end: int
    tokens: int
    opens: HeadingContext | None
    is_heading: bool = False
    continues: bool = False
    block: int = PROSE
    tabular: bool = False


class TokenIndex:
    """Counts tokens between two offsets, from one pass of the tokenizer over the whole text."""

    def __init__(self, starts: Sequence[int]) -> None:
        self._starts = starts

    def count(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def nth_start_after(self, start: int, tokens: int) -> int | None:
        """Return where the token begins that follows the next `tokens`; None if there are not as many."""
        index = bisect_left(self._starts, start) + tokens
        return self._starts[index] if index < len(self._starts) else None

    def nth_start_before(self, end: int, tokens: int) -> int:
        """Return where the last `tokens` before `end` begin; 0 if there are not as many."""
        index = bisect_left(self._starts, end) - tokens
        if index < 0:
            return 0
        return self._starts[index] if index < len(self._starts) else end


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text that pieces are cut from. pages: where each page after the first begins, if it has pages.

    tells_headings: whether headings stand in the text, as all do but the numbers of a sheet's rows.
    breaks_sentences: whether a page ends its last sentence, as slides and sheets do.
    """

    text: str
    tokens: TokenIndex
    contents: HeadingIndex
    pages: Sequence[int] = ()
    blocks: Sequence[Block] = ()
    tells_headings: bool = True
    breaks_sentences: bool = False

    def is_heading_only(self, start: int, end: int, title: str) -> bool:
        """Tell if `text[start:end]` is just its heading, but for Markdown's marks and a number before it.

        A line of Markdown is, however much longer than the title the addresses of its links make it.
        """
        text = self.text[start : min(end, start + _LOOKED_AT)].strip()
        is_line = text.startswith("#") and "\n" not in text and not self.pages
        is_short = len(text.strip("#=-*_` \t\n")) <= len(title) + _NUMBER_CHARS
        return self.tells_headings and (is_line or is_short)

    def block_at(self, position: int) -> Block | None:
        """Return the block that holds the character at `position`."""
        index = bisect_right(self.blocks, position, key=lambda block: block.start_char) - 1
        return self.blocks[index] if index >= 0 and position < self.blocks[index].end_char else None

    def edges_within(self, block: Block) -> list[int]:
        """Return where pages and headings begin in the block."""
        edges: list[int] = []
        for starts in (self.pages, self.contents.starts):
            edges += starts[bisect_left(starts, block.start_char) : bisect_left(starts, block.end_char)]
        return edges

    def stands_apart(self, block: Block, sizes: Sizes) -> bool:
        """Tell if a block is never mixed with the prose around it: code always, a list only if it is long.

        What looks like a table in a PDF may be a line or two of spaced prose.
        """
        if block.kind == "code" or (block.kind == "table" and (block.head or not self.pages)):
            return True
        enough = sizes.target // 2 if block.kind == "list" else sizes.tiny
        return self.tokens.count(block.start_char, block.end_char) >= enough


def cut_pieces(source: SourceText, sizes: Sizes) -> Iterator[Piece]:
    """Yield pieces in order, without overlap and outer white space, each within both limits."""
    cutter = _Cutter(source, sizes)
    position = 0
    for index, block in enumerate(source.blocks):
        yield from cutter.prose(position, block.start_char)
        yield from cutter.block(index)
        position = block.end_char
    yield from cutter.prose(position, len(source.text))


class _Cutter:
    def __init__(self, source: SourceText, sizes: Sizes) -> None:
        self._source, self._sizes = source, sizes
        self._pending: HeadingContext | None = None
        self._previous_end = -1

    def prose(self, start: int, end: int) -> Iterator[Piece]:
        pages = self._source.pages if self._source.breaks_sentences else ()
        inner = pages[bisect_right(pages, start) : bisect_left(pages, end)]
        for edge, stop in pairwise((start, *inner, end)):
            spans = sentence_spans(self._source.text[edge:stop])
            shifted = ((edge + first, edge + last) for first, last in spans)
            yield from self._cut(_join_short_spans(shifted, self._source.pages), PROSE)

    def block(self, index: int) -> Iterator[Piece]:
        """Yield a block whole where it fits, else line by line, a list item by item."""
        block = self._source.blocks[index]
        start, end = block.start_char, block.end_char
        tokens = self._source.tokens.count(start, end)
        apart = self._source.stands_apart(block, self._sizes)
        if tokens <= self._sizes.target and end - start <= self._sizes.most_chars:
            spans: Iterable[tuple[int, int]] = [strip_span(self._source.text, start, end)]
        elif block.kind == "list":
            sentences = sentence_spans(self._source.text[start:end])
            spans = ((start + first, start + last) for first, last in sentences)
        else:
            spans = _iter_lines(self._source.text, start, end)
        yield from self._cut(spans, index if apart else PROSE)

    def _cut(self, spans: Iterable[tuple[int, int]], block: int) -> Iterator[Piece]:
        kept = self._source.blocks[block] if block != PROSE and self._source.pages else None
        tabular = kept is not None and kept.kind == "table"
        text, tokens, sizes = self._source.text, self._source.tokens, self._sizes
        for start, end, heading in self._at_headings(spans):
            self._pending = opens = heading or self._pending
            continues = False
            for first, last in _cut_within_limits(text, start, end, tokens, sizes.target, sizes.most_chars):
                is_heading = opens is not None and self._source.is_heading_only(first, last, opens.title)
                yield Piece(
                    first, last, tokens.count(first, last), opens, is_heading, continues, block, tabular
                )
                self._pending = opens = None
                continues = True

    def _at_headings(
        self, spans: Iterable[tuple[int, int]]
    ) -> Iterator[tuple[int, int, HeadingContext | None]]:
        """Cut spans where a heading begins in one; yield each with the last heading since the one before."""
        starts, between = self._source.contents.starts, self._source.contents.between
        following = bisect_right(starts, self._previous_end)
        for start, end in spans:
            if following == len(starts) or starts[following] >= end:  # no heading near: by far the most
                yield start, end, None
            else:
                inside, before = between(start, end), between(self._previous_end, start + 1)
                edges = [start, *(heading.start_char for heading in inside), end]
                opens = [before[-1] if before else None, *inside]
                yield from zip(edges, edges[1:], opens, strict=False)
                following = bisect_right(starts, end - 1)
            self._previous_end = end - 1


def _join_short_spans(spans: Iterable[tuple[int, int]], pages: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Join sentences of a few letters each, unless a page begins between; half a million would cost time."""
    start = end = 0
    for first, last in spans:
        both_short = last - first < _SMALL and 0 < end - start < _SMALL
        if both_short and bisect_right(pages, start) == bisect_right(pages, first):
            end = last
            continue
        if start < end:
            yield start, end
        start, end = first, last
    if start < end:
        yield start, end


def _iter_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        first, last = strip_span(text, start, stop)
        if first < last:
            yield first, last
        start = stop


def _cut_within_limits(
    text: str, start: int, end: int, tokens: TokenIndex, max_tokens: int, max_chars: int
) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = min(end, start + max_chars, tokens.nth_start_after(start, max_tokens) or end)
        if stop < end:
            stop = find_last_space(text, start + int((stop - start) * LEAST_SHARE), stop)
        first, last = strip_span(text, start, stop)
        if first < last:
            yield first, last
        start = stop


def find_last_space(text: str, earliest: int, stop: int) -> int:
    """Return the end of the last white space from `earliest` to `stop`; `stop` itself if there is none."""
    for position in range(stop, earliest, -1):
        if text[position - 1].isspace():
            return position
    return stop
