"""Learns by which words texts say what questions ask in others, and writes the table that ships.

    python -m benchmarks.reading.paraphrases benchmarks/reading/{written*,groups,concepts}.jsonl.gz

The files: see WRITTEN.md beside this one. Each word of a sentence that answers a question is taken for the
translation of one of the question's words, or of none, by chances that are learnt: Model 1 of Brown and
others, "The Mathematics of Statistical Machine Translation", Computational Linguistics 19, 1993. Documents
marked as unseen are left out.
"""

import argparse
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from embeddings.lexical.terms import lexemes
from rag.retrievers.paraphrases import LANGUAGE, TABLE

PASSES = 6
LEAST_ASKED, LEAST_TOLD = 3, 3  # questions with a word, sentences with one
LEAST_TOGETHER, LEAST_CHANCE = 2.0, 0.05  # of a translation: times it is expected, and for each time asked...
LEAST_SOURCES = 2  # ...and of how many: what one document says is its own
LIFT = 3.0  # ...and as often as by chance
MOST = 6  # of a word
NOTHING = ""  # what words that nothing is asked of translate
# Dates and counts differ in every sentence: they stand for nothing that is asked.
LEFT_OUT = frozenset(
    lexemes(
        "january february march april may june july august september october november december monday tuesday"
        " wednesday thursday friday saturday sunday one two three four five six seven eight nine ten",
        LANGUAGE,
    )
)
HEAD = """\
# What sentences in English that answer say for a word of the question, with the chance that they do.
# Written by benchmarks/reading/paraphrases.py, which tells from what; licence: CC BY-SA 4.0, as these texts.
"""


class Translated(NamedTuple):
    """asked, told: the words of a question, and of a sentence that answers it. source: what it is of."""

    asked: frozenset[str]
    told: frozenset[str]
    source: str


def read_pairs(paths: Sequence[Path]) -> Iterator[Translated]:
    """Yield each question that is answered with its sentence, without the name of the document."""
    for path in paths:
        with gzip.open(path, "rt") as lines:
            for row in map(json.loads, lines):
                if "concept" in row:
                    yield from (
                        _translated(asked, told, told) for asked, told in product(row["asked"], row["told"])
                    )
                elif not row["unseen"]:
                    yield from _of_group(row) if "questions" in row else _of_question(row)


def _of_group(row: dict) -> Iterator[Translated]:
    for asked, right, _ in row["questions"]:
        rest = asked.replace(row["name"], " ") if row["name"] else asked
        for place in right:
            yield _translated(rest, row["sentences"][place]["text"], row["id"])


def _of_question(row: dict) -> Iterator[Translated]:
    if row["kind"] == "answerable":
        yield _translated(row["question"], f"{row['headings'][0]} {row['sentence']}", row["doc"])


def _translated(asked: str, told: str, source: str) -> Translated:
    words = frozenset(word for word in lexemes(told, LANGUAGE) if not any(map(str.isdigit, word)))
    return Translated(
        frozenset(word for word in lexemes(asked, LANGUAGE) if not word.isdecimal()),
        words - LEFT_OUT,
        source,
    )


def learn(pairs: Sequence[Translated]) -> dict[str, dict[str, float]]:
    """Return by word of questions the words that are said for it, the likeliest first."""
    sentences = {pair.told for pair in pairs}
    asked_by = Counter(word for pair in pairs for word in pair.asked)
    told_by = Counter(word for told in sentences for word in told)
    known = [
        ((NOTHING, *sorted(pair.asked)), [word for word in sorted(pair.told) if told_by[word] >= LEAST_TOLD])
        for pair in pairs
    ]
    chances: dict[tuple[str, str], float] = defaultdict(lambda: 1.0)
    for _ in range(PASSES):
        times: Counter[tuple[str, str]] = Counter()
        for asked, told in known:
            for other in told:
                mass = sum(chances[word, other] for word in asked)
                for word in asked if mass else ():
                    times[word, other] += chances[word, other] / mass
        of_word: Counter[str] = Counter()
        for (word, _), many in times.items():
            of_word[word] += many
        chances = defaultdict(float, {pair: many / of_word[pair[0]] for pair, many in times.items()})
    sources: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for pair in pairs:
        for both in product(pair.asked, pair.told):
            sources[both].add(pair.source)
    found: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for (word, other), many in times.items():
        chance = many / asked_by[word] if word else 0.0
        enough = asked_by[word] >= LEAST_ASKED and many >= LEAST_TOGETHER and chance >= LEAST_CHANCE
        enough = enough and len(sources[word, other]) >= LEAST_SOURCES
        if enough and word != other and chance >= LIFT * told_by[other] / len(sentences):
            found[word].append((chance, other))
    return {
        word: {other: chance for chance, other in sorted(others, reverse=True)[:MOST]}
        for word, others in sorted(found.items())
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=TABLE)
    arguments = parser.parse_args()
    table = learn(list(read_pairs(arguments.files)))
    lines = (
        f"{word}: {' '.join(f'{other} {chance:.2f}' for other, chance in others.items())}\n"
        for word, others in table.items()
    )
    arguments.out.write_text(HEAD + "".join(lines), encoding="utf-8")
    print(f"{len(table)} words, {sum(map(len, table.values()))} paraphrases")


if __name__ == "__main__":
    main()
