"""Fits what it takes to give an answer whose likeliest sentence was read, and tells how good that is.

    python -m benchmarks.evaluation.fit_reading FOLDER [--own FOLDER ...] [--model FOLDER] [--cache FOLDER]

FOLDER is as `fit_relevance` takes it. Its questions are asked with all documents, and without the chunks that
hold the answer: then the documents are about the subject and silent. An own FOLDER has `documents.jsonl`
(`file`, below `docs/`) and `questions.jsonl` (`question`, `answers`, `answer_type`, `doc`, and `kind`:
"answerable", "silent" or "absent"). Figures are by weights that were fitted without the question's document.
"""

import argparse
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.evaluation.corpus import Corpus, read_passages
from benchmarks.evaluation.fit_relevance import THRESHOLD
from benchmarks.evaluation.fit_sentences import Asked, asked
from benchmarks.evaluation.sets import ARTICLES, Sets, holds, in_section, rows, vectors_of
from rag.evaluation.scoring import is_correct
from rag.extracting.selection import choose
from rag.local_models import OnnxPairs
from rag.ranking.logits import logit_of
from rag.relevance.fitting import FOLDS
from rag.synthesizers.extractive import CELLS
from rag.synthesizers.sentence_reader import MOST_CHARS, SHIPPED, Weights, answers, can_read
from rag.types.retrieval import Retrieval

STEPS, RIDGE = 60, 0.5
LOST = 0.01  # share of the right answers that may be refused by the reading
NOWHERE = ["(no such answer)"]


@dataclass(frozen=True)
class Read:
    """A question and the answer that it gets without reading. relevance: of its best passage."""

    setting: str
    document: str
    answerable: bool
    is_right: bool
    relevance: float
    reading: float | None
    words: int

    @property
    def fold(self) -> int:
        return zlib.crc32(self.document.encode()) % FOLDS


class Part:
    """A corpus without some of its chunks."""

    def __init__(self, corpus: Corpus, among: Sequence[int]) -> None:
        self._corpus, self._among = corpus, among

    def retrieve(self, question: str, candidates: int) -> Retrieval:
        return self._corpus.retrieve(question, self._among, candidates)


def read(setting: str, answerable: bool, found: Iterable[Asked], model: OnnxPairs) -> Iterator[Read]:
    for one in found:
        text = one.case.question
        said = choose(text, one.context)
        reading = None
        if said:
            reading = np.inf  # what is not read stays as it is
            is_row = said[0].is_row or CELLS in said[0].text
            if not is_row and can_read(text, [block.language for block in one.context.blocks]):
                reading = model.logits(text, said[0].text[:MOST_CHARS])[0]
        said.sort(key=lambda each: (each.number, each.place))
        answer = " ".join(each.text for each in said)
        relevance = max((passage.relevance for passage in one.context.passages), default=0.0)
        is_right = answerable and is_correct(one.case, answer)
        words = len(answer.split())
        yield Read(setting, one.case.document, answerable, is_right, relevance, reading, words)


def of_sets(sets: Sets, model: OnnxPairs) -> Iterator[Read]:
    articles = [row for row in sets.questions if row["lang"] == "en" and row["source"] in ARTICLES]
    for name, corpus, own, within in (
        ("articles", sets.articles, articles, holds),
        ("book", sets.book, sets.book_questions, in_section),
    ):
        for row in own:
            if row["kind"] != "answerable":
                asking = {**row, "kind": "answerable", "answers": NOWHERE}
                yield from read(f"{name}, absent", False, asked(name, corpus, [asking]), model)
                continue
            yield from read(name, True, asked(name, corpus, [row]), model)
            left = [n for n, passage in enumerate(corpus.passages) if not within(passage, row)]
            yield from read(f"{name}, silent", False, asked(name, Part(corpus, left), [row]), model)


def of_folder(folder: Path, sets: Sets, model: OnnxPairs) -> Iterator[Read]:
    files = [folder / "docs" / row["file"] for row in rows(folder / "documents.jsonl")]
    corpus = Corpus(read_passages(files, {path.name: "en" for path in files}), sets.vectors)
    for row in rows(folder / "questions.jsonl"):
        if row.get("docs"):
            continue
        kind = "long" if row.get("answer_type") == "long" else "span"
        asking = {**row, "kind": "answerable", "answers": row["answers"] or NOWHERE, "answer_type": kind}
        asking["doc"] = row.get("doc") or row["id"]
        silent = "" if row["kind"] == "answerable" else f", {row['kind']}"
        yield from read(f"{folder.name}{silent}", not silent, asked(folder.name, corpus, [asking]), model)


def fit(known: Sequence[Read]) -> Weights:
    """Fit by Newton's method, both labels of equal weight; then the intercept by what may be lost.

    The relevance of .8 shall be what `LOST` of the right answers do not reach: people ask of documents that
    answer, mostly, and how often they do not is not in the data.
    """
    usable = [one for one in known if one.reading is not None and one.reading < np.inf]
    table = np.array([[logit_of(one.relevance), one.reading, 1.0] for one in usable])
    labels = np.array([one.answerable for one in usable], dtype=float)
    counts = np.where(labels == 1, (1 - labels).sum() / labels.sum(), 1.0)
    weights = np.zeros(3)
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (counts * (labels - chances)) - RIDGE * np.array([*weights[:2], 0])
        curve = (table.T * (counts * chances * (1 - chances))) @ table + RIDGE * np.eye(3)
        weights = weights + np.linalg.solve(curve, slope)
    right = np.array([one.is_right for one in usable])
    lowest = float(np.quantile((table @ weights)[right], LOST))
    return Weights(float(weights[0]), float(weights[1]), float(weights[2]) - lowest + logit_of(THRESHOLD))


def report(known: Sequence[Read]) -> None:
    by_fold = {fold: fit([one for one in known if one.fold != fold]) for fold in range(FOLDS)}
    print(f"{'':28}{'asked':>6}{'given':>8}{'before':>8}{'right':>8}{'before':>8}{'words':>7}")
    for setting in dict.fromkeys(one.setting for one in known):
        here = [one for one in known if one.setting == setting]
        given = [
            one for one in here
            if one.reading is not None and answers(one.relevance, one.reading, THRESHOLD, by_fold[one.fold])
        ]  # fmt: skip
        shares = [len(given), sum(one.reading is not None for one in here)]
        shares += [sum(one.is_right for one in given), sum(one.is_right for one in here)]
        words = np.mean([one.words for one in given]) if given else 0.0
        told = "".join(f"{share / len(here):8.3f}" for share in shares)
        print(f"{setting:28}{len(here):6}{told}{words:7.1f}")
    print("fitted on all:", {name: round(value, 2) for name, value in fit(known)._asdict().items()})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--own", type=Path, nargs="*", default=[])
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--models-dir", type=Path, default=Path(".models"))
    parser.add_argument("--cache", type=Path, default=Path(".vectors"))
    arguments = parser.parse_args()
    sets = Sets(arguments.folder, vectors_of("all-MiniLM-L6-v2", arguments.models_dir, arguments.cache))
    model = OnnxPairs(arguments.model, outputs=1)
    known = list(of_sets(sets, model))
    for folder in arguments.own:
        known += of_folder(folder, sets, model)
    sets.vectors.save()
    report(known)


if __name__ == "__main__":
    main()
