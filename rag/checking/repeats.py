"""Sentences that a model says over and over, word for word. Plain Python, linear."""

from rag.checking.flow import STOPS


class Repeats:
    """Of one reply. A sentence that begins as the last supported one is not shown before it is whole: it may
    be the same again. Only what would have been held back so, in whatever pieces it came, is taken for that.
    What is said again after something else may be meant so, and stays.
    """

    def __init__(self) -> None:
        self._last = ""
        self._may_be = False
        self._read = self._length = 0

    def learn(self, said: str) -> None:
        """A sentence without its markers, which is supported."""
        self._last = _folded(said)

    def has(self, said: str, raw: str) -> bool:
        """said: the whole sentence without its markers; raw: with them."""
        words = _folded(said)
        return bool(words) and words == self._last and words.startswith(_folded(_shown(raw)))

    def restart(self) -> None:
        """With the next sentence."""
        self._may_be, self._read, self._length = bool(self._last), 0, 0

    def may_begin(self, text: str) -> bool:
        """Whether the sentence may become the same; text: as far as it is known, more each time."""
        if self._may_be:
            piece = _shown(text)[self._read :]
            self._read += len(piece)
            words = _folded(piece)
            self._may_be = self._last.startswith(words, self._length)
            self._length += len(words)
        return self._may_be


def _shown(text: str) -> str:
    """As much of a sentence as can be shown before it is whole, at most."""
    end = next((n for n, character in enumerate(text) if character in STOPS), len(text))
    return text[:end]


def _folded(text: str) -> str:
    return "".join(character.casefold() for character in text if character.isalnum())
