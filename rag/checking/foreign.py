"""Claims in another language than their passage: what is written alike in both is checked. Plain Python."""

import re
from functools import lru_cache

from documents.stop_words import votes
from rag.checking import vocabulary
from rag.checking.agreement import numbers_agree
from rag.checking.statements import Statement, statement_of
from rag.checking.windows import Passage
from rag.checking.words import Token

CAPITAL_NOUNS = "de"  # where a capital letter makes no name
LEAST = 2  # names, numbers and units: one alone stands in many a sentence
ENOUGH, LEAD = 2, 2  # stop words of the other language, and times as many as of the passage's own
_WORD = re.compile(r"[^\W\d_]+")


def other_language(claim: str, passage: Passage) -> str:
    """The claim's language where it is surely not the passage's; else ""."""
    if any(token.kind == "unspaced" for token in statement_of(claim, passage.language).tokens):
        return "" if any(letter in passage.content for letter in claim if letter > "\u0e00") else "zh"
    told = _told(claim, passage.language or "en")
    return told if told and not _shares_words(statement_of(claim, passage.language), passage) else ""


def _shares_words(claim: Statement, passage: Passage) -> bool:
    """Half of those that are neither names nor numbers."""
    words = [token.stem for token in claim.tokens if token.kind == "word"]
    return 2 * sum(word in passage.analysis.words for word in words) >= len(words)


@lru_cache(maxsize=1024)
def _told(claim: str, own: str) -> str:
    counts = votes(_WORD.findall(claim.lower()))
    language, most = max(counts.items(), key=lambda item: item[1], default=("", 0))
    return language if most >= ENOUGH and most >= LEAD * counts[own] else ""


def holding(claim: str, language: str, passage: Passage) -> tuple[int, int] | None:
    """The first sentence, or two, with all names and numbers of the claim, if it has any; else None.

    It must deny something if the claim does, and nothing if the claim does not.
    """
    statement = statement_of(claim, language)
    names = {token.text for n, token in enumerate(statement.tokens) if _names(statement, n, token)}
    counted = [token.number for token in statement.tokens if token.kind == "number" and token.number]
    spaced = not any(
        token.kind == "unspaced" for token in statement.tokens
    )  # else names are spelled otherwise
    if len(names) + sum(1 + bool(number.unit) for number in counted) < (LEAST if spaced else 1):
        return None
    for width in (0, 1):
        for place in range(width, len(passage.analysis.sentences)):
            start, end = passage.span(place - width, place)
            said = statement_of(passage.content[start:end], passage.language)
            same = bool(said.negations) == bool(statement.negations)
            if same and names <= said.texts and numbers_agree(statement, said):
                return place - width, place
    return None


def _names(statement: Statement, place: int, token: Token) -> bool:
    if token.kind != "name":
        return False
    if statement.language != CAPITAL_NOUNS or any(map(str.isdigit, token.text)):
        return True
    before = statement.tokens[place - 1].text if place else ""
    return before not in vocabulary.DETERMINERS
