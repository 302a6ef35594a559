"""Fits what it takes to give an answer whose likeliest sentences were read, and tells how good that is.

    python -m benchmarks.evaluation.fit_reading FOLDER [--own FOLDER ...] [--model FOLDER] [--cache FOLDER]

FOLDER is as `fit_relevance` takes it. Its questions are asked with all documents, and without the chunks that
hold the answer: then the documents are about the subject and silent. An own FOLDER has `documents.jsonl`
(`file`, below `docs/`) and `questions.jsonl` (`question`, `answers`, `answer_type`, `doc`, and `kind`:
"answerable", "silent" or "absent"). Figures are by weights that were fitted without the question's document.
"""

import argparse
import asyncio
import math
import time
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import numpy as np

from benchmarks.evaluation.corpus import Corpus, read_passages
from benchmarks.evaluation.fit_relevance import THRESHOLD
from benchmarks.evaluation.fit_sentences import CANDIDATES, TOP_K
from benchmarks.evaluation.sets import ARTICLES, Sets, holds, in_section, rows, vectors_of
from rag.context.fitting import assemble
from rag.context.selection import distinct, merge_rest
from rag.evaluation.question_files import parse_objects
from rag.evaluation.scoring import is_correct
from rag.evaluation.types import Case
from rag.extracting.selection import NOT_READ, choose, options_of, weights_for
from rag.named_documents import documents_named_in, names_in
from rag.ranking.logits import logit_of
from rag.relevance.assessment import assess
from rag.relevance.fitting import FOLDS
from rag.rerankers.sentence import SentenceReranker
from rag.synthesizers.extractive import ExtractiveSynthesizer
from rag.synthesizers.sentence_reader import ENGLISH, SHIPPED, Pair, Scale, SentenceReader, Weights, scale_for
from rag.types.question import Question
from rag.types.retrieval import Retrieval, Saying

STEPS, RIDGE = 60, 0.5
LOST = 0.02  # share of the right answers that may be refused by the reading
RAISED = 0.05  # share of what no passage answers that may seem relevant by the reading alone
NOWHERE = ["(no such answer)"]
GRID = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.3)


class Option(NamedTuple):
    """A sentence. reading: a logit; None where it was not read. relevance: of its passage."""

    chance: float
    reading: float | None
    relevance: float
    is_right: bool


@dataclass(frozen=True)
class Read:
    """A question, its likeliest sentences, and the answer that it gets if it gets one.

    is_relevant: whether some passage is by itself; if none is, the answer is of that of the best sentence.
    relevance: of the passage of the sentence that is said first.
    was_right: the answer without reading, which gives none where nothing is relevant.
    """

    setting: str
    document: str
    answerable: bool
    is_relevant: bool
    relevance: float
    options: tuple[Option, ...]
    reading: float | None
    is_right: bool
    was_right: bool
    words: int

    @property
    def fold(self) -> int:
        return zlib.crc32(self.document.encode()) % FOLDS

    def given(self, scale: Scale) -> bool:
        if self.reading is None:
            return self.is_relevant
        chosen = scale.usual if self.is_relevant else scale.lone
        return chosen.logit(self.relevance, self.reading) >= logit_of(THRESHOLD)


class TimedReader(SentenceReader):
    """Adds up what reading costs, in seconds of CPU."""

    cpu_s, questions = 0.0, 0

    async def read(
        self, question: Question, pairs: Sequence[Pair], *, english: bool = True
    ) -> list[float] | None:
        started = time.process_time()
        found = await super().read(question, pairs, english=english)
        self.cpu_s += time.process_time() - started
        self.questions += 1
        return found


class Part:
    """A corpus without some of its chunks."""

    def __init__(self, corpus: Corpus, among: Sequence[int]) -> None:
        self._corpus, self._among = corpus, among

    def retrieve(self, question: str, candidates: int) -> Retrieval:
        return self._corpus.retrieve(question, self._among, candidates)

    def retrieve_within(self, question: str, document_ids: Collection[UUID]) -> Retrieval:
        return self._corpus.retrieve_within(question, document_ids, self._among)

    def find_sayings(self, words: Collection[str]) -> list[Saying]:
        return self._corpus.find_sayings(words, self._among)


