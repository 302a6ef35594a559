"""A literal string, and the words by which the chunks that may hold it are found."""

import re
import unicodedata
from dataclasses import dataclass

from embeddings.lexical import lexemes

_WORD = re.compile(r"(?<!['’])[^\W_]+")  # what follows an apostrophe may be no word of its own


@dataclass(frozen=True, slots=True)
class Needle:
    """text: as typed, white space evened out. longest: its longest piece without white space.

    words: a tsquery that every chunk with the string matches; "" where nothing can be said.
    """

    text: str
    longest: str
    words: str

    @property
    def parameters(self) -> dict[str, str]:
        found = {"literal": self.text, "longest": self.longest}
        return {**found, "words": self.words} if self.words else found


def needle(text: str) -> Needle:
    pieces = unicodedata.normalize("NFC", text).split()
    evened = " ".join(pieces)
    return Needle(evened, max(pieces, key=len), " & ".join(f"'{word}'" for word in _whole_words(evened)))


def _whole_words(text: str) -> list[str]:
    """The lexemes of its inner words; the first and the last may be parts of longer ones."""
    folded = unicodedata.normalize("NFKC", text).lower()
    inner = (found for found in _WORD.finditer(folded) if found.start() > 0 and found.end() < len(folded))
    return sorted({lexeme for found in inner for lexeme in lexemes(found.group())})
