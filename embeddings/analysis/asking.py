"""Which languages a question may be in, by its stop words; too short a text for anything cleverer."""

import re
from collections import Counter
from functools import lru_cache

from embeddings.analysis import english
from embeddings.analysis.languages import language, listed_languages

ENOUGH = 2  # stop words of another language than English: "Die Hard" has one of German
_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=1024)
def asked_in(text: str) -> tuple[str, ...]:
    """The languages that most of the question's stop words belong to; () where it is unclear.

    Several where they share the words that there are: "Que es" is Spanish, and could be French.
    """
    counts: Counter[str] = Counter()
    for word in set(_WORD.findall(text.lower())):
        counts.update(_languages_of().get(word, ()))
    most = max(counts.values(), default=0)
    if counts["en"] == most:
        return ("en",) if most else ()
    if most < ENOUGH:
        return ()
    return tuple(sorted(code for code, count in counts.items() if count == most))


def stop_words_of(code: str) -> frozenset[str]:
    return english.STOP_WORDS if code == "en" else language(code).stop_words


@lru_cache(maxsize=1)
def _languages_of() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for code in ("en", *listed_languages()):
        for word in stop_words_of(code):
            found.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in found.items()}
