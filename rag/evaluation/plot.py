"""Evaluations as SVG: bars of the metrics with their 95 % intervals, and whether told relevance came true.

The numbers are placed here, the elements stand in templates; whatever a user named is escaped there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string

from rag.models import Evaluation

COLOURS = ("#2563a8", "#d9822b")  # told apart by everybody, in grey, too
LABELS = {
    "hit@1": "hit@1",
    "hit@3": "hit@3",
    "hit@5": "hit@5",
    "hit@10": "hit@10",
    "recall@5": "recall@5",
    "recall@10": "recall@10",
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
TOP, LEFT, BAR_PX, PAD = 64.0, 190.0, 300.0, 24.0
THICK, GAP = 11.0, 9.0
SQUARE, MAX_NAME = 240.0, 40


@dataclass(frozen=True, slots=True)
class Bar:
    """One value with its interval, all in px; None where there is no interval."""

    y: float
    middle: float
    end: float
    low: float | None
    high: float | None
    text: str
    colour: str


@dataclass(frozen=True, slots=True)
class Dot:
    """One bin of a reliability diagram, in px; radius by how many it holds."""

    x: float
    y: float
    low: float
    high: float
    radius: float
    title: str


def evaluation_svg(run: Evaluation) -> str:
    """The run's figures; before it has ended, or where it failed, a picture that says so."""
    measured = (run.summary or {}).get("configurations") or []
    names = [one["name"] for one in run.configurations]
    title = run.question_set.name
    if not measured:
        return message_svg(title, f"{run.get_status_display()}: {run.done} of {run.total} questions asked.")
    return figures_svg(title, names, measured)


def figures_svg(title: str, names: Sequence[str], measured: Sequence[Mapping[str, Any]]) -> str:
    """measured: of each named configuration what `summary.summarise` gives."""
    shown = [name for name in LABELS if any(name in one["metrics"] for one in measured)]
    pitch = THICK * len(names) + GAP
    rows = [
        {
            "label": LABELS[name],
            "y": TOP + place * pitch + THICK * len(names) / 2 + 4,
            "bars": _bars([one["metrics"].get(name) for one in measured], TOP + place * pitch),
        }
        for place, name in enumerate(shown)
    ]
    diagrams = [_curve(one["reliability"], colour) for one, colour in zip(measured, COLOURS, strict=False)]
    bottom = TOP + max(len(shown) * pitch, SQUARE if any(diagrams) else 0)
    return render_to_string(
        "rag/evaluation.svg",
        {
            "title": _short(title, 80),
            "rows": rows,
            "names": _legend(names, measured),
            "ticks": [(LEFT + BAR_PX * share / 4, share / 4) for share in range(5)],
            "top": TOP - 8,
            "bottom": TOP + len(shown) * pitch,
            "width": LEFT + BAR_PX + 2 * PAD + 50 + (SQUARE + 90 if any(diagrams) else 0),
            "height": bottom + 40 + 20 * len(names),
            "notes": bottom + 44,
            "left": LEFT,
            "diagram": _diagram(diagrams, LEFT + BAR_PX + 140, TOP),
        },
    )


def message_svg(title: str, message: str) -> str:
    return render_to_string("rag/message.svg", {"title": _short(title, 80), "message": message})


def _bars(figures: Sequence[Mapping[str, Any] | None], top: float) -> list[Bar]:
    return [
        Bar(
            y=top + place * THICK,
            middle=top + place * THICK + THICK / 2 - 0.5,
            end=BAR_PX * figure["value"],
            low=_at(figure["low"]),
            high=_at(figure["high"]),
            text=f"{figure['value']:.3f}",
            colour=COLOURS[place],
        )
        for place, figure in enumerate(figures)
        if figure is not None
    ]


def _at(share: float | None) -> float | None:
    return None if share is None else LEFT + BAR_PX * share


def _legend(names: Sequence[str], measured: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"text": f"{_short(name, MAX_NAME)}{_note(one)}", "colour": colour, "place": place * 20}
        for place, (name, one, colour) in enumerate(zip(names, measured, COLOURS, strict=False))
    ]


def _note(one: Mapping[str, Any]) -> str:
    told = f" · {one['questions']} questions"
    told += f", {one['errors']} failed" if one["errors"] else ""
    times = [one["metrics"].get(f"latency_{share}_ms", {}).get("value") for share in ("p50", "p95")]
    told += f" · {times[0]:.0f} ms at the median, {times[1]:.0f} ms at 95 %" if None not in times else ""
    return told


def _curve(held: Sequence[Mapping[str, Any]], colour: str) -> dict[str, Any] | None:
    """The bins with places in a square of side 1, y downwards; None of nothing."""
    most = max((one["count"] for one in held), default=0)
    return {"colour": colour, "bins": held, "most": most} if held else None


def _diagram(curves: Sequence[dict[str, Any] | None], left: float, top: float) -> dict[str, Any] | None:
    if not any(curves):
        return None
    drawn = []
    for curve in filter(None, curves):
        dots = [_dot(one, curve["most"], left, top) for one in curve["bins"]]
        line = " ".join(f"{dot.x:.1f},{dot.y:.1f}" for dot in dots)
        drawn.append({"colour": curve["colour"], "dots": dots, "line": line})
    ticks = [(left + SQUARE * n / 4, top + SQUARE * (1 - n / 4), n / 4) for n in range(5)]
    edges = {"right": left + SQUARE, "bottom": top + SQUARE, "centre": left + SQUARE / 2}
    return {"left": left, "top": top, "side": SQUARE, "curves": drawn, "ticks": ticks, **edges}


def _dot(one: Mapping[str, Any], most: int, left: float, top: float) -> Dot:
    low, high = one["interval"]
    return Dot(
        x=left + SQUARE * one["told"],
        y=top + SQUARE * (1 - one["true"]),
        low=top + SQUARE * (1 - low),
        high=top + SQUARE * (1 - high),
        radius=2.5 + 4.5 * (one["count"] / most) ** 0.5,
        title=f"told {one['told']:.2f}, true {one['true']:.2f}, {one['count']} questions",
    )


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
