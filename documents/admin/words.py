"""How the admin puts states and numbers."""

from django.utils.html import format_html


def state_badge(state: str) -> str:
    return format_html('<span class="kx-state kx-{}">{}</span>', state, state)


def count_noun(number: int, noun: str) -> str:
    """`1 page`, `2 pages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
