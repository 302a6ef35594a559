"""Questions with the sentences about one place of a passage, and whether these answer."""

import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SETS = frozenset({"squad2", "shift_wiki", "qed_nq", "covidqa"})  # licences: rag/synthesizers/reader/README.md
WORDS = (25, 40, 50, 60, 60, 80)  # of a window; one of these for each pair
WORDS_EXCHANGED = 110  # where a name or number was exchanged: it must be in the window
BEFORE = 0.6  # how often a window grows by what stands before: there stands what a sentence refers to
EASY, EASY_SHARE = "other paragraph", 0.5  # of pairs with a passage that is about something else
UNSEEN = 7  # percent of the passages, to measure by
_END = re.compile(r'(?<=[.!?])["”’)]?\s+(?=[A-Z0-9"“(\[])')
_SHORT = 20  # characters; what is shorter is an abbreviation's end
_STOP = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "did",
        "do",
        "does",
        "what",
        "which",
        "who",
        "whom",
        "when",
        "where",
        "why",
        "how",
        "many",
        "much",
        "by",
        "with",
        "from",
        "that",
        "this",
        "it",
        "its",
        "be",
        "been",
        "has",
        "have",
        "had",
        "as",
    ]
)


class ReadPair(NamedTuple):
    """start, end: of the answer in the window, -1 where there is none. kind: how the pair was made."""

    question: str
    window: str
    start: int
    end: int
    answers: bool
    kind: str


def read_pairs(path: Path, seed: int = 5) -> tuple[list[ReadPair], list[ReadPair]]:
    """Return pairs to learn from and pairs to measure by, which share no passage.

    path: gzipped lines of {"q", "p", "y", "s", "e", "k", "src"}: question, passage, 1 where it answers, the
    answer's bounds, how the pair was made, its set.
    """
    rng = random.Random(seed)
    learnt: list[ReadPair] = []
    unseen: list[ReadPair] = []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            if row["src"] in SETS:
                (unseen if _bucket(row["p"]) < UNSEEN else learnt).extend(_pairs_of(row, rng))
    rng.shuffle(learnt)
    rng.shuffle(unseen)
    return [pair for pair in learnt if pair.kind != EASY or rng.random() < EASY_SHARE], unseen


def _bucket(passage: str) -> int:
    ending = re.sub(r"\W+", "", passage)[-80:]
    return int(hashlib.md5(ending.encode(), usedforsecurity=False).hexdigest(), 16) % 100


def _pairs_of(row: dict, rng: random.Random) -> Iterator[ReadPair]:
    question, passage, answers = row["q"], row["p"], bool(row["y"])
    start, end = (row.get("s", -1), row.get("e", -1)) if answers else (-1, -1)
    words = WORDS_EXCHANGED if row["k"] == "name or number exchanged" else rng.choice(WORDS)
    window, start, end = _window(question, passage, start, end, words, rng)
    if not answers or start >= 0:
        yield ReadPair(question, window, start, end, answers, row["k"])
    if answers and row.get("s", -1) >= 0:
        yield from _beside(question, passage, row["s"], row["e"], rng)


def _beside(question: str, passage: str, start: int, end: int, rng: random.Random) -> Iterator[ReadPair]:
    """What the same passage says beside the answer."""
    spans = _sentences(passage)
    holding = [n for n, (first, last) in enumerate(spans) if first <= start < last] or [0]
    if len(spans) < 4:
        return
    parts = passage[: spans[holding[0]][0]].strip(), passage[spans[holding[0]][1] :].strip()
    rest = max(parts, key=lambda part: len(_stems(question) & _stems(part)))
    if len(rest.split()) > 15 and passage[start:end].lower() not in rest.lower():
        window, _, _ = _window(question, rest, -1, -1, rng.choice((45, 60, 80)), rng)
        yield ReadPair(question, window, -1, -1, False, "beside the answer")


def _window(
    question: str, passage: str, start: int, end: int, words: int, rng: random.Random
) -> tuple[str, int, int]:
    """Return the sentences about the answer, or about the one nearest to the question, of so many words."""
    spans = _sentences(passage)
    if start >= 0:
        first = last = next((n for n, (a, b) in enumerate(spans) if a <= start < b), 0)
        while last < len(spans) - 1 and spans[last][1] < end:
            last += 1
    else:
        asked = _stems(question)
        near = [len(asked & _stems(passage[a:b])) + rng.random() * 0.5 for a, b in spans]
        first = last = max(range(len(spans)), key=near.__getitem__)
    first, last = _grown(passage, spans, first, last, words, rng)
    begin, close = spans[first][0], spans[last][1]
    return passage[begin:close], (start - begin if start >= 0 else -1), (end - begin if start >= 0 else -1)


def _grown(
    passage: str, spans: Sequence[tuple[int, int]], first: int, last: int, words: int, rng: random.Random
) -> tuple[int, int]:
    lengths = [len(passage[a:b].split()) for a, b in spans]
    room = words - sum(lengths[first : last + 1])
    while True:
        before = first > 0 and lengths[first - 1] <= room
        after = last < len(spans) - 1 and lengths[last + 1] <= room
        if not before and not after:
            return first, last
        if before and (not after or rng.random() < BEFORE):
            first -= 1
            room -= lengths[first]
        else:
            last += 1
            room -= lengths[last]


def _sentences(text: str) -> list[tuple[int, int]]:
    bounds, start = [], 0
    for end in _END.finditer(text):
        bounds.append((start, end.start()))
        start = end.end()
    bounds.append((start, len(text)))
    joined: list[tuple[int, int]] = []
    for first, last in bounds:
        if joined and min(last - first, joined[-1][1] - joined[-1][0]) < _SHORT:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


def _stems(text: str) -> set[str]:
    return {word[:6] for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in _STOP}
