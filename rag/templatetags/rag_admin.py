"""What the admin's templates show: cells of tables, and the first page."""

from typing import Any

from django import template

from rag.admin import cells, dashboard

register = template.Library()
register.filter("milliseconds", cells.format_milliseconds)
register.simple_tag(dashboard.read_dashboard)


@register.filter
def faithfulness(query: Any) -> str:
    """Show the faithfulness of a query's answer. query: with its response."""
    return cells.format_faithfulness(getattr(query, "response", None))


@register.filter
def relevance(query: Any) -> str:
    """Show how well the answer answers. query: with its response."""
    return cells.format_relevance(getattr(query, "response", None))


@register.filter
def states(query: Any) -> str:
    """Show the states of the answer's claims. query: with its response."""
    return cells.format_states(getattr(query, "response", None))


@register.filter
def score(number: float | None) -> str:
    return cells.EMPTY if number is None else f"{number:.3f}"
