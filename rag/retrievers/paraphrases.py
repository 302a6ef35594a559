"""Words by which texts say what questions in English ask in others: "chief executive officer" for "boss".

A question's words are translated into those of the text that answers it (Berger, Lafferty, "Information
Retrieval as Statistical Translation", SIGIR 1999). The table was learnt from questions and the sentences that
answer them (benchmarks/reading/paraphrases.py).
"""

from collections.abc import Iterable, Mapping
from functools import cache
from heapq import nlargest
from pathlib import Path

from rag.word_data import read_lines

LANGUAGE = "en"
SURELY = 0.25  # chance from which on a paraphrase is worth as much as the word that is asked for
MOST = 12  # of a question
TABLE = Path(__file__).parent / "data" / "paraphrases.txt"


def paraphrases_of(words: Iterable[str]) -> list[str]:
    """Return the lexemes that may stand for those of a question in `LANGUAGE`."""
    table = _table()
    return list(dict.fromkeys(other for word in words for other in table.get(word, ())))


def weigh_paraphrases(words: Iterable[str], worth: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return by word of a question its likeliest paraphrases, with what each weighs: at most what it does.

    worth: idf of the words, and of those paraphrases that some text says.
    """
    table, asked = _table(), frozenset(words)
    found = [
        (min(1.0, chance / SURELY) * min(worth[word], worth[other]), word, other)
        for word in sorted(asked)
        for other, chance in table.get(word, {}).items()
        if other in worth and other not in asked
    ]
    weights: dict[str, dict[str, float]] = {}
    for weight, word, other in nlargest(MOST, found):
        weights.setdefault(word, {})[other] = weight
    return weights


@cache
def _table() -> dict[str, dict[str, float]]:
    """Return by lexeme the chances that a sentence that answers says another one for it."""
    table = {}
    for word, (line,) in read_lines(TABLE).items():
        others = line.split()
        table[word] = dict(zip(others[::2], map(float, others[1::2]), strict=True))
    return table
