"""The analysis of texts by language (ISO 639-1 code), with Snowball stemmers. Plain Python.

Stored entries rest on it: a change needs re-indexing.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import Stemmer

from documents.text.languages import languages_of_script
from documents.text.stop_words import count_stop_words, stop_words

ENOUGH = 2  # stop words of another language than English: "Die Hard" has one of German
_QUESTION_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=1024)
def detect_question_languages(text: str) -> tuple[str, ...]:
    """Return the languages that most of the question's stop words belong to; () where it is unclear.

    Several where they share the words that there are: "Que es" is Spanish, and could be French. Letters that
    are not Latin tell it, too: a question of four Chinese words has no stop word, and is no English one.
    """
    written = languages_of_script(text)
    if len(written) == 1:
        return written
    counts = count_stop_words(set(_QUESTION_WORD.findall(text.lower())))
    most = max(counts.values(), default=0)
    if written:
        counts = Counter({code: count for code, count in counts.items() if code in written})
        most = max(counts.values(), default=0)
    elif counts["en"] == most:
        return ("en",) if most else ()
    if most < ENOUGH:
        return written
    return tuple(sorted(code for code, count in counts.items() if count == most))


CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
LONGEST = 64  # characters of a word that count
_ENGLISH_TERM = re.compile(rf"([{CJK}]+)|([^\W_{CJK}]+)(?:['’][a-z]+)?")
_ENGLISH_WORD = re.compile(r"([^\W_]+)(?:['’][a-z]+)?")
_HAS_CJK = re.compile(f"[{CJK}]")
_stemmer = Stemmer.Stemmer("english", 30_000)


def english_lexemes(text: str, without: frozenset[str]) -> list[str]:
    """Return stemmed words in order; runs of CJK characters as overlapping pairs."""
    folded = unicodedata.normalize("NFKC", text).lower()
    if _HAS_CJK.search(folded):
        found = _ENGLISH_TERM.findall(folded)
        return [
            lexeme
            for run, word in found
            for lexeme in (overlapping_pairs(run) or _english_stems([word], without))
        ]
    return _english_stems(_ENGLISH_WORD.findall(folded), without)  # the usual case, in a third of the time


def overlapping_pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _english_stems(words: list[str], without: frozenset[str]) -> list[str]:
    kept = [word[:LONGEST] for word in words if word not in without]
    stems: list[str] = _stemmer.stemWords(kept)
    return stems


SNOWBALL = {
    "ar": "arabic", "bs": "serbian", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
    "el": "greek", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hr": "serbian", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ms": "indonesian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip
# Inflected at the end, and without a stemmer: their words are known by their first letters.
CUT = frozenset(("be", "bg", "lv", "mk", "sk", "sl", "uk"))
CUT_TO = 5  # McNamee and Mayfield, "Character N-Gram Tokenization", 2004, for such languages
_VOWELS = "aeiouyаеиіїоуыэюяйьъ"
# Here people leave accents out when they type. Elsewhere the letters are others: Swedish "för" is not "for".
FOLDED = frozenset(
    {"bs", "ca", "cs", "eo", "es", "eu", "fr", "ga", "gl", "hr"}
    | {"it", "lt", "lv", "nl", "pl", "pt", "ro", "sk", "sl", "sr", "tr"}
)
SAME_AS = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "sh": "sr"}
_FOLDS = str.maketrans({"ł": "l", "đ": "d", "ı": "i", "œ": "oe", "æ": "ae", "ß": "ss"})
_TURKISH = str.maketrans({"I": "ı", "İ": "i"})
_PERSIAN = str.maketrans({"ي": "ی", "ك": "ک"})
_POINTED = frozenset(("ar", "fa", "he", "ur", "yi"))  # vowel signs that are seldom written
_POINTS = dict.fromkeys((*range(0x591, 0x5C8), 0x640, *range(0x64B, 0x660), 0x670))


@dataclass(frozen=True, slots=True)
class LanguageRules:
    """stop_words: as they are written, and as they are typed where accents are left out."""

    code: str
    stop_words: frozenset[str]
    stem: Callable[[list[str]], list[str]]

    def spelled(self, text: str) -> str:
        """Return the text in NFKC and lower case, by the language's own rules."""
        text = unicodedata.normalize("NFKC", text)
        if self.code in ("tr", "az"):
            text = text.translate(_TURKISH)
        elif self.code in ("fa", "ur"):
            text = text.translate(_PERSIAN)
        text = text.lower()
        return text.translate(_POINTS) if self.code in _POINTED else text


