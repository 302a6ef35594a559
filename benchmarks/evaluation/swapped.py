"""Questions that name somebody else: all their words but the name, or the year, fit the document."""

import random
import re
from collections.abc import Iterator, Sequence

from embeddings.lexical.terms import lexemes

_NAME = re.compile(r"(?<=\s)[A-Z][\w-]+(?:\s+(?:[A-Z][\w-]+|\d{4}\b))*|\b(?:1[5-9]|20)\d\d\b")
YEARS = [str(year) for year in range(1900, 2025)]


def swapped(
    questions: Sequence[dict], words_of: dict[str, frozenset[str]], rng: random.Random
) -> Iterator[dict]:
    """For each name and year in a question, the question with one of another's instead that no part of its
    document holds. words_of: the lexemes of each document.
    """
    named = [(row["doc"], name) for row in questions for name in names_in(row["question"])]
    for row in questions:
        held = words_of[row["doc"]]
        for name in dict.fromkeys(names_in(row["question"])):
            if name.isdigit():
                others = [year for year in YEARS if year not in held]
            else:
                others = [
                    other
                    for doc, other in dict.fromkeys(named)
                    if doc != row["doc"] and not other.isdigit() and held.isdisjoint(lexemes(other))
                ]
            text = re.sub(rf"\b{re.escape(name)}\b", rng.choice(others), row["question"])
            yield {**row, "id": f"{row['id']}, not {name}", "question": text, "kind": "unanswerable"}


def names_in(text: str) -> list[str]:
    """Runs of words with a capital letter that do not begin the question, and years."""
    return _NAME.findall(text)
