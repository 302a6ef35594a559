"""Where a part of a page's stored text stands on the page as it is shown.

Reading changes a page's text: white space, line ends, hyphens at line ends, ` | ` between cells, compatible
forms of letters. It keeps the order of the letters. So both texts are folded to what reading never changes,
and places are mapped over the folded texts, which are mostly equal; where they are not, over their longest
common parts. Nothing is stored at ingestion, so nothing can drift from it.
"""

import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from documents.types import WORD_SCALE, Box, PageLayout, PlacedWord

Method = Literal["exact", "aligned", "none"]

_IGNORED = frozenset("-|\u00ad\u2010\ufffe\ufffd\x02\x00")
MAX_FOLDED = 40_000  # letters of a page that are compared where the two texts differ
MIN_SHARE = 0.9  # of a quote's letters that must be found, or nothing is marked
_APART = "\n\n"  # between a page's text and its running lines
_NO_EXTENT = (0.0, 0.0, 0.0, 0.0)
_DIRECTION_KNOWN = 4  # letters, whose box tells which way a line runs
_SAME_LINE = 0.5  # of the lower height that two letters of a line overlap
_SAME_COLUMN = 0.95  # of the width, of a line that runs up or down the page
_WORD_GAP = 3.0  # heights between letters that one rectangle spans


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line as it is shown: its place in the page's stored text, its letters and its box."""

    start: int
    end: int
    text: str
    box: Box


class PageAlignment:
    """Maps places of a page's stored text to letters of its layout. method: how sure the map is.

    head, foot: the page's running lines, which stand around its text in the layout, and behind it in
    `with_running_lines`.
    """

    def __init__(self, text: str, layout: PageLayout, *, head: str = "", foot: str = "") -> None:
        self._layout, self._boxes = layout, memoryview(layout.boxes).cast("f")
        behind = len(text) + len(_APART)
        parts = [(head, behind), (text, 0), (foot, behind + len(head) + bool(head))]
        folds = [_fold(part, offset) for part, offset in parts]
        folded = "".join(letters for letters, _ in folds)
        self._places = [place for _, places in folds for place in places]
        self._body = len(folds[0][0]), len(folds[0][0]) + len(folds[1][0])
        shown, self._letters = _fold(layout.letters)
        self.method: Method = "exact" if folded == shown else "aligned"
        self._map = range(len(folded)) if folded == shown else _match(folded, shown)

    def rectangles(self, start: int, end: int) -> list[Box]:
        """Return one box a line for `text[start:end]`, in reading order; [] if too little is found."""
        first, last = (bisect_left(self._places, place, *self._body) for place in (start, end))
        letters = [self._letters[place] for place in self._map[first:last] if place >= 0]
        if last == first or len(letters) < MIN_SHARE * (last - first):
            return []
        return [box for _, box in self._lines(letters)]

    def lines(self) -> list[TextLine]:
        """Return the page's lines with their places in the stored text; what was not read has no line."""
        place_of = {
            self._letters[shown]: self._places[place] for place, shown in enumerate(self._map) if shown >= 0
        }
        lines = []
        for letters, box in self._lines(sorted(place_of)):
            text = self._layout.letters[letters[0] : letters[-1] + 1]
            places = [place_of[letter] for letter in letters]
            lines.append(TextLine(min(places), max(places) + 1, _printable(text), box))
        return lines

    def _lines(self, letters: Sequence[int]) -> Iterator[tuple[list[int], Box]]:
        """Yield the letters of each line with their box; letters without an extent count for nothing."""
        line: list[int] = []
        box: Box | None = None
        for letter in letters:
            found = self._box(letter)
            if found is None:
                continue
            if box is not None and line and _is_same_line(box, found, len(line)):
                line.append(letter)
                box = _union(box, found)
                continue
            if box is not None:
                yield line, box
            line, box = [letter], found
        if box is not None:
            yield line, box

    def _box(self, letter: int) -> Box | None:
        x0, y0, x1, y1 = self._boxes[4 * letter : 4 * letter + 4]
        # In points, so that rotation and the page's shape do not matter.
        width, height = self._layout.width, self._layout.height
        return (x0 * width, y0 * height, x1 * width, y1 * height) if x1 > x0 and y1 > y0 else None


