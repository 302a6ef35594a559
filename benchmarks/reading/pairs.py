"""Questions with the sentences about one place of a passage, and whether these answer."""

import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from embeddings.lexical.terms import lexemes
from rag.named_documents import ask_of_document
from rag.synthesizers.sentence_reader import as_question, below_heading, is_keywords, tell_field
from rag.types.retrieval import NamedDocuments

# Licences: rag/synthesizers/reader/README.md.
SETS = frozenset({"squad2", "shift_wiki", "qed_nq", "covidqa"})
WORDS = (
    1,
    1,
    1,
    25,
    40,
    60,
)  # at least, of a window; one of these for each pair: a sentence alone is what is read
BEFORE = 0.6  # how often a window grows by what stands before: there stands what a sentence refers to
EASY, EASY_SHARE = "other paragraph", 0.5  # of pairs with a passage that is about something else
BESIDE = 3  # of a group's sentences that do not answer, for each question and pass
BARE, PRONOUN = 0.25, 0.75  # how often a group comes without headings, and a question with "it" for the name
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
    """start, end: of the answer in the window, -1 where there is none. kind: how the pair was made.

    english: both; else it is read with the whole vocabulary of the base, as the product does.
    """

    question: str
    window: str
    start: int
    end: int
    answers: bool
    kind: str
    english: bool = True


class Pairs(NamedTuple):
    """To learn from and to measure by; they share no passage and no document."""

    learnt: list[ReadPair]
    unseen: list[ReadPair]


def read_pairs(path: Path, seed: int = 5) -> Pairs:
    """Read public sets of questions.

    path: gzipped lines of {"q", "p", "y", "s", "e", "k", "src"}: question, passage, 1 where it answers, the
    answer's bounds, how the pair was made, its set. seed: of the sentences that are taken of a passage.
    """
    rng, pairs = random.Random(seed), Pairs([], [])
    for row in _rows(path):
        if row["src"] in SETS:
            (pairs.unseen if _bucket(row["p"]) < UNSEEN else pairs.learnt).extend(_pairs_of(row, rng))
    few = [pair for pair in pairs.learnt if pair.kind != EASY or rng.random() < EASY_SHARE]
    return pairs._replace(learnt=few)


def read_written(paths: Sequence[Path], *, headed: bool) -> Pairs:
    """Read questions that were written for sentences of documents, see WRITTEN.md beside this file.

    headed: whether a sentence comes with the heading that it stands below, as the product reads it.
    """
    pairs = Pairs([], [])
    for row in chain.from_iterable(map(_rows, paths)):
        into = pairs.unseen if row["unseen"] else pairs.learnt
        sentences = [row["sentence"]] if row["kind"] == "answerable" else []
        sentences += row["tempting"]
        would = row.get("would", "")
        if headed:
            sentences = list(map(below_heading, row["headings"], sentences))
            would = would and below_heading(row["headings"][0], would)
        if row["kind"] == "answerable":
            window, answer = sentences.pop(0), row["answer"]
            start = len(window) - len(row["sentence"]) + row["sentence"].find(answer)
            into.append(ReadPair(row["question"], window, start, start + len(answer), True, "written"))
        elif would:
            into.append(ReadPair(row["question"], would, -1, -1, True, "written"))
        beside = "written, silent" if row["kind"] == "silent" else "written, beside the answer"
        into.extend(ReadPair(row["question"], one, -1, -1, False, beside) for one in sentences)
    return pairs


