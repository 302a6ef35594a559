"""Packing of pieces into groups, each of which becomes a chunk."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from documents.chunkers.drafts import MeasuredText
from documents.chunkers.pieces import PROSE, Piece, Sizes, compute_sizes, cut_pieces
from documents.protocols import TokenCounter
from documents.text.headings import HeadingContext, HeadingIndex
from documents.types import ChunkDraft, ChunkingSettings, Extraction


@dataclass(slots=True)
class Group:
    """Pieces in order; the first of them, `repeated` tokens in all, also end the group before."""

    context: HeadingContext
    pieces: list[Piece] = field(default_factory=list)
    tokens: int = 0
    repeated: int = 0

    @property
    def start(self) -> int:
        return self.pieces[0].start

    @property
    def is_heading(self) -> bool:
        """Tell if there are only headings, with no text under them yet."""
        return all(piece.is_heading for piece in self.pieces)

    @property
    def end(self) -> int:
        return self.pieces[-1].end

    def add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.tokens += piece.tokens


class Packer:
    """Fills one group after the other."""

    def __init__(self, contents: HeadingIndex, sizes: Sizes, page_of: Callable[[int], int | None]) -> None:
        self.sizes, self._contents, self._page_of = sizes, contents, page_of
        self._groups: list[Group] = []

    def pack(self, pieces: Iterable[Piece]) -> list[Group]:
        for piece in pieces:
            current = self._groups[-1] if self._groups else None
            if current is None or self._opens(current, piece):
                self._begin(piece, [])
            elif self.is_full(current, piece):
                self._begin(piece, self._tail(current, piece))
            self._groups[-1].add(piece)
        self._merge_tiny()
        return self._groups

    def _begin(self, piece: Piece, repeated: list[Piece]) -> None:
        self._merge_tiny()
        context = piece.opens or self._contents.at(piece.start)
        size = sum(piece.tokens for piece in repeated)
        self._groups.append(Group(context, repeated, tokens=size, repeated=size))

    def _opens(self, current: Group, piece: Piece) -> bool:
        """Tell if something begins that is not mixed with what stands before it."""
        return (
            self._opens_part(current, piece)
            or self._opens_page(current, piece)
            or self._opens_block(current, piece)
        )

    def _opens_block(self, current: Group, piece: Piece) -> bool:
        """Tell if code or a table begins or ends: they are not mixed with prose, except their heading, and a
        line or two before a table, as the company's name or what the table shows.
        """
        last = current.pieces[-1]
        leads = current.is_heading or (piece.tabular and current.tokens < self.sizes.tiny)
        return piece.block != last.block and not (last.block == PROSE and leads)

    def _opens_part(self, current: Group, piece: Piece) -> bool:
        """Tell if a chapter or section begins, or a subheading when the group is half full."""
        if piece.opens is None:
            return False
        if current.is_heading and not self.overflows(current, piece):
            current.context = piece.opens  # a heading right above another goes with its part
            return False
        return _label(piece.opens) != _label(current.context) or current.tokens >= self.sizes.target // 2

    def _opens_page(self, current: Group, piece: Piece) -> bool:
        """Tell if a page begins: a chunk is cited by the page it starts on.

        Only a sentence that runs over the break belongs to both.
        """
        return self._page_of(piece.start) != self._page_of(current.pieces[-1].start)

    def is_full(self, current: Group, piece: Piece) -> bool:
        """Tell if a group is full before `piece`, though nothing else begins there."""
        size = current.tokens
        past_target = size + piece.tokens > self.sizes.target and size >= self.sizes.target // 2
        return past_target or self.overflows(current, piece)

    def overflows(self, current: Group, piece: Piece) -> bool:
        too_long = piece.end - current.start > self.sizes.most_chars
        return too_long or current.tokens + piece.tokens > self.sizes.most

    def _tail(self, current: Group, piece: Piece) -> list[Piece]:
        """Return the last whole sentences of a group, about the overlap in all, never the whole group."""
        room = min(1.5 * self.sizes.overlap, self.sizes.most - piece.tokens)
        tail: list[Piece] = []
        size = 0
        for candidate in reversed(current.pieces[1:]):
            size += candidate.tokens
            too_long = piece.end - candidate.start > self.sizes.most_chars
            if size > room or too_long or size - candidate.tokens > 0.75 * self.sizes.overlap:
                break
            tail.append(candidate)
        return tail[::-1]

    def _merge_tiny(self) -> None:
        """Merge a last group with hardly anything of its own into the one before, if that has room."""
        if len(self._groups) < 2:
            return
        before, last = self._groups[-2:]
        if self._page_of(before.start) != self._page_of(last.pieces[-1].start):
            return
        below_table = before.pieces[-1].tabular and last.pieces[-1].block == PROSE
        if before.pieces[-1].block != last.pieces[-1].block and not below_table:
            return
        fresh = last.tokens - last.repeated
        fits = before.tokens + fresh <= self.sizes.most and last.end - before.start <= self.sizes.most_chars
        if fresh < self.sizes.tiny and fits and _label(before.context) == _label(last.context):
            for piece in last.pieces:
                if piece.start >= before.end:
                    before.add(piece)
            self._groups.pop()


def _label(context: HeadingContext) -> tuple[str, str]:
    return context.chapter, context.section


def split_into_sentences(
    extraction: Extraction, settings: ChunkingSettings, tokenizer: TokenCounter
) -> list[ChunkDraft]:
    """Split as `SentenceChunker` does; for programs without Django, too."""
    sizes = compute_sizes(settings)
    text = MeasuredText(extraction, tokenizer)
    pieces = cut_pieces(text.source, sizes)
    packer = Packer(text.source.contents, sizes, text.page_of)
    return text.drafts(packer.pack(pieces), most=sizes.most)
