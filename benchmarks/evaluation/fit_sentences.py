"""Fits what the extractive synthesizer ranks sentences by, and tells how it answers from unseen documents.

    python -m benchmarks.evaluation.fit_sentences FOLDER [--model NAME] [--cache FOLDER]

FOLDER: as for fit_relevance. Each question is asked of its collection, and the passages above the threshold
are its context. The weights make the sentences that hold the expected answer as probable as can be among
all of the context (a conditional logit with a ridge). Unseen: by weights fitted without that document.
"""

import argparse
import asyncio
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import numpy as np

from benchmarks.evaluation.corpus import Corpus
from benchmarks.evaluation.fit_relevance import THRESHOLD
from benchmarks.evaluation.sets import ARTICLES, Sets, vectors_of
from rag.context.fitting import assemble
from rag.context.selection import distinct
from rag.evaluation.question_files import parse_objects
from rag.evaluation.scoring import is_correct
from rag.evaluation.types import Case
from rag.extracting.candidates import candidates_of, with_forms
from rag.extracting.selection import WEIGHTS, choose, options_of, stating
from rag.extracting.units import Traits
from rag.relevance.assessment import assess
from rag.relevance.fitting import FOLDS
from rag.rerankers.sentence import SentenceReranker
from rag.types.context import Context
from rag.types.question import Question

TOP_K = 5
CANDIDATES = 40  # as the server ranks them
RIDGE = 3.0  # on traits of unit variance
STEPS = 60


@dataclass(frozen=True)
class Asked:
    """A question with its context. rows: the traits of every sentence; right: which hold the answer."""

    group: str
    case: Case
    context: Context
    rows: np.ndarray
    right: np.ndarray

    @property
    def fold(self) -> int:
        return zlib.crc32(self.case.document.encode()) % FOLDS


def asked(group: str, corpus: Corpus, rows: Iterable[dict]) -> Iterator[Asked]:
    for row in rows:
        (case,) = parse_objects([row])
        case = replace(case, document=str(row.get("doc") or row.get("source_file")))
        question = Question(case.question, (UUID(int=1),), TOP_K)
        found = corpus.retrieve(case.question, candidates=CANDIDATES)
        ranked = asyncio.run(SentenceReranker().rerank(question, found))
        judged = list(distinct(assess(case.question, ranked, None).passages))[:TOP_K]
        yield traits_of(group, case, assemble(p for p in judged if p.relevance >= THRESHOLD))


def traits_of(group: str, case: Case, context: Context) -> Asked:
    candidates = stating(candidates_of(case.question, context))
    traits = [with_forms(case.question, one, context) for one in candidates]
    right = [is_correct(case, one.text) for one in candidates]
    return Asked(group, case, context, np.array(traits, dtype=float), np.array(right, dtype=bool))


def everything(sets: Sets) -> list[Asked]:
    answerable = [row for row in sets.questions if row["kind"] == "answerable" and row["source"] in ARTICLES]
    own = [row for row in answerable if row["lang"] == row.get("doc_lang", row["lang"])]
    known: list[Asked] = []
    for source in ARTICLES:
        rows = [row for row in own if row["lang"] == "en" and row["source"] == source]
        known += asked(source, sets.articles, rows)
    for language in ("de", "zh"):
        known += asked(language, sets.articles, [row for row in own if row["lang"] == language])
    book = [row for row in sets.book_questions if row["kind"] == "answerable"]
    return known + (list(asked("book", sets.book, book)) if book else [])


def fit(known: Sequence[Asked]) -> Traits:
    """Newton's method on the ridge-penalised ln of the chance that falls on the right sentences."""
    usable = [one for one in known if one.right.any()]
    spread = np.concatenate([one.rows for one in usable]).std(axis=0) + 1e-9
    weights = np.zeros(len(spread))
    for _ in range(STEPS):
        slope, curve = -RIDGE * weights, RIDGE * np.eye(len(spread))
        for one in usable:
            rows = one.rows / spread
            chances = _softmax(rows @ weights)
            mean = chances @ rows
            slope += (chances * one.right) @ rows / (chances @ one.right) - mean
            curve += ((rows - mean).T * chances) @ (rows - mean)
        step = np.linalg.solve(curve, slope)
        weights += step
        if np.abs(step).max() < 1e-6:
            break
    return Traits(*map(float, weights / spread))


