"""A text in the pieces that its pages, headings, code and tables make of it."""

from collections.abc import Iterator
from itertools import pairwise

from documents.chunkers.limits import Sizes
from documents.chunkers.pieces import PROSE, Material, Piece, is_bare
from documents.headings import Place
from documents.sentences import stripped


def stretches(material: Material, sizes: Sizes) -> Iterator[Piece]:
    """In order, covering all but white space; of any size. None reaches over the beginning of a page, a
    heading or a block that stands apart, nor over the end of one.
    """
    text, edges = material.text, _edges(material, sizes)
    headed = set(material.contents.starts)
    places = [*sorted(edges), len(text)]
    pending: Place | None = None
    for start, end in pairwise(places):
        if start in headed:
            pending = material.contents.at(start)
        first, last = stripped(text, start, end)
        if first < last:
            bare = pending is not None and is_bare(text[first : min(last, first + 1000)], pending.title)
            tokens = material.ruler.tokens(first, last)
            yield Piece(first, last, tokens, pending, bare, block=edges[start])
            pending = None


def _edges(material: Material, sizes: Sizes) -> dict[int, int]:
    """Where a stretch begins, and in which block (PROSE for none)."""
    edges = dict.fromkeys((0, *material.pages, *material.contents.starts), PROSE)
    for index, block in enumerate(material.blocks):
        if material.stands_apart(block, sizes):
            edges.update(dict.fromkeys(material.edges_within(block), index))
            edges[block.start_char] = index
            edges.setdefault(block.end_char, PROSE)
    return {place: block for place, block in edges.items() if place < len(material.text)}
