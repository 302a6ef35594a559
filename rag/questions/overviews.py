"""Questions about a document as a whole: "Summarize …", "What are the main …?". Plain Python, no model.

Their answer stands in no single place, so passages spread over the document are worth more than those that
resemble the question. Roughly, in several languages.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from embeddings.lexical.terms import lexemes, question_lexemes
from rag.types.retrieval import Passage

READ_CHARS = 500
LOOKED_AT = 10  # best candidates
NEARLY_ALL = 0.8  # of them
_MAIN = r"(?:main|key|major|principal|central|essential|most\s+important)"
_ASKING = re.compile(
    r"\b(?:summari[sz]e|summary|overview|outline|sum\s+up|tl;?dr|gist)\b"
    rf"|\bwhat\s+(?:are|were)\s+the\s+{_MAIN}\b|\b{_MAIN}\s+(?:points?|findings?|ideas?|topics?|messages?|takeaways?)\b"
    r"|^\W*what(?:['’]s|\s+is|\s+are|\s+does|\s+do)\b.*\babout\W*$"
    r"|\bfass(?:e|en\s+Sie|t)?\b.*\bzusammen|\bzusammenfass\w+|\büberblick\b|\bworum\s+geht|\bwovon\s+handel\w+"
    r"|\bwas\s+sind\s+die\s+(?:wichtigsten|zentralen|wesentlichen|haupt\w+)"
    r"|\brésum\w+|\bde\s+quoi\s+(?:parle|traite)|\bquel(?:le)?s\s+sont\s+les\s+principa\w+"
    r"|\bresum(?:e|en|ir|a)\b|\bde\s+qué\s+trata|\bcuáles\s+son\s+l[oa]s\s+principales",
    re.IGNORECASE,
)
# What such a question says without naming anything.
_FRAME = """
summarize summarise summary overview outline sum gist tldr main key major principal central essential
important point finding idea topic message takeaway content short brief briefly sentence word please give
write one two three four five document report paper article file pdf book text chapter page fasse fassen
fasst zusammen zusammenfassung zusammenfassen überblick worum geht wovon handelt wichtigsten zentralen
wesentlichen hauptpunkte punkte aussagen inhalt kurz bitte gib dokument bericht artikel buch kapitel résumez
résume résumer résumé quoi parle traite principaux principales livre rapport resume resumen resumir trata
principales puntos documento informe artículo texto libro
"""
_SIGNS = re.compile(r"[\W_]+")


class Overview(NamedTuple):
    """document_id: which is asked for. whole: nothing but an overview of it is asked for."""

    document_id: UUID
    whole: bool


@lru_cache(maxsize=KEPT_QUESTIONS)
def asks_for_overview(text: str) -> bool:
    return _ASKING.search(text[:READ_CHARS]) is not None


def overview_of(text: str, candidates: Sequence[Passage]) -> Overview | None:
    """The document that a question asks to be summed up; None if it asks for something else.

    candidates: found for it, best first. A document is meant if the question names it, by its title or file
    name, or if nearly all of the best candidates are of it.
    """
    if not candidates or not asks_for_overview(text):
        return None
    best = candidates[:LOOKED_AT]
    for passage in best:
        asked = _asked(text, passage.language)
        for name in (passage.document_name.rpartition(".")[0], passage.title):
            words = frozenset(lexemes(_SIGNS.sub(" ", name), passage.language)) - _frame(passage.language)
            if _names(asked, words):
                return Overview(passage.document_id, whole=asked <= words)
    document_id, count = Counter(passage.document_id for passage in best).most_common(1)[0]
    if count < NEARLY_ALL * len(best):
        return None
    return Overview(document_id, whole=not _asked(text, best[0].language))


def _names(asked: frozenset[str], words: frozenset[str]) -> bool:
    """Whether one of them holds all of the other, and more than a number."""
    shared = asked & words
    return shared in (asked, words) and any(not word.isdecimal() for word in shared)


def _asked(text: str, language: str) -> frozenset[str]:
    """What the question names, as lexemes of a document's language."""
    (words,) = question_lexemes(text[:READ_CHARS], [language]).values()
    return frozenset(words) - _frame(language)


@lru_cache(maxsize=32)
def _frame(language: str) -> frozenset[str]:
    return frozenset(lexemes(_FRAME, language))
