"""How the admin shows what is known of a question and its answer, a cell each."""

from typing import Any

from django.utils.html import format_html
from django.utils.text import Truncator

from documents.admin.words import state_badge
from rag.admin.query_filters import told

NONE = "–"


def outcome(query: Any) -> str:
    """query: a Query."""
    if query.error:
        return format_html('<span class="kx-state kx-failed">{}</span>', told(query.error))
    if query.answered:
        return state_badge("answered").replace("kx-answered", "kx-completed")
    return format_html('<span class="kx-state">{}</span>', told(query.reason or "not answered"))


def faithfulness(response: Any) -> str:
    """response: a Response or None."""
    score = response.faithfulness_score if response else None
    if score is None:
        return NONE
    kind = "kx-completed" if score == 1 else "kx-stalled" if score >= 0.5 else "kx-failed"
    return format_html('<span class="kx-state {}">{}</span>', kind, f"{score:.2f}")


def ratings(up: int, down: int) -> str:
    """In words for those who cannot see the thumbs."""
    shown = [
        format_html(
            '<span class="rq-thumb" title="{0} thumbs {1}" aria-label="{0} thumbs {1}">{2} {0}</span>', *one
        )
        for one in ((up, "up", "👍"), (down, "down", "👎"))
        if one[0]
    ]
    return format_html(" ".join(["{}"] * len(shown)), *shown) if shown else NONE


def milliseconds(number: float | None) -> str:
    """`640 ms`, `1.3 s`."""
    if number is None:
        return NONE
    return f"{number:,.0f} ms" if number < 1000 else f"{number / 1000:.1f} s"


def short(text: str, most: int = 120) -> str:
    return Truncator(" ".join(text.split())).chars(most)
