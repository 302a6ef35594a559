"""An answer's markers as a face numbers them, whole or piece by piece. Plain Python, linear in the text."""

import re
from bisect import bisect_right
from collections.abc import Callable, Hashable
from operator import itemgetter
from typing import NamedTuple

from rag.types import Answer

_RUN = re.compile(r"(?:\[\d{1,4}\])+")
_MARKERS = re.compile(rf"[ \t]?{_RUN.pattern}")
_RUN_AT_END = re.compile(r"(?:\[\d{1,4}\])+\Z")
LONGEST_RUN = 400  # characters, more than one marker for each passage
PlaceOf = Callable[[int], int]


class FirstCited:
    """Numbers from 1 in the order of first citation; passages with the same key share a number."""

    def __init__(self, key_of: Callable[[int], Hashable]) -> None:
        self._key_of = key_of
        self._places: dict[Hashable, int] = {}

    def __call__(self, number: int) -> int:
        return self._places.setdefault(self._key_of(number), len(self._places) + 1)


class Numbering:
    """place_of: the face's number of the passage that `[n]` names; asked in the order of the text.

    Neighbours that become equal become one, also where one piece ends and the next begins.
    """

    def __init__(self, place_of: PlaceOf) -> None:
        self.place_of = place_of
        self._held, self._read, self._shift = "", 0, 0
        self._shifts: list[tuple[int, int]] = []

    def feed(self, piece: str) -> str:
        """What can be sent: all but markers at the end, which may go on in the next piece."""
        text = self._held + piece
        last = _RUN_AT_END.search(text, max(0, len(text) - LONGEST_RUN)) if text.endswith("]") else None
        end = last.start() if last else len(text)
        self._held = text[end:]
        return self._numbered(text[:end])

    def finish(self) -> str:
        """The rest."""
        text, self._held = self._held, ""
        return self._numbered(text)

    def sent(self, offset: int) -> int:
        """Where an offset into `Answer.text` has come to lie; none of a marker's own is asked for."""
        place = bisect_right(self._shifts, offset, key=itemgetter(0))
        return offset + (self._shifts[place - 1][1] if place else 0)

    def _numbered(self, text: str) -> str:
        start = self._read

        def numbered(match: re.Match[str]) -> str:
            run = match[0]
            places = dict.fromkeys(self.place_of(int(n)) for n in run[1:-1].split("]["))
            new = f"[{']['.join(map(str, places))}]"
            self._shift += len(new) - len(run)
            self._shifts.append((start + match.end(), self._shift))
            return new

        self._read += len(text)
        return _RUN.sub(numbered, text)


def numbered(answer: Answer, place_of: PlaceOf) -> tuple[str, Numbering]:
    """The whole text, and the numbering that knows what lies where in it."""
    numbering = Numbering(place_of)
    return numbering.feed(answer.text) + numbering.finish(), numbering


class Misstatement(NamedTuple):
    """A `Contradiction` as a client gets it: places in the text that is sent. text: without markers."""

    text: str
    answer_start: int
    answer_end: int
    missing: tuple[str, ...]


def misstatements(answer: Answer, text: str, numbering: Numbering) -> list[Misstatement]:
    """In the order of the answer. text, numbering: as `numbered` gives them."""
    found = []
    for one in answer.contradicted:
        start, end = numbering.sent(one.answer_start), numbering.sent(one.answer_end)
        found.append(Misstatement(_MARKERS.sub("", text[start:end]), start, end, one.missing))
    return found