def read_groups(paths: Sequence[Path], seed: int = 5) -> Pairs:
    """Read questions with six sentences of a document, or the cells of a table: see WRITTEN.md beside this.

    A question is asked as the product asks it beside a sentence: in English keywords as a question, and
    mostly with "it" for a name that the sentence does not say. seed: of what is taken for a pass: `BESIDE`
    of what does not answer, with headings mostly.
    """
    rng, pairs = random.Random(seed), Pairs([], [])
    for row in chain.from_iterable(map(_rows, paths)):
        english = row.get("english", True)
        for asked, right, arguable in row["questions"]:
            told = list(_told(row, rng))
            wrong = [place for place, _ in told if place not in right and place not in arguable]
            taken = {*map(_key, right), *map(_key, rng.sample(wrong, min(BESIDE, len(wrong))))}
            into = pairs.unseen if row["unseen"] else pairs.learnt
            kind = "group" if right else "group, silent"
            kind += "" if english else ", other languages"
            for place, text in told:
                if _key(place) in taken:
                    pronoun = english and rng.random() < PRONOUN
                    question = ask_beside(asked, row["name"], text, pronoun=pronoun) if english else asked
                    into.append(ReadPair(question, text, -1, -1, place in right, kind, english))
    return pairs


def _told(row: dict, rng: random.Random) -> Iterator[tuple[int | list[int], str]]:
    """Yield where each sentence or cell of a group stands, and what is read of it."""
    bare, tell = rng.random() < BARE, tell_field if row.get("english", True) else str
    for number, one in enumerate(row.get("sentences", ())):
        yield number, below_heading("" if bare else one["heading"], tell(one["text"]))
    for number, (name, *cells) in enumerate(row.get("rows", ())):
        name = name if bare else below_heading(row["title"], name)
        for column, (label, cell) in enumerate(zip(row["columns"], cells, strict=False), start=1):
            if cell:
                yield [number, column], below_heading(name, tell_field(f"{label}: {cell}"))


def _key(place: int | list[int]) -> str:
    return str(place)


def ask_beside(asked: str, name: str, sentence: str, *, pronoun: bool) -> str:
    """Return a question as the product asks it beside a sentence of a document that it names.

    pronoun: whether "it" stands for a name that the sentence does not say.
    """
    words = frozenset(lexemes(name, "en"))
    asks_of_it = words and name in asked and not words <= set(lexemes(sentence, "en"))
    if not (pronoun and asks_of_it):
        return as_question(asked)
    rest = asked.replace(name, " ")
    named = NamedDocuments(frozenset(), words, " ".join(rest.split()))
    return as_question(f"its {named.rest}") if is_keywords(asked) else ask_of_document(asked, named, "en")


def _rows(path: Path) -> Iterator[dict]:
    with gzip.open(path, "rt") as lines:
        yield from map(json.loads, lines)


def _bucket(passage: str) -> int:
    ending = re.sub(r"\W+", "", passage)[-80:]
    return int(hashlib.md5(ending.encode(), usedforsecurity=False).hexdigest(), 16) % 100


def _pairs_of(row: dict, rng: random.Random) -> Iterator[ReadPair]:
    question, passage, answers = row["q"], row["p"], bool(row["y"])
    start, end = (row.get("s", -1), row.get("e", -1)) if answers else (-1, -1)
    window, start, end = _window(question, passage, start, end, rng.choice(WORDS), rng)
    if not answers or start >= 0:
        yield ReadPair(question, window, start, end, answers, row["k"])
    if answers and row.get("s", -1) >= 0:
        yield from _beside(question, passage, row["s"], row["e"], rng)


def _beside(question: str, passage: str, start: int, end: int, rng: random.Random) -> Iterator[ReadPair]:
    """What the same passage says before or after the answer, next to the question."""
    spans = _sentences(passage)
    holding = [n for n, (first, last) in enumerate(spans) if first <= start < last] or [0]
    if len(spans) < 3:
        return
    parts = passage[: spans[holding[0]][0]].strip(), passage[spans[holding[0]][1] :].strip()
    rest = max(parts, key=lambda part: len(_stems(question) & _stems(part)))
    if len(rest.split()) > 5 and passage[start:end].lower() not in rest.lower():
        window, _, _ = _window(question, rest, -1, -1, rng.choice(WORDS), rng)
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
