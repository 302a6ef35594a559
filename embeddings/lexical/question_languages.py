"""Which languages a question may be in, by its stop words; too short a text for anything cleverer."""

import re
from functools import lru_cache

from documents.text.stop_words import votes

ENOUGH = 2  # stop words of another language than English: "Die Hard" has one of German
_QUESTION_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=1024)
def detect_question_languages(text: str) -> tuple[str, ...]:
    """The languages that most of the question's stop words belong to; () where it is unclear.

    Several where they share the words that there are: "Que es" is Spanish, and could be French.
    """
    counts = votes(set(_QUESTION_WORD.findall(text.lower())))
    most = max(counts.values(), default=0)
    if counts["en"] == most:
        return ("en",) if most else ()
    if most < ENOUGH:
        return ()
    return tuple(sorted(code for code, count in counts.items() if count == most))
