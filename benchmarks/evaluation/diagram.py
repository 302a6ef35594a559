"""A reliability diagram as SVG, without a plotting library."""

from collections.abc import Sequence

import numpy as np

SIZE, EDGE, BINS = 300, 45, 10


def reliability(chances: Sequence[float], labels: Sequence[bool]) -> str:
    """For each tenth of the told chances a dot: the share that came true, with its 95 % Wilson interval."""
    told, true = np.array(chances), np.array(labels, dtype=float)
    places = np.minimum((told * BINS).astype(int), BINS - 1)
    dots = "\n".join(
        _dot(told[places == place].mean(), true[places == place])
        for place in range(BINS)
        if (places == place).any()
    )
    ticks = "\n".join(_tick(share) for share in (0, 0.2, 0.4, 0.6, 0.8, 1))
    whole = SIZE + EDGE + 15
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}"
  font-family="sans-serif" font-size="11">
<rect width="{whole}" height="{whole}" fill="white"/>
<rect x="{_x(0)}" y="{_y(1)}" width="{SIZE}" height="{SIZE}" fill="none" stroke="#888"/>
<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="#888" stroke-dasharray="4"/>
{ticks}
{dots}
<text x="{_x(0.5)}" y="{whole - 6}" text-anchor="middle">told relevance</text>
<text transform="translate(12 {_y(0.5)}) rotate(-90)" text-anchor="middle">share that was answerable</text>
</svg>
"""


def _x(share: float) -> float:
    return round(EDGE + share * SIZE, 1)


def _y(share: float) -> float:
    return round(15 + (1 - share) * SIZE, 1)


def _tick(share: float) -> str:
    return (
        f'<text x="{_x(share)}" y="{_y(0) + 15}" text-anchor="middle">{share:g}</text>'
        f'<text x="{_x(0) - 6}" y="{_y(share) + 4}" text-anchor="end">{share:g}</text>'
    )


def _dot(told: float, outcomes: np.ndarray) -> str:
    count, share = len(outcomes), outcomes.mean()
    middle = (share + 1.92 / count) / (1 + 3.84 / count)
    half = 1.96 * (share * (1 - share) / count + 0.96 / count**2) ** 0.5 / (1 + 3.84 / count)
    x, low, high = _x(told), _y(max(0.0, middle - half)), _y(min(1.0, middle + half))
    return (
        f'<line x1="{x}" y1="{low}" x2="{x}" y2="{high}" stroke="#2a6"/>'
        f'<circle cx="{x}" cy="{_y(share)}" r="4" fill="#2a6"><title>{count} questions</title></circle>'
        f'<text x="{x + 6}" y="{_y(share) + 14}" fill="#555">{count}</text>'
    )
