"""Figures that must not be passed: what makes `evaluate` fail in a pipeline."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knowlex.base.errors import InvalidInput
from rag.evaluation.configurations import Configuration
from rag.evaluation.outcomes import ANSWERS, RETRIEVAL

LATENCIES = ("latency_p50_ms", "latency_p95_ms")


@dataclass(frozen=True, slots=True)
class Limit:
    """value: at least, or with `is_ceiling` at most. configuration: "" for each that is measured."""

    metric: str
    value: float
    is_ceiling: bool
    configuration: str = ""

    def broken(self, measured: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """A line for each configuration that is past it, or of which there is no such figure."""
        names = [self.configuration] if self.configuration else list(measured)
        return [words for name in names if (words := self._broken(name, measured[name]["metrics"]))]

    def _broken(self, name: str, metrics: Mapping[str, Mapping[str, Any]]) -> str:
        if self.metric not in metrics:
            return f"{name}: {self.metric} could not be measured"
        value = metrics[self.metric]["value"]
        if self.is_ceiling and value > self.value:
            return f"{name}: {self.metric} is {value:g}, above {self.value:g}"
        if not self.is_ceiling and value < self.value:
            return f"{name}: {self.metric} is {value:g}, below {self.value:g}"
        return ""


def read_limits(
    floors: Sequence[str], ceilings: Sequence[str], configurations: Sequence[Configuration], answers: bool
) -> list[Limit]:
    """Of `[NAME:]METRIC=VALUE`. Raises InvalidInput."""
    names = [one.name for one in configurations]
    known = (*RETRIEVAL, *LATENCIES, *((*ANSWERS, "balanced") if answers else ()))
    return [_limit(text, names, known, is_ceiling=False) for text in floors] + [
        _limit(text, names, known, is_ceiling=True) for text in ceilings
    ]


def _limit(text: str, names: Sequence[str], known: Sequence[str], *, is_ceiling: bool) -> Limit:
    left, equals, number = text.rpartition("=")
    name, _, metric = left.rpartition(":")
    if name and name not in names:
        raise InvalidInput(f"{text}: no configuration is named {name!r}; there is {', '.join(names)}.")
    if not equals or metric not in known:
        hint = " with --answers" if metric in (*ANSWERS, "balanced") else f": one of {', '.join(known)}"
        raise InvalidInput(f"{text} must be METRIC=VALUE{hint}.")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):  # nothing is below "nan", so nothing would ever break it
        raise InvalidInput(f"{text}: {number!r} is not a number.")
    return Limit(metric, value, is_ceiling, name)
