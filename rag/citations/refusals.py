"""Recognise how a model says that the passages do not answer the question, in several languages.

The words that show it are in `data/refusals.txt`. Plain Python.
"""

import re
from pathlib import Path

from rag.prompts import says_not_found
from rag.word_data import read_lines, read_patterns

_DATA = Path(__file__).parent / "data" / "refusals.txt"
_PATTERNS, _LINES = read_patterns(_DATA), read_lines(_DATA)
_LEAD_IN = re.compile(rf"(?:{_PATTERNS['lead-in']}),? (?:but )?")
_REFUSAL = re.compile(_PATTERNS["refusal"])
_UNSPACED_REFUSAL = re.compile(_PATTERNS["unspaced refusal"])
_SPEAKS_OF_SOURCES = re.compile(
    r"(?:the|der|die|das|im|le|les|la|el|los|las|in the)\b[^.,]{0,30}?" rf"\b(?:{_PATTERNS['source']})\b"
)
_BUT = re.compile(rf"\b(?:{_PATTERNS['but']})\b|[;:]\s", re.IGNORECASE)
_OPENERS, _ARTICLES, _SUBJECTS = (
    frozenset(" ".join(_LINES[name]).split()) for name in ("opener", "article", "subject")
)
_UNSPACED_OPENERS = "抱对對很我根无無没沒未申す情回答わ分提本文上该在"
_QUOTES = "\"'*_ \n\t"


def refuses(sentence: str) -> bool:
    """Tell whether a sentence without its markers says that the passages do not answer the question."""
    text = _normalise(sentence)
    if says_not_found(text) or _UNSPACED_REFUSAL.match(text):
        return True
    lead_in = _LEAD_IN.match(text)
    if lead_in is None:
        return _REFUSAL.match(text) is not None
    text = text[lead_in.end() :]
    return _REFUSAL.match(text) is not None or says_not_found(text)


def declines(refusal: str) -> bool:
    """Tell whether a refusal at a reply's start speaks for the whole reply.

    That the context does not mention a thing may be said before what it does mention.
    """
    return not _SPEAKS_OF_SOURCES.match(_normalise(refusal))


def goes_on(refusal: str) -> bool:
    """Tell whether a sentence says more: "The passages do not say how, but the tower has 120 steps"."""
    text = _normalise(refusal)
    lead_in = _LEAD_IN.match(text)
    return _BUT.search(text, lead_in.end() if lead_in else 0) is not None


def could_refuse(beginning: str) -> bool:
    """Tell whether a reply that begins so, perhaps in the middle of a word, may become a refusal."""
    text = beginning[:80].replace("’", "'").lower().lstrip(_QUOTES)
    words = [word.rstrip(",.:;") for word in text.split()]
    if not words or words[0][:1] in _UNSPACED_OPENERS:
        return True
    first = words[0]
    if len(words) == 1:
        return any(opener.startswith(first) for opener in _OPENERS | _ARTICLES)
    if first not in _ARTICLES:
        return first in _OPENERS
    return words[1] in _SUBJECTS or (
        len(words) == 2 and any(subject.startswith(words[1]) for subject in _SUBJECTS)
    )


def _normalise(sentence: str) -> str:
    return " ".join(sentence[:400].replace("’", "'").lower().split()).lstrip(_QUOTES)
