"""Sentences with their sizes: what chunks are packed from."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from documents.headings import Contents, Place
from documents.sentences import sentence_spans, stripped

_LAST_QUARTER = 0.75
_NUMBER_CHARS = 8


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, or a part of one that is too long. opens: the headings that begin with it, if any.

    bare: nothing but the heading that opens it.
    """

    start: int
    end: int
    tokens: int
    opens: Place | None
    bare: bool = False


class Ruler:
    """Counts tokens between two places, from one pass of the tokenizer over the whole text."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._starts = array("Q", (start for start, _ in spans))

    def tokens(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def place_after(self, start: int, tokens: int) -> int | None:
        """Where the token begins that follows the next `tokens`; None if there are not as many."""
        index = bisect_left(self._starts, start) + tokens
        return self._starts[index] if index < len(self._starts) else None


def pieces(
    text: str, ruler: Ruler, contents: Contents, *, max_tokens: int, max_chars: int
) -> Iterator[Piece]:
    """In order and without overlap; none starts or ends with white space, none is over either limit."""
    pending: Place | None = None
    for start, end, place in _cut_at_headings(text, contents):
        pending = place or pending
        for first, last in _within_limits(text, start, end, ruler, max_tokens, max_chars):
            bare = pending is not None and _is_bare(text[first:last], pending.title)
            yield Piece(first, last, ruler.tokens(first, last), pending, bare)
            pending = None


def _is_bare(text: str, title: str) -> bool:
    """Markdown's signs are left out; the text may number a title ("2.1") that the outline gives without."""
    return len(text.strip("#=-*_` \t\n")) <= len(title) + _NUMBER_CHARS


def _cut_at_headings(text: str, contents: Contents) -> Iterator[tuple[int, int, Place | None]]:
    """Sentences, cut where a heading begins in one; each with the last heading since the one before."""
    previous_end = -1
    for start, end in sentence_spans(text):
        inside = contents.between(start, end)
        before = contents.between(previous_end, start + 1)
        edges = [start, *(place.start_char for place in inside), end]
        opens = [before[-1] if before else None, *inside]
        yield from zip(edges, edges[1:], opens, strict=False)
        previous_end = end - 1


def _within_limits(
    text: str, start: int, end: int, ruler: Ruler, max_tokens: int, max_chars: int
) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = min(end, start + max_chars, ruler.place_after(start, max_tokens) or end)
        if stop < end:
            stop = _at_space(text, start, stop)
        first, last = stripped(text, start, stop)
        if first < last:
            yield first, last
        start = stop


def _at_space(text: str, start: int, stop: int) -> int:
    """The last white space before `stop`, if it leaves three quarters; else `stop` itself."""
    earliest = start + int((stop - start) * _LAST_QUARTER)
    for position in range(stop, earliest, -1):
        if text[position - 1].isspace():
            return position
    return stop
