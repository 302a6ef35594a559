"""Which languages a question may be in, by its stop words; too short a text for anything cleverer."""

import re
from functools import lru_cache

from documents.text.stop_words import count_stop_words

ENOUGH = 2  # stop words of another language than English: "Die Hard" has one of German
_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=1024)
def asked_in(text: str) -> tuple[str, ...]:
    """The languages that most of the question's stop words belong to; () where it is unclear.

    Several where they share the words that there are: "Que es" is Spanish, and could be French.
    """
    counts = count_stop_words(set(_WORD.findall(text.lower())))
    most = max(counts.values(), default=0)
    if counts["en"] == most:
        return ("en",) if most else ()
    if most < ENOUGH:
        return ()
    return tuple(sorted(code for code, count in counts.items() if count == most))
