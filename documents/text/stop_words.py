"""Stop words by language (ISO 639-1): Snowball's lists, and our own for the rest.

They also show the language of a text or a question.
"""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, repeat
from pathlib import Path

_LISTS = Path(__file__).parent / "stopwords"


@lru_cache(maxsize=256)
def stop_words(code: str) -> frozenset[str]:
    """Return the stop words of a language in lower case; none for a language without a list."""
    if code not in list_languages():
        return frozenset()
    return frozenset((_LISTS / f"{code}.txt").read_text("utf-8").split())


@lru_cache(maxsize=1)
def list_languages() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _LISTS.glob("*.txt")))


def count_stop_words(words: Iterable[str]) -> Counter[str]:
    """Count for each language how many of the words, in lower case, are stop words of it."""
    return Counter(chain.from_iterable(map(_languages_by_word().get, words, repeat(()))))


@lru_cache(maxsize=1)
def _languages_by_word() -> dict[str, tuple[str, ...]]:
    languages: dict[str, tuple[str, ...]] = {}
    for code in list_languages():
        for word in stop_words(code):
            languages[word] = (*languages.get(word, ()), code)
    return languages
