"""Texts made comparable: what is left of an answer when case, articles and punctuation are not looked at.

After the evaluation script of SQuAD (Rajpurkar et al., EMNLP 2016), for several languages; Chinese and
Japanese are compared character by character. Plain Python.
"""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from rag.word_data import read_lines

ARTICLES = {
    language: frozenset(" ".join(lines).split())
    for language, lines in read_lines(Path(__file__).parent / "data" / "articles.txt").items()
}
_ALEF = re.compile("[\u0622\u0623\u0625]")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_CJK_OR_REST = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\u3040-\u30ff\u3400-\u9fff]+")
_CITATION = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_SAME_SHARE = 0.005  # of the expected figure: what rounding makes of it
_MAX_DIGITS = 300  # more than any double has before the point


def fold(text: str) -> str:
    """Apply NFKC and lower case, drop combining marks; punctuation and symbols become single blanks."""
    text = unicodedata.normalize("NFKC", text).lower().replace("\u0640", "")
    return " ".join("".join(_fold_characters(_ALEF.sub("\u0627", text))).split())


def squash(text: str) -> str:
    """Keep letters and digits alone, so that line breaks and hyphens of a layout do not matter."""
    return fold(text).replace(" ", "")


def tokenize(text: str, lang: str = "en") -> list[str]:
    """Return the words without the language's articles, or English ones where it has no list."""
    articles = ARTICLES.get(lang, ARTICLES["en"])
    found: list[str] = []
    for word in fold(text).split():
        if _CJK.search(word):
            found += _CJK_OR_REST.findall(word)
        elif word not in articles:
            found.append(_without_arabic_article(word) if lang == "ar" else word)
    return found


def contains_words(text: str, expected: str, lang: str = "en") -> bool:
    """Tell whether the expected words stand in the text one after the other."""
    wanted = " ".join(tokenize(expected, lang)) or fold(expected)
    if not wanted:  # symbols only, such as the mark of a comment
        plain = expected.strip("` ")
        return bool(plain) and plain in text
    found = " ".join(tokenize(text, lang))
    if _CJK.search(expected):
        return wanted.replace(" ", "") in found.replace(" ", "")
    return f" {wanted} " in f" {found} "


def strip_citations(text: str) -> str:
    return _CITATION.sub(" ", text)


def parse_numbers(text: str) -> list[float]:
    """Return all figures without their sign, thousands grouped or not; markers `[n]` are none."""
    digits = (found.replace(",", "") for found in _NUMBER.findall(re.sub(r"\[\d+\]", " ", text)))
    return [abs(float(found)) for found in digits if len(found) <= _MAX_DIGITS]


def contains_number(wanted: float, figures: Iterable[float]) -> bool:
    """Tell whether a figure is within half a percent of the wanted one."""
    return any(abs(figure - wanted) <= max(_SAME_SHARE * wanted, 1e-9) for figure in figures)


def split_shingles(text: str, size: int = 4) -> set[str]:
    """Return all runs of so many words."""
    words = fold(text).split()
    return {" ".join(words[at : at + size]) for at in range(max(0, len(words) - size + 1))}


def _fold_characters(text: str) -> Iterable[str]:
    for char in text:
        category = unicodedata.category(char)
        if category not in ("Mn", "Cf"):
            yield " " if category[0] in "PSZC" else char


def _without_arabic_article(word: str) -> str:
    return word[2:] if word.startswith("\u0627\u0644") and len(word) > 4 else word
