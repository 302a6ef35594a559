"""Charts as SVG: bars and lines over days for the admin, and the figures of an evaluation.

Positions are computed here in px, y downwards, and templates draw the elements; they escape whatever a user
named. In charts over days colours are classes of the style sheet.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any, NamedTuple

from django.template.loader import render_to_string

from rag.models import Evaluation

LEFT, RIGHT, TOP, BOTTOM = 52.0, 708.0, 12.0, 210.0  # of a chart over days, in a drawing of 720 x 240
MAX_DAY_LABELS = 8
ROUND_NUMBERS = (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12)  # easily divided by four


class Series(NamedTuple):
    """One value for each day, None where there is none. kind: the class of its colour."""

    name: str
    kind: str
    values: Sequence[float | None]


class Mark(NamedTuple):
    """A part of a bar, or a dot, which has no height."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class DayChart:
    """A chart over days. ticks, labels: (position, text) on the axes. lines: kind and points of each."""

    title: str
    names: list[tuple[str, str]]
    ticks: list[tuple[float, str]]
    labels: list[tuple[float, str]]
    bars: Sequence[Mark] = ()
    lines: Sequence[dict[str, str]] = ()
    dots: Sequence[Mark] = ()

    @property
    def empty(self) -> bool:
        return not self.names


def stack_bars(title: str, days: Sequence[date], series: Sequence[Series]) -> DayChart:
    """Return a chart of series that add up, the first one at the bottom."""
    shown = [one for one in series if any(one.values)]
    sums = [sum(one.values[n] or 0 for one in shown) for n in range(len(days))]
    top = _round_up(max(4, *sums))
    pitch = (RIGHT - LEFT) / max(1, len(days))
    bars = []
    for n, day in enumerate(days):
        y = BOTTOM
        for name, kind, values in shown:
            value = values[n] or 0
            height = (BOTTOM - TOP) * value / top
            y -= height
            if value:
                x, text = LEFT + n * pitch + pitch * 0.1, f"{day}: {name} {_format_number(value)}"
                width = round(pitch * 0.8, 1)
                bars.append(Mark(round(x, 1), round(y, 1), width, round(height, 1), kind, text))
    return DayChart(title, *_axes(days, shown, top, ""), bars=bars)


def draw_lines(
    title: str, days: Sequence[date], series: Sequence[Series], unit: str = "", top: float = 0
) -> DayChart:
    """Return a chart with a line for each series, interrupted where a day has no value. top: of the axis."""
    shown = [one for one in series if any(value is not None for value in one.values)]
    most = max((value for one in shown for value in one.values if value is not None), default=0.0)
    top = top or _round_up(most or 1)
    lines, dots = [], list[Mark]()
    for name, kind, values in shown:
        for has_values, stretch in groupby(enumerate(values), key=_has_value):
            if not has_values:
                continue
            marks = []
            for n, value in stretch:
                y = round(BOTTOM - (BOTTOM - TOP) * (value or 0) / top, 1)
                text = f"{days[n]}: {name} {_format_number(value or 0)}{unit}"
                marks.append(Mark(_middle_of(n, len(days)), y, 0, 0, kind, text))
            lines.append({"kind": kind, "points": " ".join(f"{mark.x},{mark.y}" for mark in marks)})
            dots += marks
    return DayChart(title, *_axes(days, shown, top, unit), lines=lines, dots=dots)


def _has_value(item: tuple[int, float | None]) -> bool:
    return item[1] is not None


Texts = list[tuple[float, str]]


def _axes(
    days: Sequence[date], shown: Sequence[Series], top: float, unit: str
) -> tuple[list[tuple[str, str]], Texts, Texts]:
    """Return the legend, the ticks of the value axis and the labels of the day axis."""
    ticks = [
        (round(BOTTOM - (BOTTOM - TOP) * n / 4, 1), f"{_format_number(top * n / 4)}{unit}") for n in range(5)
    ]
    every = math.ceil(len(days) / MAX_DAY_LABELS) or 1
    labels = [
        (_middle_of(n, len(days)), f"{day:%d %b}")
        for n, day in enumerate(days)
        if (len(days) - 1 - n) % every == 0
    ]
    return [(one.name, one.kind) for one in shown], ticks, labels


def _round_up(value: float) -> float:
    size = 10.0 ** math.floor(math.log10(value))
    return next(number * size for number in ROUND_NUMBERS if number * size >= value)


def _middle_of(day: int, count: int) -> float:
    return round(LEFT + (RIGHT - LEFT) * (day + 0.5) / max(1, count), 1)


def _format_number(value: float) -> str:
    """Format a number as briefly as possible: `1,200`, `0.75`."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.3g}"


COLOURS = ("#2563a8", "#d9822b")  # of configurations; told apart by everybody, in grey, too
METRIC_LABELS = {
    **{name: name for name in ("hit@1", "hit@3", "hit@5", "hit@10", "recall@5", "recall@10")},
    "mrr@10": "MRR@10",
    "ndcg@10": "nDCG@10",
    "doc_hit@1": "right document first",
    "answer_accuracy": "answers right",
    "abstention_on_unanswerable": "abstains, unanswerable",
    "false_abstention": "abstains, answerable ↓",
    "gold_doc_cited": "right document cited",
    "citation_precision": "citation precision",
    "page_right": "right page cited",
}
BARS_TOP, BARS_LEFT, BARS_WIDTH, PADDING = 64.0, 190.0, 300.0, 24.0
BAR_HEIGHT, BAR_GAP = 11.0, 9.0
DIAGRAM_SIDE = 240.0
DIAGRAM_LEFT = BARS_LEFT + BARS_WIDTH + 140
MAX_TITLE, MAX_NAME = 80, 40


def evaluation_svg(run: Evaluation) -> str:
    """Return a picture of the run's figures, or one that says how far it is or that it failed."""
    measured = (run.summary or {}).get("configurations") or []
    title = run.question_set.name
    if not measured:
        return message_svg(title, f"{run.get_status_display()}: {run.done} of {run.total} questions asked.")
    return figures_svg(title, [configuration["name"] for configuration in run.configurations], measured)


