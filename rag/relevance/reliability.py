"""How often predicted probabilities come true, and the interval of a proportion. Plain Python."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

Interval = tuple[float, float]
Z95 = 1.96  # standard normal: 95 % lie within
BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Probabilities from `low` to `high` (of the last bin included): how many there were, their mean, and the
    share that came true with its 95 % Wilson interval.
    """

    low: float
    high: float
    count: int
    told: float
    true: float
    interval: Interval

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def bins(told: Sequence[float], true: Sequence[bool], count: int = BINS) -> list[Bin]:
    """Bins of equal width over [0, 1], in order, without empty ones.

    told: probabilities; true: as many outcomes. Raises ValueError if the two differ in length.
    Source: Niculescu-Mizil, Caruana, Predicting good probabilities with supervised learning, ICML 2005.
    """
    held: dict[int, list[tuple[float, bool]]] = {}
    for chance, outcome in zip(told, true, strict=True):
        held.setdefault(min(int(chance * count), count - 1), []).append((chance, outcome))
    return [_bin(place, count, held[place]) for place in sorted(held)]


def calibration_error(told: Sequence[float], true: Sequence[bool], count: int = BINS) -> float:
    """Expected calibration error: mean |told - true| of the bins, weighed by how many each holds.

    Source: Naeini, Cooper, Hauskrecht, Obtaining well calibrated probabilities, AAAI 2015. 0 of nothing.
    """
    found = bins(told, true, count)
    return sum(abs(one.told - one.true) * one.count for one in found) / max(1, len(told))


def _bin(place: int, count: int, held: Sequence[tuple[float, bool]]) -> Bin:
    came_true = sum(outcome for _, outcome in held)
    return Bin(
        low=place / count,
        high=(place + 1) / count,
        count=len(held),
        told=round(sum(chance for chance, _ in held) / len(held), 4),
        true=round(came_true / len(held), 4),
        interval=wilson(came_true, len(held)) or (0.0, 1.0),
    )


def wilson(successes: float, trials: int, z: float = Z95) -> Interval | None:
    """95 % interval of a proportion: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n). None of nothing.

    Source: Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927.
    """
    if not trials:
        return None
    p, n = successes / trials, trials
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)
