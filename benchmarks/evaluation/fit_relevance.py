"""Fits the relevance that ships with Knowlex, and tells how well it does on documents it has not seen.

    python -m benchmarks.evaluation.fit_relevance FOLDER

FOLDER holds `docs/*.pdf`, `documents.jsonl` and `questions.jsonl` (fields: docs/evaluation.md) and, if there
is one, a book: `books/*/*.md` and `book_questions.jsonl`. Each question is asked of the whole collection, of
the collection without the document that answers it, of that document alone and of one chunk that holds the
answer; others are asked of documents and chunks that have nothing to do with them. So the same weights serve
collections of every size.
"""

import argparse
import asyncio
import json
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from uuid import UUID

import numpy as np

from benchmarks.evaluation.corpus import Corpus, read_passages
from embeddings.embedders.local import LocalEmbedder
from rag.fitting import Pair, expected_calibration_error, fit
from rag.relevance import Calibration, Features, features_of
from rag.rerankers.sentence import SentenceReranker
from rag.sentences import question_terms
from rag.types import Question

# How much a question counts in each setting; those of weight 0 are measured, but nothing is fitted to them.
WEIGHTS = {
    "collection": 1.0,
    "without its document": 1.0,
    "book": 0.5,
    "one document": 0.5,
    "one chunk": 0.5,
    "with filings": 0.0,
    "German and Chinese": 0.0,
}
SOURCES = ("xquad", "covidqa")
FILINGS = "financebench"
STRANGERS = 8  # unrelated questions per document and setting
FOLDS = 8
TOP_K = 10
THRESHOLD = 0.8


@dataclass(frozen=True)
class Case:
    """A question in a setting. fold: by the document it is about. best_first: of its top passages."""

    setting: str
    fold: int
    answerable: bool
    best_first: tuple[Features, ...]

    def pair(self) -> Pair:
        """Of the passage with the best sentence: the order comes from the weights to be fitted."""
        best = max(self.best_first, key=lambda features: features.sentence)
        return Pair(best, self.answerable, WEIGHTS[self.setting])


class Bench:
    def __init__(self, corpus: Corpus, rng: random.Random) -> None:
        self.corpus, self._rng = corpus, rng
        self.names = np.array([passage.document_name for passage in corpus.passages])

    def case(
        self, setting: str, about: str, answerable: bool, text: str, among: Sequence[int] | None = None
    ) -> Case:
        question = Question(text, (UUID(int=0),), TOP_K)
        found = asyncio.run(SentenceReranker().rerank(question, self.corpus.retrieve(text, among)))
        terms = question_terms(text, found.idf)
        features = tuple(features_of(passage, passage.sentences, terms) for passage in found.passages[:TOP_K])
        return Case(setting, zlib.crc32(about.encode()) % FOLDS, answerable, features)

    def plain(self, setting: str, row: dict) -> Case:
        about = row.get("doc") or row.get("source_file") or row.get("topic") or row["id"]
        return self.case(setting, about, row["kind"] == "answerable", row["question"])

    def answered(self, question: dict) -> Iterator[Case]:
        about, text = question["doc"], question["question"]
        own = np.flatnonzero(self.names == about)
        yield self.case("collection", about, True, text)
        yield self.case("without its document", about, False, text, np.flatnonzero(self.names != about))
        yield self.case("one document", about, True, text, own)
        holding = [n for n in own if _holds(self.corpus.passages[n].content, question["answers"])]
        if holding:
            yield self.case("one chunk", about, True, text, holding[:1])

    def strangers(self, questions: Sequence[dict]) -> Iterator[Case]:
        for name in sorted(set(self.names)):
            own = [int(n) for n in np.flatnonzero(self.names == name)]
            others = [question["question"] for question in questions if question["doc"] != name]
            for text in self._rng.sample(others, STRANGERS):
                yield self.case("one document", name, False, text, own)
            for text in self._rng.sample(others, STRANGERS):
                yield self.case("one chunk", name, False, text, [self._rng.choice(own)])


