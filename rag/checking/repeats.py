"""Sentences that a model says over and over, word for word. Plain Python, linear."""

from rag.checking.flow import STOPS

KEPT = 20  # the last ones that were supported


class Repeats:
    """Of one reply. A sentence that begins as a supported one is not shown before it is whole: it may be the
    same again. Only what would have been held back so, in whatever pieces it came, is taken for the same.
    """

    def __init__(self) -> None:
        self._known: dict[str, None] = {}
        self._candidates: list[str] = []
        self._read = self._length = 0

    def learn(self, said: str) -> None:
        """A sentence without its markers, which is supported."""
        if words := _folded(said):
            self._known.pop(words, None)
            self._known[words] = None
            while len(self._known) > KEPT:
                del self._known[next(iter(self._known))]

    def has(self, said: str, raw: str) -> bool:
        """said: the whole sentence without its markers; raw: with them."""
        words = _folded(said)
        return words in self._known and words.startswith(_folded(_shown(raw)))

    def restart(self) -> None:
        """With the next sentence."""
        self._candidates, self._read, self._length = list(self._known), 0, 0

    def may_begin(self, text: str) -> bool:
        """Whether the sentence may become one of them; text: as far as it is known, more each time."""
        if self._candidates:
            piece = _shown(text)[self._read :]
            self._read += len(piece)
            words = _folded(piece)
            self._candidates = [one for one in self._candidates if one.startswith(words, self._length)]
            self._length += len(words)
        return bool(self._candidates)


def _shown(text: str) -> str:
    """As much of a sentence as can be shown before it is whole, at most."""
    end = next((n for n, character in enumerate(text) if character in STOPS), len(text))
    return text[:end]


def _folded(text: str) -> str:
    return "".join(character.casefold() for character in text if character.isalnum())
