"""Pieces -> groups, each of which becomes a chunk."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from documents.chunkers.drafts import MeasuredText
from documents.chunkers.pieces import PROSE, Piece, Sizes, compute_sizes
from documents.chunkers.pieces import cut_pieces as pieces
from documents.protocols import TokenCounter
from documents.text.headings import HeadingContext, HeadingIndex
from documents.types import ChunkDraft, ChunkingSettings, Extraction


@dataclass(slots=True)
class Group:
    """Pieces in order; the first of them, `repeated` tokens in all, also end the group before."""

    place: HeadingContext
    pieces: list[Piece] = field(default_factory=list)
    tokens: int = 0
    repeated: int = 0

    @property
    def start(self) -> int:
        return self.pieces[0].start

    @property
    def bare(self) -> bool:
        """Headings with no text under them yet."""
        return all(piece.bare for piece in self.pieces)

    @property
    def end(self) -> int:
        return self.pieces[-1].end

    def add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.tokens += piece.tokens


class Packer:
    """Fills groups one after the other."""

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
        place = piece.opens or self._contents.at(piece.start)
        size = sum(again.tokens for again in repeated)
        self._groups.append(Group(place, repeated, tokens=size, repeated=size))

    def _opens(self, current: Group, piece: Piece) -> bool:
        """Whether something begins that is not mixed with what stands before it."""
        return (
            self._opens_part(current, piece)
            or self._opens_page(current, piece)
            or self._opens_block(current, piece)
        )

    def _opens_block(self, current: Group, piece: Piece) -> bool:
        """Code and tables stand apart from the prose before and behind, but not from their heading."""
        last = current.pieces[-1]
        return piece.block != last.block and not (last.block == PROSE and current.bare)

    def _opens_part(self, current: Group, piece: Piece) -> bool:
        """A new chapter or section begins a group, a mere subheading if the group is half full."""
        if piece.opens is None:
            return False
        if current.bare and not self.overflows(current, piece):
            current.place = piece.opens  # a heading right above another goes with its part
            return False
        return _label(piece.opens) != _label(current.place) or current.tokens >= self.sizes.target // 2

    def _opens_page(self, current: Group, piece: Piece) -> bool:
        """A chunk is cited by the page it starts on: what starts on the next one begins another.

        Only a sentence that runs over the break belongs to both.
        """
        return self._page_of(piece.start) != self._page_of(current.pieces[-1].start)

    def is_full(self, current: Group, piece: Piece) -> bool:
        """Whether a group ends before `piece` though nothing else begins there."""
        size = current.tokens
        past_target = size + piece.tokens > self.sizes.target and size >= self.sizes.target // 2
        return past_target or self.overflows(current, piece)

    def overflows(self, current: Group, piece: Piece) -> bool:
        too_long = piece.end - current.start > self.sizes.most_chars
        return too_long or current.tokens + piece.tokens > self.sizes.most

    def _tail(self, current: Group, piece: Piece) -> list[Piece]:
        """The last whole sentences of a group, about the overlap in all, never the whole group."""
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
        """A last group with hardly anything of its own goes back to the one before, if that has room."""
        if len(self._groups) < 2:
            return
        before, last = self._groups[-2:]
        if self._page_of(before.start) != self._page_of(last.pieces[-1].start):
            return
        if before.pieces[-1].block != last.pieces[-1].block:
            return
        fresh = last.tokens - last.repeated
        fits = before.tokens + fresh <= self.sizes.most and last.end - before.start <= self.sizes.most_chars
        if fresh < self.sizes.tiny and fits and _label(before.place) == _label(last.place):
            for piece in last.pieces:
                if piece.start >= before.end:
                    before.add(piece)
            self._groups.pop()


def _label(place: HeadingContext) -> tuple[str, str]:
    return place.chapter, place.section


def split_into_sentences(
    extraction: Extraction, settings: ChunkingSettings, tokenizer: TokenCounter
) -> list[ChunkDraft]:
    """As `SentenceChunker` splits."""
    sizes = compute_sizes(settings)
    reading = MeasuredText(extraction, tokenizer)
    parts = pieces(reading.material, sizes)
    packer = Packer(reading.material.contents, sizes, reading.page_of)
    return reading.drafts(packer.pack(parts), most=sizes.most)
