"""Fits the weights of relevance to labelled pairs of question and passage. Plain Python and NumPy."""

import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from rag.relevance import Calibration
from rag.relevance.features import Features

RIDGE = 0.3  # in pairs; keeps the weights of a small sample small
STEPS = 100
FOLDS = 8
COSINES = frozenset({"similarity", "sentence_similarity", "margin"})  # what needs a model's cosines
FIXED = frozenset({"subject", "defined"})  # of weights that ship: data seldom hold what they are there for
NAMES = tuple(name for name in Features._fields if name not in FIXED)


@dataclass(frozen=True, slots=True)
class Pair:
    """weight: how many pairs this one counts for. group: what must not be split, such as a document."""

    features: Features
    relevant: bool
    weight: float = 1.0
    group: str = ""


def fit(pairs: Sequence[Pair], *, without: Collection[str] = ()) -> Calibration:
    """The likeliest weights, none negative, with both labels of equal weight in all.

    without: features that are left out. Newton's method on the ridge-penalised log-likelihood; features of
    negative weight are left out. Raises ValueError unless there are pairs of both labels.
    """
    if len({pair.relevant for pair in pairs}) < 2:
        raise ValueError("Both relevant and irrelevant pairs are needed.")
    names = [name for name in NAMES if name not in without]
    while True:
        weights, intercept = _newton(pairs, names)
        lowest = min(weights, key=lambda name: weights[name], default="")
        if not lowest or weights[lowest] >= 0:
            fixed = {"subject": 0.0} if "subject" in without else {}
            return Calibration(intercept, **{**dict.fromkeys(NAMES, 0.0), **weights, **fixed})
        names.remove(lowest)


def unseen_chances(pairs: Sequence[Pair], *, without: Collection[str] = ()) -> list[float]:
    """For each pair the chance by weights that were fitted without any pair of its group's fold.

    Raises ValueError where the others are of one label only.
    """
    folds = [zlib.crc32(pair.group.encode()) % FOLDS for pair in pairs]
    weights = {
        fold: fit([p for p, other in zip(pairs, folds, strict=True) if other != fold], without=without)
        for fold in sorted(set(folds))
    }
    return [weights[fold].probability(pair.features) for pair, fold in zip(pairs, folds, strict=True)]


def _newton(pairs: Sequence[Pair], names: Sequence[str]) -> tuple[dict[str, float], float]:
    rows = np.array([[*(pair.features._asdict()[name] for name in names), 1.0] for pair in pairs])
    labels = np.array([pair.relevant for pair in pairs], dtype=float)
    counts = _balanced(np.array([pair.weight for pair in pairs]), labels)
    ridge = np.diag([RIDGE] * len(names) + [1e-6])
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (counts * (labels - chance)) - ridge @ found
        curve = (rows * (counts * chance * (1 - chance))[:, None]).T @ rows + ridge
        step = np.linalg.solve(curve, slope)
        found += step
        if np.abs(step).max() < 1e-9:
            break
    return dict(zip(names, map(float, found[:-1]), strict=True)), float(found[-1])


def _balanced(counts: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """As many relevant pairs as irrelevant ones: how often users ask in vain is not in the sample."""
    share = counts[labels == 0].sum() / counts[labels == 1].sum()
    return np.where(labels == 1, counts * share, counts)


def area_under_curve(chances: Sequence[float], labels: Sequence[bool]) -> float:
    """The share of (relevant, irrelevant) pairs of pairs in the right order; ties count half."""
    told, true = np.array(chances), np.array(labels, dtype=bool)
    yes, no = told[true][:, None], told[~true]
    return float(((yes > no) + 0.5 * (yes == no)).mean())