def normalized(box: Box, layout: PageLayout) -> Box:
    """Return the box in shares of the page, 0 to 1 from the top left."""
    x0, y0, x1, y1 = box
    return tuple(  # type: ignore[return-value]
        round(min(1.0, max(0.0, value)), 5)
        for value in (x0 / layout.width, y0 / layout.height, x1 / layout.width, y1 / layout.height)
    )


def lay_out_words(page: PageLayout, words: Sequence[PlacedWord]) -> PageLayout:
    """Return the layout of a recognised page: each letter has an equal share of its word's box."""
    boxes = array("f")
    for word, *edges in words:
        left, top, right, bottom = (edge / WORD_SCALE for edge in edges)
        share = (right - left) / len(word)
        for index in range(len(word)):
            boxes.extend((left + index * share, top, left + (index + 1) * share, bottom))
        boxes.extend(_NO_EXTENT)  # of the space behind the word
    letters = "".join(f"{word} " for word, *_ in words)
    return replace(page, letters=letters, boxes=boxes.tobytes())


def with_running_lines(text: str, head: str, foot: str) -> str:
    """Return a page's text with its running lines behind it, so that places in the text stay as they are."""
    running = "\n".join(part for part in (head, foot) if part)
    return f"{text}{_APART}{running}" if running else text


def _fold(text: str, offset: int = 0) -> tuple[str, list[int]]:
    """Return the letters that reading never changes, and where each stands in `text`, moved by `offset`."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text, offset):
        if character.isspace() or character in _IGNORED:
            continue
        if character.isascii():
            letters.append(character)
            places.append(place)
            continue
        for part in unicodedata.normalize("NFKC", character):
            if not part.isspace() and part not in _IGNORED:
                letters.append(part)
                places.append(place)
    return "".join(letters), places


def _match(folded: str, shown: str) -> list[int]:
    """Return for each letter of `folded` its place in `shown`, -1 where it has none."""
    places = [-1] * len(folded)
    if max(len(folded), len(shown)) > MAX_FOLDED:
        return places
    for block in SequenceMatcher(None, folded, shown, autojunk=False).get_matching_blocks():
        if block.size >= 3:  # fewer letters are alike by chance
            places[block.a : block.a + block.size] = range(block.b, block.b + block.size)
    return places


def _is_same_line(line: Box, letter: Box, letters: int) -> bool:
    """Tell if the next letter goes on with the line, which runs across, or up or down the page.

    The letters of a line that runs across overlap in height. Those of one that runs up or down stand above
    each other, and all are as wide as the line is high. A few letters may still be either.
    """
    across, upright = _goes_on_across(line, letter), _goes_on_upright(line, letter)
    if letters < _DIRECTION_KNOWN:
        return across or upright
    return upright if line[3] - line[1] > line[2] - line[0] else across


def _goes_on_across(line: Box, letter: Box) -> bool:
    height = min(line[3] - line[1], letter[3] - letter[1])
    overlap = min(line[3], letter[3]) - max(line[1], letter[1])
    gap = max(letter[0] - line[2], line[0] - letter[2])
    return overlap >= _SAME_LINE * height and gap <= _WORD_GAP * height


def _goes_on_upright(line: Box, letter: Box) -> bool:
    width = max(line[2] - line[0], letter[2] - letter[0])
    overlap = min(line[2], letter[2]) - max(line[0], letter[0])
    gap = max(letter[1] - line[3], line[1] - letter[3])
    is_turned = letter[3] - letter[1] < letter[2] - letter[0] or line[3] - line[1] > 2 * (line[2] - line[0])
    return is_turned and overlap >= _SAME_COLUMN * width and gap <= 0.5 * width


def _union(one: Box, other: Box) -> Box:
    return (min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3]))


def _printable(text: str) -> str:
    return " ".join("".join(" " if c.isspace() or not c.isprintable() else c for c in text).split())
