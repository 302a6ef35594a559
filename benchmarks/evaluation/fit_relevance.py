"""Fits the relevance that ships with Knowlex, and tells how well it does on documents it has not seen.

    python -m benchmarks.evaluation.fit_relevance FOLDER [--model NAME] [--cache FOLDER] [--diagram FILE.svg]

FOLDER holds `docs/*.pdf`, `documents.jsonl` and `questions.jsonl` (fields: docs/evaluation.md) and, if there
is one, a book: `books/*/*.md` and `book_questions.jsonl`. Each question is asked of the whole collection, of
the collection without the document that answers it, of that document alone and of one chunk that holds the
answer; others are asked of documents and chunks that have nothing to do with them. So the same weights serve
collections of every size. Questions with another's name or year tell how many of those are refused.
"""

import argparse
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.evaluation.cases import FOREIGN_WEIGHTS, WEIGHTS, Case, cases, foreign_cases
from benchmarks.evaluation.diagram import reliability
from benchmarks.evaluation.sets import Sets, vectors_of
from rag.relevance.assessment import Calibration
from rag.relevance.fitting import COSINES, FOLDS, NAMES, area_under_curve, fit
from rag.relevance.reliability import calibration_error

THRESHOLD = 0.8
ROUNDS = 3  # of choosing each question's best passage by the weights, and the weights by those passages
WORDS = frozenset({"sentence", "coverage", "evidence", "names", "subject"})


def fitted(cases: Iterable[Case], without: Collection[str] = ()) -> Calibration:
    usable = [case for case in cases if case.best_first]
    weights = None
    for _ in range(ROUNDS):
        weights = fit([case.pair(weights) for case in usable], without=without)
    assert weights is not None
    return weights


def unseen(cases: Sequence[Case], without: Collection[str] = ()) -> np.ndarray:
    """For each case the chance of its most relevant passage, by weights fitted without its document."""
    weights = {fold: fitted([case for case in cases if case.fold != fold], without) for fold in range(FOLDS)}
    best = (map(weights[case.fold].probability, case.best_first) for case in cases)
    return np.array([max(chances, default=0.0) for chances in best])


def report(cases: Sequence[Case], settings: Iterable[str], chances: np.ndarray) -> None:
    labels = np.array([case.answerable for case in cases])
    of = np.array([case.setting for case in cases])
    print(f"{'asked of':22}{'answerable':>11}{'refused':>9}{'unansw.':>9}{'refused':>9}{'AUC':>7}{'ECE':>7}")
    for setting in [*settings, "all"]:
        chosen = (of == setting) | (setting == "all")
        yes, no = chances[chosen & labels], chances[chosen & ~labels]
        refused = [f"{(part < THRESHOLD).mean():9.3f}" if len(part) else f"{'-':>9}" for part in (yes, no)]
        both = len(yes) and len(no)
        area = f"{area_under_curve(chances[chosen], labels[chosen]):7.3f}" if both else f"{'-':>7}"
        error = calibration_error(list(chances[chosen]), list(labels[chosen]))
        print(f"{setting:22}{len(yes):11}{refused[0]}{len(no):9}{refused[1]}{area}{error:7.3f}")


def ablation(cases: Sequence[Case]) -> None:
    """What is lost without each feature: mean -ln of the chance of what came true, weighted as in the fit."""
    labels = np.array([case.answerable for case in cases])
    weights = np.array([WEIGHTS[case.setting] for case in cases])
    filings = np.array([case.setting == "with filings" for case in cases])
    collection = np.array([case.setting == "collection" for case in cases])
    for name in ["nothing", *NAMES[: NAMES.index("reranked")]]:
        chances = unseen(cases, {name})
        loss = -np.log(np.clip(np.where(labels, chances, 1 - chances), 1e-6, 1))
        areas = [
            area_under_curve(chances[part], labels[part]) for part in (collection, filings) if part.any()
        ]
        print(
            f"without {name:22}{np.average(loss, weights=weights):8.4f}", *(f"{area:7.4f}" for area in areas)
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--models-dir", type=Path, default=Path(".models"))
    parser.add_argument("--cache", type=Path, default=Path(".vectors"))
    parser.add_argument("--articles-only", action="store_true", help="without the filings and the book")
    parser.add_argument("--diagram", type=Path, help="reliability diagram, SVG")
    arguments = parser.parse_args()
    sets = Sets(arguments.folder, vectors_of(arguments.model, arguments.models_dir, arguments.cache))
    known = list(cases(sets, articles_only=arguments.articles_only))
    settings = [setting for setting in WEIGHTS if any(case.setting == setting for case in known)]
    told = unseen(known)
    for title, without in (("all features", ()), ("words only", COSINES)):
        print(f"\n{title}, unseen documents")
        report(known, settings, told if not without else unseen(known, without))
        print("fitted on all:", {k: round(v, 2) for k, v in asdict(fitted(known, without)).items()})
    print("\nablation: loss, AUC of the collection, AUC with filings")
    ablation(known)
    across = list(foreign_cases(sets))
    print("\nquestions in another language than the documents: no words")
    report(across, FOREIGN_WEIGHTS, unseen(across, WORDS))
    print("fitted on all:", {k: round(v, 2) for k, v in asdict(fitted(across, WORDS)).items()})
    if arguments.diagram:
        arguments.diagram.write_text(reliability(told, [case.answerable for case in known]))


if __name__ == "__main__":
    main()
