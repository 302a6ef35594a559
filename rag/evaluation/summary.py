"""The figures of a configuration over all questions, and the difference of two. Plain Python and NumPy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from rag.evaluation.metrics import mean, percentile
from rag.evaluation.outcomes import ANSWER_METRICS, RETRIEVAL_METRICS, Outcome
from rag.evaluation.types import Case
from rag.relevance.reliability import Interval, bins, calibration_error, wilson

RESAMPLES = 2000
SEED = 20_261_122  # the same samples each time: figures of equal results are equal
_BLOCK = 2_000_000  # resampled places held at a time
LOWER_IS_BETTER: Final = frozenset(
    {
        *("false_abstention", "answer_words", "claims_contradicted", "claims_uncited"),
        *("latency_p50_ms", "latency_p95_ms"),
    }
)
METRIC_ORDER = (*RETRIEVAL_METRICS, *ANSWER_METRICS)
Summary = dict[str, Any]
# What the groups of a question are: each of its tags, its document, its language and its document's.
GROUPINGS: Final[Mapping[str, Callable[[Case], Sequence[str]]]] = {
    "tag": lambda case: case.tags or ("",),
    "document": lambda case: (case.document,),
    "lang": lambda case: (f"{case.lang} of {case.document_lang}" if case.document_lang else case.lang,),
}


def summarise(outcomes: Sequence[Outcome]) -> Summary:
    """Return {"questions", "errors", "metrics": {name: {"value", "low", "high", "n"}}, "reliability", ...}.

    low, high: a 95 % interval, Wilson's for shares of questions, a bootstrap's for other means, null where
    there is none. Metrics that no question says anything about are left out. Latencies are in ms.
    """
    well = [outcome for outcome in outcomes if not outcome.error]
    metrics: dict[str, Summary] = {}
    for name in METRIC_ORDER:
        if values := [outcome.values[name] for outcome in well if name in outcome.values]:
            metrics[name] = _summarise_values(values)
    _add_balanced(metrics)
    latencies = [outcome.latency_ms for outcome in well if outcome.latency_ms is not None]
    for name, share in (("latency_p50_ms", 0.5), ("latency_p95_ms", 0.95)):
        if latencies:
            value = round(percentile(latencies, share) or 0.0, 2)
            metrics[name] = {"value": value, "low": None, "high": None, "n": len(latencies)}
    told, true = _collect_judged(well)
    return {
        "questions": len(outcomes),
        "errors": len(outcomes) - len(well),
        "metrics": metrics,
        "reliability": [one.as_dict() for one in bins(told, true)],
        "calibration_error": round(calibration_error(told, true), 4) if told else None,
    }


def summarise_groups(cases: Sequence[Case], outcomes: Sequence[Outcome], by: str) -> dict[str, Summary]:
    """Return `{group: {"questions", "metrics"}}` in the order of the groups' names, "all" first; "" has none.

    outcomes: one for each of `cases`. by: one of `GROUPINGS`. Abstention is told apart for `absent` questions
    and `silent` ones, which name a document that does not answer them.
    """
    groups: dict[str, list[tuple[Case, Outcome]]] = {}
    for case, outcome in zip(cases, outcomes, strict=True):
        for name in dict.fromkeys(GROUPINGS[by](case)):
            groups.setdefault(name, []).append((case, outcome))
    everything = list(zip(cases, outcomes, strict=True))
    return {"all": _summarise_group(everything)} | {
        name: _summarise_group(groups[name]) for name in sorted(groups)
    }


def _summarise_group(pairs: Sequence[tuple[Case, Outcome]]) -> Summary:
    kinds = {
        "silent": [outcome for case, outcome in pairs if not case.answerable and case.document],
        "absent": [outcome for case, outcome in pairs if not case.answerable and not case.document],
    }
    whole = summarise([outcome for _, outcome in pairs])
    for kind, outcomes in kinds.items():
        if abstained := summarise(outcomes)["metrics"].get("abstention_on_unanswerable"):
            whole["metrics"][f"abstention_on_{kind}"] = abstained
    return {"questions": whole["questions"], "metrics": whole["metrics"]}


def compare_outcomes(first: Sequence[Outcome], second: Sequence[Outcome]) -> Summary:
    """Return second minus first by metric, over the questions that have the metric in both.

    {name: {"difference", "low", "high", "better", "worse", "equal", "n"}}: a 95 % interval of a paired
    bootstrap, and how many questions the second does better, worse and equally well.
    """
    compared = {}
    for name in METRIC_ORDER:
        pairs = [
            (one.values[name], other.values[name])
            for one, other in zip(first, second, strict=True)
            if name in one.values and name in other.values
        ]
        if pairs:
            compared[name] = _summarise_pairs(pairs, -1 if name in LOWER_IS_BETTER else 1)
    times = [
        other.latency_ms - one.latency_ms
        for one, other in zip(first, second, strict=True)
        if one.latency_ms is not None and other.latency_ms is not None
    ]
    if times:
        compared["latency_ms"] = _summarise_pairs([(0.0, time) for time in times], -1)
    return compared


def bootstrap(values: Sequence[float]) -> Interval | None:
    """Compute a 95 % interval of the mean: the 2.5 % and 97.5 % points of the means of resamples.

    Source: Efron, Tibshirani, An Introduction to the Bootstrap, 1993, 13.3. None of fewer than two.
    """
    if len(values) < 2:
        return None
    held, draw = np.array(values), np.random.default_rng(SEED)
    step = max(1, _BLOCK // len(held))
    sizes = [min(step, RESAMPLES - done) for done in range(0, RESAMPLES, step)]
    means = np.concatenate(
        [held[draw.integers(0, len(held), (size, len(held)))].mean(axis=1) for size in sizes]
    )
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def _summarise_values(values: Sequence[float]) -> Summary:
    shares = all(value in (0.0, 1.0) for value in values)
    interval = wilson(sum(values), len(values)) if shares else bootstrap(values)
    return {"value": round(mean(values) or 0.0, 4), **_round_bounds(interval), "n": len(values)}


def _summarise_pairs(pairs: Sequence[tuple[float, float]], sign: int) -> Summary:
    steps = [other - one for one, other in pairs]
    return {
        "difference": round(mean(steps) or 0.0, 4),
        **_round_bounds(bootstrap(steps)),
        "better": sum(sign * step > 0 for step in steps),
        "worse": sum(sign * step < 0 for step in steps),
        "equal": sum(step == 0 for step in steps),
        "n": len(steps),
    }


def _round_bounds(interval: Interval | None) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {"low": None if low is None else round(low, 4), "high": None if high is None else round(high, 4)}


def _add_balanced(metrics: dict[str, Summary]) -> None:
    """Add the mean of accuracy and abstention: neither answering all nor nothing does well in it."""
    both = [metrics[name] for name in ("answer_accuracy", "abstention_on_unanswerable") if name in metrics]
    if len(both) == 2:
        value = round(sum(one["value"] for one in both) / 2, 4)
        metrics["balanced"] = {"value": value, "low": None, "high": None, "n": sum(one["n"] for one in both)}


def _collect_judged(outcomes: Sequence[Outcome]) -> tuple[list[float], list[bool]]:
    pairs = [pair for outcome in outcomes for pair in outcome.judged]
    return [told for told, _ in pairs], [bool(true) for _, true in pairs]
