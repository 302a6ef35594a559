"""Questions asked of collections of every size: what relevance is fitted to and measured on."""

import random
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.evaluation.corpus import Corpus
from benchmarks.evaluation.sets import ARTICLES, Sets, holds
from benchmarks.evaluation.swapped import swapped
from rag.ranking.sentences import analysis_of
from rag.relevance.assessment import Calibration
from rag.relevance.features import Features, describe
from rag.relevance.fitting import FOLDS, Pair

# Questions with another's name or year, which the rest of their words fit: the weight of `subject` alone is
# fitted to them.
MISNAMED = ("other name: collection", "other name: document", "other name: chunk")
# How much a question counts in each setting; those of weight 0 are measured, but nothing is fitted to them.
WEIGHTS = {
    "collection": 1.0,
    "without its document": 1.0,
    "book": 0.5,
    "one document": 0.5,
    "one chunk": 0.5,
    "with filings": 0.0,
    "German and Chinese": 0.0,
    **dict.fromkeys(MISNAMED, 0.0),
}
FOREIGN_WEIGHTS = {"foreign: collection": 1.0, "foreign: one document": 0.5, "foreign: one chunk": 0.5}
STRANGERS = 8  # unrelated questions per document and setting
TOP_K = 10


@dataclass(frozen=True)
class Case:
    """A question in a setting. group: the document it is about. best_first: of its top passages."""

    setting: str
    group: str
    answerable: bool
    best_first: tuple[Features, ...]

    @property
    def fold(self) -> int:
        return zlib.crc32(self.group.encode()) % FOLDS

    def pair(self, weights: Calibration | None = None) -> Pair:
        """Of the passage that the weights find most relevant; without weights, of the strongest."""
        best = max(self.best_first, key=weights.probability) if weights else self.best_first[0]
        return Pair(best, self.answerable, {**WEIGHTS, **FOREIGN_WEIGHTS}[self.setting], self.group)


class Bench:
    def __init__(self, corpus: Corpus, rng: random.Random) -> None:
        self.corpus, self._rng = corpus, rng
        self.names = np.array([passage.document_name for passage in corpus.passages])

    def case(
        self, setting: str, about: str, answerable: bool, text: str, among: Sequence[int] | None = None
    ) -> Case:
        found = self.corpus.retrieve(text, among)
        described = describe(text, found)
        described.sort(key=lambda one: -one.features.margin)
        return Case(setting, about, answerable, tuple(one.features for one in described[:TOP_K]))

    def plain(self, setting: str, row: dict) -> Case:
        about = row.get("doc") or row.get("source_file") or row.get("topic") or row["id"]
        return self.case(setting, about, row["kind"] == "answerable", row["question"])

    def answered(self, row: dict, prefix: str = "") -> Iterator[Case]:
        about, text = row["doc"], row["question"]
        own = np.flatnonzero(self.names == about)
        without = "foreign: collection" if prefix else "without its document"
        yield self.case(f"{prefix}collection", about, True, text)
        yield self.case(without, about, False, text, np.flatnonzero(self.names != about))
        yield self.case(f"{prefix}one document", about, True, text, own)
        holding = [n for n in own if holds(self.corpus.passages[n], row)]
        if holding:
            yield self.case(f"{prefix}one chunk", about, True, text, holding[:1])

    def misnamed(self, questions: Sequence[dict]) -> Iterator[Case]:
        words: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
        for passage in self.corpus.passages:
            words[passage.document_name] |= analysis_of(passage.content, passage.language).words
        asked = [row for row in questions if row["kind"] == "answerable"]
        for row in swapped(asked, words, random.Random(5)):
            about, text = row["doc"], row["question"]
            own = np.flatnonzero(self.names == about)
            yield self.case(MISNAMED[0], about, False, text)
            yield self.case(MISNAMED[1], about, False, text, own)
            holding = [n for n in own if holds(self.corpus.passages[n], row)]
            if holding:
                yield self.case(MISNAMED[2], about, False, text, holding[:1])

    def strangers(self, questions: Sequence[dict], names: Sequence[str], prefix: str = "") -> Iterator[Case]:
        for name in sorted(set(names)):
            own = [int(n) for n in np.flatnonzero(self.names == name)]
            others = [row["question"] for row in questions if row.get("doc") != name]
            for text in self._rng.sample(others, STRANGERS):
                yield self.case(f"{prefix}one document", name, False, text, own)
            for text in self._rng.sample(others, STRANGERS):
                yield self.case(f"{prefix}one chunk", name, False, text, [self._rng.choice(own)])


def cases(sets: Sets, *, articles_only: bool = False) -> Iterator[Case]:
    """Of questions in English, and a few in German and Chinese about articles in their own language."""
    rng = random.Random(3)
    bench = Bench(sets.articles, rng)
    questions = [row for row in sets.questions if row["lang"] == "en" and row["source"] in ARTICLES]
    for row in questions:
        if row["kind"] == "answerable":
            yield from bench.answered(row)
        else:
            yield bench.plain("collection", row)
    yield from bench.strangers(questions, bench.names)
    yield from bench.misnamed(questions)
    for row in sets.questions:
        if row["lang"] != "en" and row.get("doc_lang", row["lang"]) == row["lang"]:
            yield bench.plain("German and Chinese", row)
    if articles_only:
        return
    yield from _of_filings(sets, questions, rng)
    if sets.book_questions:
        book = Bench(sets.book, rng)
        yield from (book.plain("book", row) for row in sets.book_questions)


def foreign_cases(sets: Sets) -> Iterator[Case]:
    """German and Chinese questions of English documents."""
    rng = random.Random(3)
    bench = Bench(sets.articles, rng)
    asked = [row for row in sets.questions if row["lang"] != "en"]
    across = [row for row in asked if row.get("doc_lang") == "en" and row["kind"] == "answerable"]
    for row in across:
        yield from bench.answered(row, "foreign: ")
    english = [p.document_name for p in sets.articles.passages if p.language == "en"]
    yield from bench.strangers(asked, english, "foreign: ")


def _of_filings(sets: Sets, questions: Sequence[dict], rng: random.Random) -> Iterator[Case]:
    others = [r for r in sets.questions if r["lang"] == "en" and r["kind"] == "unanswerable"]
    if any(row["source"] not in ARTICLES for row in others):
        large = Bench(sets.with_filings, rng)
        for row in [*questions, *(row for row in others if row not in questions)]:
            yield large.plain("with filings", row)
