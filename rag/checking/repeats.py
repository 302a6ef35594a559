"""Sentences that a model says over and over, word for word. Plain Python, linear."""

import re

from rag.checking.flow import STOPS

HEAD = 32  # characters: most sentences that are not the same begin otherwise
_WORDS = re.compile(r"[^\W_]+")
_STOP = re.compile(f"[{re.escape(''.join(sorted(STOPS)))}]")


class Repeats:
    """Of one reply. A sentence that begins as the last supported one is not shown before it is whole: it may
    be the same again. Only what would have been held back so, in whatever pieces it came, is taken for that.
    What is said again after something else may be meant so, and stays.
    """

    def __init__(self) -> None:
        self._last = ""
        self._may_be = False
        self._words = ""  # of the last one, once they are needed
        self._read = self._length = 0

    def learn(self, said: str) -> None:
        """A sentence without its markers, which is supported."""
        self._last, self._words = said if _WORDS.search(said) else "", ""

    def has(self, said: str, raw: str) -> bool:
        """said: the whole sentence without its markers; raw: with them."""
        if not (self._last and _begin_alike(said, self._last)):
            return False
        words = _folded(said)
        return bool(words) and words == _folded(self._last) and words.startswith(_folded(_shown(raw)))

    def restart(self) -> None:
        """With the next sentence."""
        self._may_be, self._read, self._length = bool(self._last), 0, 0

    def may_begin(self, text: str, end: int) -> bool:
        """Whether the sentence `text[:end]` may become the same; as far as it is known, more each time."""
        if self._may_be:
            piece = _shown(text, self._read, end)
            words = _folded(piece)
            self._words = self._words or _folded(self._last)
            self._may_be = self._words.startswith(words, self._length)
            self._read += len(piece)
            self._length += len(words)
        return self._may_be


def _shown(text: str, start: int = 0, end: int | None = None) -> str:
    """As much of `text[start:end]`, a sentence, as can be shown before it is whole, at most."""
    stop = _STOP.search(text, start, len(text) if end is None else end)
    return text[start : stop.start() if stop else end]


def _begin_alike(one: str, other: str) -> bool:
    """Whether their beginnings say the same, as far as both of them go."""
    first, second = _folded(one[:HEAD]), _folded(other[:HEAD])
    return first.startswith(second) or second.startswith(first)


def _folded(text: str) -> str:
    return "".join(_WORDS.findall(text)).casefold()
