"""A literal string, and the words by which the chunks that may hold it are found."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from embeddings.lexical.english import CJK
from embeddings.lexical.terms import lexemes
from rag.retrievers.words import quoted

_RUN = re.compile(f"[{CJK}]+")  # no spaces between words: all pairs of characters are words
_WORD = re.compile(f"[^\\W_{CJK}]+")
# What ends a word in every analysis. An apostrophe, a combining mark or a soft hyphen may not.
_BOUNDARY = re.compile(rf'[\s!"#$%&()*+,\-./:;<=>?@\[\\\]^_`{{|}}~{CJK}]')
_SPECIAL = re.compile(r"\W")  # a backslash before these takes them for themselves
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


@dataclass(frozen=True, slots=True)
class Needle:
    """text: as typed, white space evened out. longest: its longest piece without white space.

    pattern: a regular expression of PostgreSQL's that takes any white space for a space.
    words: a tsquery that every chunk with the string matches; "" where nothing can be said.
    """

    text: str
    longest: str
    pattern: str
    words: str

    @property
    def one_word(self) -> bool:
        return self.longest == self.text

    @property
    def parameters(self) -> dict[str, str]:
        found = {"longest": self.longest, "pattern": self.pattern}
        return {**found, "words": self.words} if self.words else found


def needle(text: str, languages: Iterable[str] = ()) -> Needle:
    """languages: of the documents that are read; by each of them the words are analysed."""
    pieces = unicodedata.normalize("NFC", text).split()
    evened = " ".join(pieces)
    pattern = r"\s+".join(_SPECIAL.sub(r"\\\g<0>", piece) for piece in pieces)
    return Needle(evened, max(pieces, key=len), pattern, _query(evened, tuple(languages)))


def _query(text: str, languages: tuple[str, ...]) -> str:
    """For each language all of its words; "" if in one of them there is none to go by."""
    whole = list(_whole_words(unicodedata.normalize("NFKC", text).lower()))
    queries = []
    for language in languages:
        words = {lexeme for word in whole for lexeme in lexemes(word, language)}
        if not words:
            return ""
        queries.append(f"({' & '.join(map(quoted, sorted(words)))})")
    return " | ".join(queries)


def _whole_words(folded: str) -> Iterator[str]:
    """Runs of CJK characters, and inner words; the first and the last may be parts of longer ones."""
    yield from (run.group() for run in _RUN.finditer(folded) if len(run.group()) > 1)
    for found in _WORD.finditer(folded):
        before, after = (
            folded[max(0, found.start() - 1) : found.start()],
            folded[found.end() : found.end() + 1],
        )
        if _BOUNDARY.match(before) and _BOUNDARY.match(after) and not _UNSPACED.search(found.group()):
            yield found.group()
