"""The analysis of English and of unknown languages. Stored entries rest on it: a change needs re-indexing."""

import re
import unicodedata

import Stemmer

from documents.text.stop_words import stop_words

STOP_WORDS = stop_words("en")
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
LONGEST = 64  # characters of a word that count
_TERM = re.compile(rf"([{CJK}]+)|([^\W_{CJK}]+)(?:['’][a-z]+)?")
_WORD = re.compile(r"([^\W_]+)(?:['’][a-z]+)?")
_HAS_CJK = re.compile(f"[{CJK}]")
_stemmer = Stemmer.Stemmer("english", 30_000)


def english_lexemes(text: str, without: frozenset[str] = STOP_WORDS) -> list[str]:
    """Return stemmed words in order; runs of CJK characters as overlapping pairs."""
    folded = unicodedata.normalize("NFKC", text).lower()
    if _HAS_CJK.search(folded):
        found = _TERM.findall(folded)
        return [
            lexeme
            for run, word in found
            for lexeme in (overlapping_pairs(run) or _english_stems([word], without))
        ]
    return _english_stems(_WORD.findall(folded), without)  # the usual case, in a third of the time


def overlapping_pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _english_stems(words: list[str], without: frozenset[str]) -> list[str]:
    kept = [word[:LONGEST] for word in words if word not in without]
    stems: list[str] = _stemmer.stemWords(kept)
    return stems
