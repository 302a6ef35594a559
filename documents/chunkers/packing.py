"""Pieces -> groups, each of which becomes a chunk."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from documents.chunkers.pieces import Piece
from documents.headings import Contents, Place


@dataclass(frozen=True, slots=True)
class Sizes:
    """In tokens. target: a chunk is full. most, most_chars: never passed. tiny: too small to stand alone."""

    target: int
    overlap: int
    most: int
    most_chars: int
    tiny: int


@dataclass(slots=True)
class Group:
    """Pieces in order; the first of them, `repeated` tokens in all, also end the group before."""

    place: Place
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

    def __init__(self, contents: Contents, sizes: Sizes, page_of: Callable[[int], int | None]) -> None:
        self._contents, self._sizes, self._page_of = contents, sizes, page_of
        self._groups: list[Group] = []

    def pack(self, pieces: Iterable[Piece]) -> list[Group]:
        for piece in pieces:
            current = self._groups[-1] if self._groups else None
            if current is None or self._opens_part(current, piece) or self._opens_page(current, piece):
                self._begin(piece, [])
            elif self._is_full(current, piece):
                self._begin(piece, self._tail(current, piece))
            self._groups[-1].add(piece)
        self._merge_tiny()
        return self._groups

    def _begin(self, piece: Piece, repeated: list[Piece]) -> None:
        self._merge_tiny()
        place = piece.opens or self._contents.at(piece.start)
        size = sum(again.tokens for again in repeated)
        self._groups.append(Group(place, repeated, tokens=size, repeated=size))

    def _opens_part(self, current: Group, piece: Piece) -> bool:
        """A new chapter or section begins a group, a mere subheading if the group is half full."""
        if piece.opens is None:
            return False
        if _label(piece.opens) == _label(current.place):
            return current.tokens >= self._sizes.target // 2
        if not current.bare or self._overflows(current, piece):
            return True
        current.place = piece.opens  # a heading right above another goes with its part
        return False

    def _opens_page(self, current: Group, piece: Piece) -> bool:
        """A chunk is cited by the page it starts on: what starts on the next one begins another.

        Only a sentence that runs over the break belongs to both.
        """
        return self._page_of(piece.start) != self._page_of(current.pieces[-1].start)

    def _is_full(self, current: Group, piece: Piece) -> bool:
        size = current.tokens
        past_target = size + piece.tokens > self._sizes.target and size >= self._sizes.target // 2
        return past_target or self._overflows(current, piece)

    def _overflows(self, current: Group, piece: Piece) -> bool:
        too_long = piece.end - current.start > self._sizes.most_chars
        return too_long or current.tokens + piece.tokens > self._sizes.most

    def _tail(self, current: Group, piece: Piece) -> list[Piece]:
        """The last whole sentences of a group, about the overlap in all, never the whole group."""
        room = min(1.5 * self._sizes.overlap, self._sizes.most - piece.tokens)
        tail: list[Piece] = []
        size = 0
        for candidate in reversed(current.pieces[1:]):
            size += candidate.tokens
            too_long = piece.end - candidate.start > self._sizes.most_chars
            if size > room or too_long or size - candidate.tokens > 0.75 * self._sizes.overlap:
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
        fresh = last.tokens - last.repeated
        fits = before.tokens + fresh <= self._sizes.most and last.end - before.start <= self._sizes.most_chars
        if fresh < self._sizes.tiny and fits and _label(before.place) == _label(last.place):
            for piece in last.pieces:
                if piece.start >= before.end:
                    before.add(piece)
            self._groups.pop()


def _label(place: Place) -> tuple[str, str]:
    return place.chapter, place.section