def _holds(content: str, answers: Sequence[str]) -> bool:
    folded = "".join(filter(str.isalnum, content.casefold()))
    return any("".join(filter(str.isalnum, answer.casefold())) in folded for answer in answers)


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _cases(folder: Path, embedder: LocalEmbedder) -> Iterator[Case]:
    rng = random.Random(3)
    rows = _rows(folder / "questions.jsonl")
    english = [row for row in rows if row["lang"] == "en"]
    questions = [row for row in english if row["source"] in SOURCES]
    bench = Bench(Corpus(read_passages(_documents(folder, SOURCES)), embedder), rng)
    for question in questions:
        if question["kind"] == "answerable":
            yield from bench.answered(question)
        else:
            yield bench.plain("collection", question)
    yield from bench.strangers(questions)
    for row in rows:
        if row["lang"] != "en" and row.get("doc_lang", row["lang"]) == row["lang"]:
            yield bench.plain("German and Chinese", row)
    large = Bench(Corpus(read_passages(_documents(folder, (*SOURCES, FILINGS))), embedder), rng)
    for row in english:
        if row in questions or row["kind"] == "unanswerable":
            yield large.plain("with filings", row)
    yield from _cases_of_the_book(folder, embedder, rng)


def _cases_of_the_book(folder: Path, embedder: LocalEmbedder, rng: random.Random) -> Iterator[Case]:
    questions = _rows(folder / "book_questions.jsonl")
    if questions:
        book = Bench(Corpus(read_passages(sorted(folder.glob("books/*/*.md"))), embedder), rng)
        for question in questions:
            yield book.plain("book", question)


def _documents(folder: Path, groups: Sequence[str]) -> list[Path]:
    rows = [row for row in _rows(folder / "documents.jsonl") if row["group"] in groups]
    return [folder / "docs" / row["file"] for row in rows]


def report(cases: Sequence[Case], *, use_similarity: bool) -> Calibration:
    """Prints figures for each setting, each case judged by weights fitted without its document."""
    unseen: dict[int, Callable[[Features], float]] = {}
    for fold in range(FOLDS):
        others = [case.pair() for case in cases if case.fold != fold and case.best_first]
        unseen[fold] = fit(others, use_similarity=use_similarity).probability
    chances = np.array([max(map(unseen[case.fold], case.best_first), default=0.0) for case in cases])
    labels = np.array([case.answerable for case in cases])
    settings = np.array([case.setting for case in cases])
    print(f"{'setting':22}{'answerable':>11}{'refused':>9}{'unansw.':>9}{'refused':>9}{'AUC':>7}{'ECE':>7}")
    for setting in [*WEIGHTS, "all"]:
        chosen = (settings == setting) | (setting == "all")
        yes, no = chances[chosen & labels], chances[chosen & ~labels]
        refused = [f"{(part < THRESHOLD).mean():9.3f}" if len(part) else f"{'-':>9}" for part in (yes, no)]
        area = f"{_auc(yes, no):7.3f}" if len(yes) and len(no) else f"{'-':>7}"
        error = expected_calibration_error(list(chances[chosen]), list(labels[chosen]))
        print(f"{setting:22}{len(yes):11}{refused[0]}{len(no):9}{refused[1]}{area}{error:7.3f}")
    return fit([case.pair() for case in cases if case.best_first], use_similarity=use_similarity)


def _auc(yes: np.ndarray, no: np.ndarray) -> float:
    return float(((yes[:, None] > no) + 0.5 * (yes[:, None] == no)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models-dir", type=Path, default=Path(".models"))
    arguments = parser.parse_args()
    cases = list(_cases(arguments.folder, LocalEmbedder(models_dir=arguments.models_dir)))
    for use_similarity in (True, False):
        print("with the cosine" if use_similarity else "\nwords only")
        weights = report(cases, use_similarity=use_similarity)
        print("fitted on all:", [round(value, 2) for value in astuple(weights)])


if __name__ == "__main__":
    main()