def message_svg(title: str, message: str) -> str:
    return render_to_string("rag/message.svg", {"title": _shorten(title, MAX_TITLE), "message": message})


def figures_svg(title: str, names: Sequence[str], measured: Sequence[Mapping[str, Any]]) -> str:
    """Return bars of the metrics with their 95 % intervals, and a reliability diagram of the relevance.

    measured: what `summary.summarise` returns for each of the named configurations.
    """
    shown = [name for name in METRIC_LABELS if any(name in summary["metrics"] for summary in measured)]
    pitch = BAR_HEIGHT * len(names) + BAR_GAP
    rows = [
        {
            "label": METRIC_LABELS[name],
            "y": BARS_TOP + n * pitch + BAR_HEIGHT * len(names) / 2 + 4,
            "bars": _place_bars([summary["metrics"].get(name) for summary in measured], BARS_TOP + n * pitch),
        }
        for n, name in enumerate(shown)
    ]
    diagram = _place_diagram([summary["reliability"] for summary in measured])
    bottom = BARS_TOP + max(len(shown) * pitch, DIAGRAM_SIDE if diagram else 0)
    return render_to_string(
        "rag/evaluation.svg",
        {
            "title": _shorten(title, MAX_TITLE),
            "rows": rows,
            "names": _legend(names, measured),
            "ticks": [(BARS_LEFT + BARS_WIDTH * n / 4, n / 4) for n in range(5)],
            "top": BARS_TOP - 8,
            "bottom": BARS_TOP + len(shown) * pitch,
            "width": BARS_LEFT + BARS_WIDTH + 2 * PADDING + 50 + (DIAGRAM_SIDE + 90 if diagram else 0),
            "height": bottom + 40 + 20 * len(names),
            "notes": bottom + 44,
            "left": BARS_LEFT,
            "diagram": diagram,
        },
    )


def _place_bars(figures: Sequence[Mapping[str, Any] | None], top: float) -> list[dict[str, Any]]:
    bars = []
    for figure, colour, y in zip(figures, COLOURS, (top, top + BAR_HEIGHT), strict=False):
        if figure is None:
            continue
        has_interval = figure["low"] is not None
        bars.append(
            {
                "y": y,
                "middle": y + BAR_HEIGHT / 2 - 0.5,
                "end": BARS_WIDTH * figure["value"],
                "low": BARS_LEFT + BARS_WIDTH * figure["low"] if has_interval else None,
                "high": BARS_LEFT + BARS_WIDTH * figure["high"] if has_interval else None,
                "text": f"{figure['value']:.3f}",
                "colour": colour,
            }
        )
    return bars


def _legend(names: Sequence[str], measured: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"text": f"{_shorten(name, MAX_NAME)}{_describe_run(summary)}", "colour": colour, "place": n * 20}
        for n, (name, summary, colour) in enumerate(zip(names, measured, COLOURS, strict=False))
    ]


def _describe_run(summary: Mapping[str, Any]) -> str:
    text = f" · {summary['questions']} questions"
    if summary["errors"]:
        text += f", {summary['errors']} failed"
    times = [summary["metrics"].get(f"latency_{share}_ms", {}).get("value") for share in ("p50", "p95")]
    if None not in times:
        text += f" · {times[0]:.0f} ms at the median, {times[1]:.0f} ms at 95 %"
    return text


def _place_diagram(reliabilities: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any] | None:
    """Return the reliability diagram, a curve for each configuration; None if there is nothing to draw."""
    curves = []
    for bins, colour in zip(reliabilities, COLOURS, strict=False):
        if bins:
            most = max(one["count"] for one in bins)
            dots = [_place_dot(one, most) for one in bins]
            line = " ".join(f"{dot['x']:.1f},{dot['y']:.1f}" for dot in dots)
            curves.append({"colour": colour, "dots": dots, "line": line})
    if not curves:
        return None
    return {
        "left": DIAGRAM_LEFT,
        "top": BARS_TOP,
        "side": DIAGRAM_SIDE,
        "right": DIAGRAM_LEFT + DIAGRAM_SIDE,
        "bottom": BARS_TOP + DIAGRAM_SIDE,
        "centre": DIAGRAM_LEFT + DIAGRAM_SIDE / 2,
        "curves": curves,
        "ticks": [(DIAGRAM_LEFT + DIAGRAM_SIDE * n / 4, _height_at(n / 4), n / 4) for n in range(5)],
    }


def _place_dot(one: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Return the dot of one bin, the larger the more questions the bin holds."""
    low, high = one["interval"]
    return {
        "x": DIAGRAM_LEFT + DIAGRAM_SIDE * one["told"],
        "y": _height_at(one["true"]),
        "low": _height_at(low),
        "high": _height_at(high),
        "radius": 2.5 + 4.5 * (one["count"] / most) ** 0.5,
        "title": f"told {one['told']:.2f}, true {one['true']:.2f}, {one['count']} questions",
    }


def _height_at(share: float) -> float:
    return BARS_TOP + DIAGRAM_SIDE * (1 - share)


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