@lru_cache(maxsize=256)
def language_rules(code: str) -> LanguageRules:
    """Return the rules for any code: without stems or stop words where none are known."""
    code = base_code(code)
    listed = stop_words(code)
    if code in FOLDED:
        listed |= {fold_accents(word) for word in listed}
    return LanguageRules(code, listed, _stemming(code))


def base_code(code: str) -> str:
    code = code.lower().partition("-")[0]
    return SAME_AS.get(code, code)


def fold_accents(word: str) -> str:
    """Return the word without accents."""
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFD", word.translate(_FOLDS))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _stemming(code: str) -> Callable[[list[str]], list[str]]:
    name = SNOWBALL.get(code)
    if name is None:
        return _cut if code in CUT else list
    stemmer = Stemmer.Stemmer(name, 30_000)
    if code not in FOLDED:
        return stemmer.stemWords  # type: ignore[no-any-return]
    return lambda words: [fold_accents(stem) for stem in stemmer.stemWords(words)]


def _cut(words: list[str]) -> list[str]:
    """Return the first letters, without the vowels that cases and numbers differ in."""
    return [_beginning(fold_latin_accents(word)) if word.isalpha() else word for word in words]


def _beginning(word: str) -> str:
    bare = word.rstrip(_VOWELS)
    return (bare if len(bare) > 2 else word)[:CUT_TO]


def fold_latin_accents(word: str) -> str:
    """Remove the accents of Latin letters only: Cyrillic й is not и."""
    return fold_accents(word) if word[:1] < "\u0370" else word


_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_APOSTROPHES = "'’ʼ"
_SUFFIXED = frozenset(("tr", "az"))  # Ankara'da: what follows the apostrophe is an ending
_JOINED = frozenset(("uk", "be"))  # м'ята: the apostrophe is a letter
_INSIDE = re.compile(rf"(?<=\w)[{_APOSTROPHES}](?=\w)")
_ENDING = re.compile(rf"(?<=\w)[{_APOSTROPHES}]\w+")
_INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200D, 0x2060, 0xFEFF))


def language_lexemes(text: str, language: LanguageRules, without: frozenset[str]) -> list[str]:
    """Return stems in order; runs of scripts that put no space between words as overlapping pairs."""
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
    """Return pairs of letters with the marks that stand on them."""
    clusters = _clusters().findall(run)
    if len(clusters) < 2:
        return [cluster[:LONGEST] for cluster in clusters]
    return [(first + second)[:LONGEST] for first, second in pairwise(clusters)]


@lru_cache(maxsize=1)
def _marks() -> str:
    """Return all combining marks of the basic plane, for a set in a regular expression. Takes some ms."""
    return "".join(char for char in map(chr, range(0x300, 0x10000)) if unicodedata.category(char)[0] == "M")


@lru_cache(maxsize=1)
def _terms() -> re.Pattern[str]:
    word = rf"(?:[^\W_{CJK}{_UNSPACED}][{_marks()}]*)+"
    return re.compile(rf"([{CJK}]+)|([{_UNSPACED}]+)|({word})")


@lru_cache(maxsize=1)
def _clusters() -> re.Pattern[str]:
    return re.compile(rf"[^{_marks()}][{_marks()}]*")
