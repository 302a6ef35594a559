"""Charts over days: where everything stands, for the templates that draw them as SVG. Pure.

All in px of a drawing of WIDTH x HEIGHT, y downwards; colours are classes of the style sheet.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

WIDTH, HEIGHT = 720.0, 240.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 708.0, 12.0, 210.0
LABELS = 8


@dataclass(frozen=True, slots=True)
class Series:
    """One value a day, None where there is none. kind: its colour's class."""

    name: str
    kind: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a bar, or a dot (height 0)."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    kind: str
    points: str


@dataclass(frozen=True, slots=True)
class Chart:
    """empty: there is nothing to draw. ticks, labels: (place, text) of the axes."""

    title: str
    names: list[tuple[str, str]]
    ticks: list[tuple[float, str]]
    labels: list[tuple[float, str]]
    bars: list[Mark]
    lines: list[Line]
    dots: list[Mark]
    empty: bool


def stacked(title: str, days: Sequence[date], series: Sequence[Series], unit: str = "") -> Chart:
    """Bars of what adds up, the first series at the bottom."""
    shown = [one for one in series if any(one.values)]
    sums = [sum(one.values[n] or 0 for one in shown) for n in range(len(days))]
    top = _rounded(max(4, *sums))
    pitch = (RIGHT - LEFT) / max(1, len(days))
    bars = []
    for n, day in enumerate(days):
        y = BOTTOM
        for one in shown:
            value = one.values[n] or 0
            height = (BOTTOM - TOP) * value / top
            y -= height
            if value:
                text = f"{day}: {one.name} {_number(value)}{unit}"
                bars.append(
                    Mark(
                        _r(LEFT + n * pitch + pitch * 0.1), _r(y), _r(pitch * 0.8), _r(height), one.kind, text
                    )
                )
    return _chart(title, days, shown, top, unit, bars=bars)


def lines(
    title: str, days: Sequence[date], series: Sequence[Series], unit: str = "", top: float = 0
) -> Chart:
    """A line and a dot a day for each series, interrupted where a day has no value. top: of the axis."""
    shown = [one for one in series if any(value is not None for value in one.values)]
    most = max((value for one in shown for value in one.values if value is not None), default=0.0)
    top = top or _rounded(most or 1)
    dots, drawn = [], []
    for one in shown:
        for run in _runs(one.values):
            places = [(_middle(n, len(days)), _r(BOTTOM - (BOTTOM - TOP) * value / top)) for n, value in run]
            drawn.append(Line(one.kind, " ".join(f"{x},{y}" for x, y in places)))
            titles = [f"{days[n]}: {one.name} {_number(value)}{unit}" for n, value in run]
            dots += [Mark(x, y, 0, 0, one.kind, text) for (x, y), text in zip(places, titles, strict=True)]
    return _chart(title, days, shown, top, unit, lines=drawn, dots=dots)


def _chart(
    title: str,
    days: Sequence[date],
    shown: Sequence[Series],
    top: float,
    unit: str,
    *,
    bars: list[Mark] | None = None,
    lines: list[Line] | None = None,
    dots: list[Mark] | None = None,
) -> Chart:
    names = [(one.name, one.kind) for one in shown]
    ticks = [(_r(BOTTOM - (BOTTOM - TOP) * n / 4), f"{_number(top * n / 4)}{unit}") for n in range(5)]
    every = max(1, math.ceil(len(days) / LABELS))
    labels = [
        (_middle(n, len(days)), f"{day:%d %b}")
        for n, day in enumerate(days)
        if (len(days) - 1 - n) % every == 0
    ]
    return Chart(title, names, ticks, labels, bars or [], lines or [], dots or [], not shown)


def _runs(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Stretches of days that have values, with their places."""
    runs: list[list[tuple[int, float]]] = []
    before = None
    for n, value in enumerate(values):
        if value is not None:
            if before is None:
                runs.append([])
            runs[-1].append((n, value))
        before = value
    return runs


def _rounded(value: float) -> float:
    """The next number that is easily divided by four."""
    size = 10.0 ** math.floor(math.log10(value))
    return next(step * size for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12) if step * size >= value)


def _middle(place: int, count: int) -> float:
    return _r(LEFT + (RIGHT - LEFT) * (place + 0.5) / max(1, count))


def _number(value: float) -> str:
    """As short as it can be told: `1,200`, `0.75`."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.3g}"


def _r(value: float) -> float:
    return round(value, 1)
