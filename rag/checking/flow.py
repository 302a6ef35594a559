"""How much of an unfinished sentence can be shown, because the context says its words. Plain Python."""

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from embeddings.lexical import lexemes
from rag.checking.listing import LIST_NAMES, NAMES
from rag.checking.markers import ODD_LETTERS, SOURCE, SOURCE_WORDS, words_in
from rag.sentences import analysis_of
from rag.types import Block

KEPT_BLOCKS = 512  # about 15 kB each
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_TOKEN = re.compile(rf"\s*(?:[{_UNSPACED}]|[^\s{_UNSPACED}]+)")
_WORD = re.compile(rf"[{_UNSPACED}]|\w+(?:['’.,]\w+)*")
_WORDS = re.compile(r"\w+")
_NUMBER = re.compile(r"\d[\d.,]*")
STOPS = frozenset("[]【】［］〔〕⟦⟧〚〛⁅⁆(){}（）<>^$\\⁽⁾⁰¹²³⁴⁵⁶⁷⁸⁹#|`")
_DENIALS = words_in(
    "not no never none nor neither without nicht kein keine keinen nie pas jamais aucun aucune sin nunca"
)
# What may belong to a marker that follows: ", from the source 1".
_GLUE_WORDS = words_in(
    """according based on to as by per from see in the stated mentioned described noted shown reported
    explained indicated said information laut gemäß selon según"""
)
_GLUE = re.compile(
    rf"(?:[\s,;:#–—*-]|\b(?:{'|'.join(sorted(_GLUE_WORDS))}|{SOURCE}s?|{NAMES})\b)+\Z", re.IGNORECASE
)
_GLUE_ENDS = (*_GLUE_WORDS, *SOURCE_WORDS, *(f"{word}s" for word in SOURCE_WORDS), *LIST_NAMES)
_SOURCES = re.compile(rf"{SOURCE}s?\.?[:#]?\Z", re.IGNORECASE)


class Flow:
    """Of one sentence at a time: how far it can be shown. stopped: at what the context does not say."""

    def __init__(self, vocabulary: "Vocabulary") -> None:
        self._vocabulary = vocabulary
        self.shown, self.stopped = 0, False
        self._read = 0

    def restart(self, shown: int) -> None:
        """With the next sentence, of which so much has been shown already."""
        self.shown = self._read = shown
        self.stopped = False

    def advance(self, text: str, decided: int) -> int:
        """How much of the sentence `text[:decided]`, the rest of which may follow, can be shown."""
        before = self._read
        while not self.stopped and self._read < decided:
            token = _TOKEN.match(text, self._read, decided)
            if token is None or (token.end() == len(text) and not _unspaced(token[0][-1])):
                break
            self.stopped = not self._passes(text, token)
            if not self.stopped:
                self._read = token.end()
        if self._read == before:  # the piece ends no word
            return self.shown
        end = _glue_start(text, self.shown, self._read)
        if self.shown or _WORD.search(text, 0, end):  # marks alone may go with the marker that follows
            self.shown = end
        return self.shown

    def doubts(self, text: str) -> bool:
        """Of the whole sentence: whether anything of it is not in the context."""
        return self.stopped or not all(map(self._vocabulary.holds, _WORD.findall(text, self._read)))

    def _passes(self, text: str, token: re.Match[str]) -> bool:
        said = token[0].strip()
        if not STOPS.isdisjoint(said):
            return False
        if said[0].isdigit() and _SOURCES.search(text, max(0, token.start() - 24), token.start()):
            return False
        return all(map(self._vocabulary.holds, _WORD.findall(said)))


def _glue_start(text: str, start: int, end: int) -> int:
    """Where the glue begins that `text[start:end]` ends with; `end` if it ends with none."""
    last = text[start:end].lower()
    if last[-1:].isalnum() and not last.endswith(_GLUE_ENDS) and not ODD_LETTERS.search(text, start, end):
        return end  # as after most words; looking for glue at each letter takes 15 us
    glue = _GLUE.search(text, start, end)
    return glue.start() if glue else end


def _unspaced(char: str) -> bool:
    return "\u3040" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff" or "\u0e00" <= char <= "\u0e7f"


class Vocabulary:
    """The words of a context, in every form of theirs, and its numbers."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._languages = tuple(dict.fromkeys(block.language for block in blocks))
        self._known: dict[str, bool] = {}

    def holds(self, word: str) -> bool:
        """Whether it stands in the context or says nothing by itself."""
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = self._looked_up(word)
        return known

    def written(self, words: str) -> bool:
        """Whether a block holds this very text, upper and lower case aside."""
        return " ".join(words.lower().split()) in self._text

    def _looked_up(self, word: str) -> bool:
        lower = word.lower().replace("’", "'")
        if lower in _DENIALS or lower.endswith("n't"):
            return False
        if any(lower in said.words for said in self._said):
            return True
        if any(map(str.isdigit, lower)):
            return any(lower in said.numbers for said in self._said)
        if len(lower) == 1 and not lower.isalnum():
            return True
        return any(all(map(self._stands, lexemes(lower, code))) for code in self._languages)

    def _stands(self, stem: str) -> bool:
        return any(stem in stems for stems in self._stems)

    @cached_property
    def _text(self) -> str:
        return " ".join(said.text for said in self._said)

    @cached_property
    def _said(self) -> tuple["_Said", ...]:
        return tuple(_said(block.content) for block in self._blocks)

    @cached_property
    def _stems(self) -> tuple[frozenset[str], ...]:
        return tuple(analysis_of(block.content, block.language).words for block in self._blocks)


class _Said(NamedTuple):
    """text: in lower case, with single spaces. numbers: without full stops and commas at their ends."""

    text: str
    words: frozenset[str]
    numbers: frozenset[str]


@lru_cache(maxsize=KEPT_BLOCKS)
def _said(content: str) -> _Said:
    text = " ".join(content.lower().split())
    words = frozenset((*_WORDS.findall(text), *_WORD.findall(text)))
    return _Said(text, words, frozenset(number.rstrip(".,") for number in _NUMBER.findall(text)))
