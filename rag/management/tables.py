"""Figures side by side, in plain text."""

from collections.abc import Mapping, Sequence
from typing import Any

from rag.evaluation.summary import ORDER

LATENCIES = ("latency_p50_ms", "latency_p95_ms")


def table(names: Sequence[str], summary: Mapping[str, Any]) -> str:
    """A line for each metric; with two configurations their difference, * where its interval leaves out 0."""
    measured, differences = summary["configurations"], summary["differences"] or {}
    lines = [_header(names, with_difference=len(names) == 2)]
    for metric in (*ORDER, "balanced", *LATENCIES, "calibration_error"):
        figures = [_figure(one, metric) for one in measured]
        if any(figures):
            lines.append(_line(metric, figures, differences.get(metric)))
    asked, failed = measured[0]["questions"], [one["errors"] for one in measured]
    lines.append(f"{asked} questions" + (f", {'/'.join(map(str, failed))} failed" if any(failed) else ""))
    return "\n".join(lines)


def _header(names: Sequence[str], *, with_difference: bool) -> str:
    columns = "".join(f"  {name[:24]:<24}" for name in names)
    return f"{'':30}{columns}" + ("  difference" if with_difference else "")


def _figure(one: Mapping[str, Any], metric: str) -> dict[str, Any]:
    if metric == "calibration_error":
        return {} if one[metric] is None else {"value": one[metric], "low": None, "high": None}
    found: dict[str, Any] = one["metrics"].get(metric, {})
    return found


def _line(metric: str, figures: Sequence[Mapping[str, Any]], difference: Mapping[str, Any] | None) -> str:
    columns = "".join(f"  {_cell(figure, metric):<24}" for figure in figures)
    return f"{metric:<30}{columns}{_change(difference)}".rstrip()


def _cell(figure: Mapping[str, Any], metric: str) -> str:
    if not figure:
        return "-"
    digits = 1 if metric in (*LATENCIES, "answer_words") else 3
    text = f"{figure['value']:.{digits}f}"
    return (
        text if figure["low"] is None else f"{text} ({figure['low']:.{digits}f}-{figure['high']:.{digits}f})"
    )


def _change(difference: Mapping[str, Any] | None) -> str:
    if not difference:
        return ""
    low, high = difference["low"], difference["high"]
    sure = "*" if low is not None and (low > 0 or high < 0) else ""
    span = "" if low is None else f" ({low:+.3f} to {high:+.3f})"
    counts = f"better {difference['better']}, worse {difference['worse']}, equal {difference['equal']}"
    return f"  {difference['difference']:+.3f}{sure}{span}, {counts}"
