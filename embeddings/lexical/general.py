"""Every language but English: words with their marks, by the rules of `languages`."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

from embeddings.lexical.english import CJK, LONGEST, overlapping_pairs
from embeddings.lexical.languages import LanguageRules

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_APOSTROPHES = "'’ʼ"
_SUFFIXED = frozenset(("tr", "az"))  # Ankara'da: what follows the apostrophe is an ending
_JOINED = frozenset(("uk", "be"))  # м'ята: the apostrophe is a letter
_INSIDE = re.compile(rf"(?<=\w)[{_APOSTROPHES}](?=\w)")
_ENDING = re.compile(rf"(?<=\w)[{_APOSTROPHES}]\w+")
_INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200D, 0x2060, 0xFEFF))


def language_lexemes(text: str, language: LanguageRules, without: frozenset[str]) -> list[str]:
    """Stems in order; runs of scripts that put no space between words as overlapping pairs."""
    spelled = language.spelled(text).translate(_INVISIBLE)
    if language.code in _SUFFIXED:
        spelled = _ENDING.sub("", spelled)
    elif language.code in _JOINED:
        spelled = _INSIDE.sub("", spelled)
    found: list[str] = []
    words: list[str] = []
    for run, unspaced, word in _terms().findall(spelled):
        if word:
            words.append(word)
            continue
        found += [*_stems(words, language, without), *_kept_pairs(run, unspaced, without)]
        words = []
    return [*found, *_stems(words, language, without)]


def _stems(words: list[str], language: LanguageRules, without: frozenset[str]) -> list[str]:
    return language.stem([word[:LONGEST] for word in words if word not in without]) if words else []


def _kept_pairs(run: str, unspaced: str, without: frozenset[str]) -> list[str]:
    found = overlapping_pairs(run) if run else _cluster_pairs(unspaced)
    return [pair for pair in found if pair not in without]


def _cluster_pairs(run: str) -> list[str]:
    """Of letters with the marks that stand on them."""
    clusters = _clusters().findall(run)
    if len(clusters) < 2:
        return [cluster[:LONGEST] for cluster in clusters]
    return [(first + second)[:LONGEST] for first, second in pairwise(clusters)]


@lru_cache(maxsize=1)
def _marks() -> str:
    """For a set in a regular expression: all combining marks of the basic plane. Takes some milliseconds."""
    return "".join(char for char in map(chr, range(0x300, 0x10000)) if unicodedata.category(char)[0] == "M")


@lru_cache(maxsize=1)
def _terms() -> re.Pattern[str]:
    word = rf"(?:[^\W_{CJK}{_UNSPACED}][{_marks()}]*)+"
    return re.compile(rf"([{CJK}]+)|([{_UNSPACED}]+)|({word})")


@lru_cache(maxsize=1)
def _clusters() -> re.Pattern[str]:
    return re.compile(rf"[^{_marks()}][{_marks()}]*")