def _softmax(scores: np.ndarray) -> np.ndarray:
    odds = np.exp(scores - scores.max())
    return odds / odds.sum()


def unseen(known: Sequence[Asked]) -> list[Traits]:
    """For each question the weights that were fitted without its fold of documents."""
    weights = {fold: fit([one for one in known if one.fold != fold]) for fold in range(FOLDS)}
    return [weights[one.fold] for one in known]


def report(known: Sequence[Asked], weights: Sequence[Traits]) -> None:
    """right: by the best sentence, the two or three best, and by the answer as it is given."""
    lines: defaultdict[str, list[list[float]]] = defaultdict(list)
    for one, own in zip(known, weights, strict=True):
        lines[one.group].append(_figures(one, own))
    lines["all English articles"] = [line for source in ARTICLES for line in lines[source]]
    print(f"{'':22}{'asked':>7}{'best':>7}{'two':>7}{'three':>7}{'answer':>8}{'words':>7}{'sentences':>11}")
    for group, figures in lines.items():
        table = np.array(figures)
        answered = table[table[:, 4] > 0]
        best, two, three, answer = table[:, :4].mean(axis=0)
        words, sentences = answered[:, 4:].mean(axis=0) if len(answered) else (0.0, 0.0)
        print(
            f"{group:22}{len(table):7}{best:7.3f}{two:7.3f}{three:7.3f}{answer:8.3f}{words:7.1f}{sentences:11.2f}"
        )


def _figures(one: Asked, weights: Traits) -> list[float]:
    options = [option.candidate.text for option in options_of(one.case.question, one.context, weights)]
    firsts = [any(is_correct(one.case, text) for text in options[:k]) for k in (1, 2, 3)]
    said = choose(one.case.question, one.context, weights)
    said.sort(key=lambda candidate: (candidate.number, candidate.place))
    answer = " ".join(candidate.text for candidate in said)
    return [*map(float, firsts), float(is_correct(one.case, answer)), len(answer.split()), len(said)]


def loss(known: Sequence[Asked], weights: Sequence[Traits], without: str = "") -> dict[str, float]:
    """Mean -ln of the chance that fell on the right sentences, by group."""
    losses: defaultdict[str, list[float]] = defaultdict(list)
    for one, own in zip(known, weights, strict=True):
        if one.right.any():
            losses[one.group].append(-float(np.log(_softmax(one.rows @ np.array(own)) @ one.right)))
    return {group: float(np.mean(values)) for group, values in losses.items()}


def ablation(known: Sequence[Asked]) -> None:
    for name in ("nothing", *Traits._fields):
        kept = np.array([name != field for field in Traits._fields], dtype=float)
        fewer = [replace(one, rows=one.rows * kept if len(one.rows) else one.rows) for one in known]
        losses = loss(fewer, unseen(fewer))
        print(f"without {name:14}", *(f"{group} {value:.3f} " for group, value in losses.items()))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--models-dir", type=Path, default=Path(".models"))
    parser.add_argument("--cache", type=Path, default=Path(".vectors"))
    arguments = parser.parse_args()
    sets = Sets(arguments.folder, vectors_of(arguments.model, arguments.models_dir, arguments.cache))
    known = everything(sets)
    print("by weights fitted without the question's document")
    report(known, unseen(known))
    print("\nby the weights that ship")
    report(known, [WEIGHTS] * len(known))
    print("\nfitted on all:", {name: round(value, 2) for name, value in fit(known)._asdict().items()})
    print("\nloss on unseen documents")
    ablation(known)


if __name__ == "__main__":
    main()