def read(setting: str, row: dict, corpus: Corpus | Part, reader: ExtractiveSynthesizer) -> Read:
    answerable = row["kind"] == "answerable"
    asking = {**row, "kind": "answerable", "answers": row["answers"] if answerable else NOWHERE}
    (case,) = parse_objects([asking])
    document = str(row.get("doc") or row.get("source_file"))
    judged = search(case.question, corpus)
    return read_found(setting, document, case if answerable else None, case.question, judged, reader)


def search(text: str, corpus: Corpus | Part) -> Retrieval:
    """Return what is found for a question, in order and judged, as the pipeline has it."""
    whole = _judge(text, corpus.retrieve(text, candidates=CANDIDATES))
    named = documents_named_in(text, whole, corpus.find_sayings(names_in(text, whole)))
    if named is None:
        return whole
    return merge_rest(whole, _judge(named.rest, corpus.retrieve_within(named.rest, named.ids)), named)


def _judge(text: str, found: Retrieval) -> Retrieval:
    question = Question(text, (UUID(int=1),), TOP_K)
    return assess(text, asyncio.run(SentenceReranker().rerank(question, found)), None)


def read_found(
    setting: str,
    document: str,
    case: Case | None,
    asked: str,
    judged: Retrieval,
    reader: ExtractiveSynthesizer,
) -> Read:
    """Read what was found for a question. case: what it expects; None if the document does not answer."""
    question = Question(asked, (UUID(int=1),), TOP_K)
    best = list(distinct(judged.passages))[:TOP_K]
    relevant = [one for one in best if one.relevance >= THRESHOLD]
    context = replace(assemble(relevant or best), named=judged.named)
    scale = scale_for(asked, [block.language for block in context.blocks])
    said, readings = choose(asked, context), NOT_READ
    if scale:
        said, readings = asyncio.run(reader.choose_read(question, context, scale))
    options = tuple(
        Option(
            option.chance,
            readings.get(option.candidate),
            context.passages[option.candidate.unit.passage].relevance,
            case is not None and is_correct(case, option.candidate.text),
        )
        for option in options_of(asked, context, weights_for(asked, context))
    )
    reading = readings.get(said[0]) if said else None
    passage = context.passages[said[0].unit.passage] if said else None
    relevance = passage.relevance if passage else 0.0
    if passage and scale and not relevant:
        alone = replace(assemble([passage]), named=judged.named)
        said = choose(asked, alone, readings=asyncio.run(reader.read(question, alone, scale)))
    before = choose(asked, context) if relevant else []
    answer, plain = (
        " ".join(one.text for one in sorted(each, key=lambda one: (one.number, one.place)))
        for each in (said, before)
    )
    right, was = (case is not None and is_correct(case, text) for text in (answer, plain))
    words = len(answer.split())
    return Read(
        setting, document, case is not None, bool(relevant), relevance, options, reading, right, was, words,
    )  # fmt: skip


def of_sets(sets: Sets, reader: ExtractiveSynthesizer) -> Iterator[Read]:
    articles = [row for row in sets.questions if row["lang"] == "en" and row["source"] in ARTICLES]
    for name, corpus, own, within in (
        ("articles", sets.articles, articles, holds),
        ("book", sets.book, sets.book_questions, in_section),
    ):
        for row in own:
            if row["kind"] != "answerable":
                yield read(f"{name}, absent", {**row, "kind": "absent"}, corpus, reader)
                continue
            yield read(name, row, corpus, reader)
            left = [n for n, passage in enumerate(corpus.passages) if not within(passage, row)]
            yield read(f"{name}, silent", {**row, "kind": "silent"}, Part(corpus, left), reader)


def of_folder(folder: Path, sets: Sets, reader: ExtractiveSynthesizer) -> Iterator[Read]:
    files = [folder / "docs" / row["file"] for row in rows(folder / "documents.jsonl")]
    corpus = Corpus(read_passages(files, {path.name: "en" for path in files}), sets.vectors)
    for row in rows(folder / "questions.jsonl"):
        kind = "long" if row.get("answer_type") == "long" else "span"
        asking = {**row, "answer_type": kind, "doc": row.get("doc") or row["id"]}
        silent = "" if row["kind"] == "answerable" else f", {row['kind']}"
        yield read(f"{folder.name}{silent}", asking, corpus, reader)


