"""Whether a sentence says what something is: in a definition list, or as "A quay is ...". Plain Python."""

import re

from rag.extracting.asked import asks_for_term, asks_meaning, kind_asked
from rag.sentences import words_of

MUCH = 0.4  # of a question's words, that are a term of a definition list
MOST = 0.6  # of them, that a sentence begins with
READ_CHARS = 300
# Of Markdown: a term, and on the next line ": what it means".
_DEFINED = re.compile(r"([^\n:.]{2,60})\n[ \t]{0,3}:[ \t]+(\S+(?:[ \t]+\S+){0,5})")
# "In Rust, a _crate_ (or box) is ...": what stands before the verb. Emphasis is taken out before.
_BEGINS = re.compile(
    r"\s*(?:[-+•]\s+|\d{1,2}\.\s+)?(?:(?:in|for|at|by|within|dans|en)\s[^,.;:]{2,40},\s)?([^,;:.!?]{2,70}?)"
    r"(?:\s\([^()]{1,60}\))?,?\s(?:is|are|was|were|means?|refers?\sto|denotes?|describes?|defines?|represents?|consists?\sof|stands?\sfor"
    r"|ist|sind|war|waren|bedeutet|bezeichnet|est|sont|désigne|signifie|es|son|significa|è|sono)\s",
    re.IGNORECASE,
)
_MEANING = words_of("mean means meaning meant", "en")
_EMPHASIS = re.compile(r"[*_`]")


def defines(question: str, text: str, asked: frozenset[str], held: frozenset[str], language: str) -> float:
    """1 if it says what the term means that is asked for, or which thing does of the kind that is asked for.

    "What is mitosis?": the term makes up much of the question. "Which stage ...?": the question lacks it, and
    the first words of what it means have "stage"; where they do not, it counts half. asked: the question's
    words; held: those of them in the text.
    """
    found = _DEFINED.match(text)
    if not found:
        enough = len(held) >= MOST * len(asked - _MEANING) and asks_meaning(question)
        return float(enough and says_what_is(text, asked, language))
    term = words_of(found[1], language)
    if term <= asked:
        return float(asks_meaning(question) and len(term) >= MUCH * len(asked))
    if kind_asked(question, language) & words_of(found[2], language):
        return 1.0
    return 0.5 if asks_for_term(question) else 0.0


def says_what_is(text: str, asked: frozenset[str], language: str, most: float = MOST) -> bool:
    """It begins with little more than what is asked for, and then says what that is.

    most: share of the question's words that it must begin with.
    """
    found = _BEGINS.match(_EMPHASIS.sub("", text[:READ_CHARS]))
    if not found:
        return False
    term = words_of(found[1], language)
    return bool(term) and term <= asked and len(term) >= most * len(asked - _MEANING)
