"""How the admin shows what is known of a question and its answer, a cell each."""

from datetime import datetime
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.utils.text import Truncator
from django.utils.timezone import localtime

from rag.admin.query_filters import humanize
from rag.history.records import CLIENT_LEFT
from rag.models.queries import DOUBTFUL

EMPTY = "–"
# Of each state of a claim: a sign that needs no colour, and its colour's class.
STATES = {
    "exact": ("=", "kx-completed"),
    "supported": ("✓", "kx-completed"),
    "unverified": ("?", "kx-stalled"),
    "contradicted": ("✗", "kx-failed"),
    "uncited": ("–", ""),
}


def format_outcome(query: Any) -> str:
    """Show how a Query ended."""
    if query.error:
        return _badge("" if query.error == CLIENT_LEFT else "kx-failed", humanize(query.error))
    if query.answered:
        return _badge("kx-completed", "answered")
    return _badge("", humanize(query.reason or "not answered"))


def format_faithfulness(response: Any) -> str:
    """Show the faithfulness of a Response or None."""
    return _format_figure(response.faithfulness_score if response else None, good=1.0, poor=0.5)


def format_relevance(response: Any) -> str:
    """Show how well a Response or None answers the question."""
    return _format_figure(response.answer_relevance if response else None, good=DOUBTFUL, poor=DOUBTFUL / 2)


def _format_figure(number: float | None, *, good: float, poor: float) -> str:
    if number is None:
        return EMPTY
    kind = "kx-completed" if number >= good else "kx-stalled" if number >= poor else "kx-failed"
    return _badge(kind, f"{number:.2f}")


def format_state(word: str) -> str:
    """Show the state of a claim, as in rag.types.answer.Verification, or ""."""
    if not word:
        return EMPTY
    sign, kind = STATES.get(word, ("", ""))
    return _badge(kind, f"{sign} {word}")


def format_states(response: Any) -> str:
    """Show how many claims of a Response or None are in each state."""
    counts = response.verification if response else {}
    shown = [
        _badge(kind, f"{sign} {counts[word]} {word}")
        for word, (sign, kind) in STATES.items()
        if counts.get(word)
    ]
    return mark_safe(" ".join(shown)) if shown else EMPTY  # noqa: S308 - badges, escaped by themselves


def format_rating(word: str) -> str:
    """Show a Feedback.Rating or ""."""
    if not word:
        return EMPTY
    return _badge("kx-completed" if word == "thumbs_up" else "kx-failed", humanize(word))


def format_ratings(up: int, down: int) -> str:
    """Show how many thumbs there are of each kind, in words: not every system has a picture of one."""
    shown = [_badge("kx-completed", f"up {up}")] * bool(up) + [_badge("kx-failed", f"down {down}")] * bool(
        down
    )
    return mark_safe(" ".join(shown)) if shown else EMPTY  # noqa: S308 - badges, escaped by themselves


def _badge(kind: str, text: str) -> str:
    return format_html('<span class="kx-state {}">{}</span>', kind, text)


def format_milliseconds(number: float | None) -> str:
    """Format as `0.2 ms`, `640 ms`, `1.3 s`."""
    if number is None:
        return EMPTY
    if number < 10:
        return f"{number:.3g} ms"
    return f"{number:,.0f} ms" if number < 1000 else f"{number / 1000:.1f} s"


def format_time(moment: datetime) -> str:
    """Format to the minute, in as little room as a column of a wide table has."""
    return localtime(moment).strftime("%Y-%m-%d %H:%M")


def shorten(text: str, most: int = 120) -> str:
    return Truncator(" ".join(text.split())).chars(most)