def fit(known: Sequence[Read]) -> Scale:
    """Fit the weights of readings where a passage is relevant, and of readings and relevance where none is.

    The relevance of .8 shall be what `LOST` of the right answers do not reach, and what `RAISED` of the
    questions reach that nothing answers and no passage is relevant to: people ask of documents that
    answer, mostly, and how often they do not is not in the data.
    """
    usable = [one for one in known if one.reading is not None]
    relevant = [one for one in usable if one.is_relevant]
    level = logit_of(THRESHOLD)
    reading, logits = _regress([[one.reading] for one in relevant], relevant)
    lowest = np.quantile(logits[[one.is_right for one in relevant]], LOST)
    usual = Weights(0.0, float(reading), float(level - lowest))
    relevance, reading, logits = _regress([[logit_of(one.relevance), one.reading] for one in usable], usable)
    wrong = [not one.answerable and not one.is_relevant for one in usable]
    highest = np.quantile(logits[wrong], 1 - RAISED)
    return Scale(usual, Weights(float(relevance), float(reading), float(level - highest)))


def _regress(numbers: Sequence[Sequence[float | None]], known: Sequence[Read]) -> list[float | np.ndarray]:
    """Return a weight for each number, and all logits by them. Both labels weigh the same."""
    table = np.array([[*row, 1.0] for row in numbers], dtype=float)
    labels = np.array([one.is_right and one.answerable for one in known], dtype=float)
    counts = np.where(labels == 1, (1 - labels).sum() / labels.sum(), 1.0)
    ridge = np.diag([RIDGE] * (table.shape[1] - 1) + [0.0])
    weights = np.zeros(table.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (counts * (labels - chances)) - ridge @ weights
        curve = (table.T * (counts * chances * (1 - chances))) @ table + RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curve, slope)
    weights[-1] = 0.0
    return [*weights[:-1], table @ weights]


def report(known: Sequence[Read], *, shipped: bool) -> None:
    """Print each setting's figures, by the weights that ship or those fitted without the document's fold."""
    by_fold = {
        fold: ENGLISH if shipped else fit([one for one in known if one.fold != fold]) for fold in range(FOLDS)
    }
    print(f"{'':28}{'asked':>6}{'given':>8}{'before':>8}{'right':>8}{'before':>8}{'words':>7}")
    for setting in dict.fromkeys(one.setting for one in known):
        here = [one for one in known if one.setting == setting]
        given = [one for one in here if one.given(by_fold[one.fold])]
        shares = [len(given), sum(one.is_relevant for one in here)]
        shares += [sum(one.is_right for one in given), sum(one.was_right for one in here)]
        words = np.mean([one.words for one in given]) if given else 0.0
        told = "".join(f"{share / len(here):8.3f}" for share in shares)
        print(f"{setting:28}{len(here):6}{told}{words:7.1f}")
    print_scale(fit(known))


def print_scale(scale: Scale) -> None:
    for name, weights in scale._asdict().items():
        print(name, {field: round(value, 2) for field, value in weights._asdict().items()})


def report_choice(known: Sequence[Read]) -> None:
    """Print how often the sentence that is said first is right, by the weight of its reading."""
    for setting in dict.fromkeys(one.setting for one in known if one.answerable):
        here = [one.options for one in known if one.setting == setting and one.is_relevant]
        shares = [np.mean([_first(options, weight).is_right for options in here]) for weight in GRID]
        print(
            f"{setting:28}", *(f"{weight:g}: {share:.3f}" for weight, share in zip(GRID, shares, strict=True))
        )


def _first(options: Sequence[Option], weight: float) -> Option:
    if sum(one.reading is not None for one in options) < 2:
        return options[0]
    return max(options, key=lambda one: math.log(one.chance + 1e-9) + weight * (one.reading or 0.0))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--own", type=Path, nargs="*", default=[])
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--shipped", action="store_true", help="tell how good the weights are that ship")
    parser.add_argument("--models-dir", type=Path, default=Path(".models"))
    parser.add_argument("--cache", type=Path, default=Path(".vectors"))
    arguments = parser.parse_args()
    sets = Sets(arguments.folder, vectors_of("all-MiniLM-L6-v2", arguments.models_dir, arguments.cache))
    timed = TimedReader(arguments.model, timeout_s=60)
    reader = ExtractiveSynthesizer(reader=timed)
    known = list(of_sets(sets, reader))
    for folder in arguments.own:
        known += of_folder(folder, sets, reader)
    sets.vectors.save()
    report_choice(known)
    report(known, shipped=arguments.shipped)
    print(f"reading: {1000 * timed.cpu_s / timed.questions:.1f} ms of CPU a question")


if __name__ == "__main__":
    main()
