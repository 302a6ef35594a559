"""What a caller filters a foreign collection by. Plain Python."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowlex.base.errors import InvalidInput
from rag.retrievers.foreign.records import SOURCE, SOURCES
from rag.retrievers.foreign.where import Where, checked, equal_to, joined
from rag.types.question import NO_FILTERS, Filters, Question

NOT_CONDITIONS = ("max_results",)


@dataclass(frozen=True, slots=True)
class StoreFilters(Filters):
    """source: the condition on the document's name under `SOURCE`; where: all others. None for none."""

    source: Any = None
    where: Where | None = None


def filters_of(given: Mapping[str, Any] | None) -> StoreFilters:
    """`source`: a document's name or a list of names. `where`: Chroma's notation. Any other key is one of the
    metadata: a value, a list of values or an operator ({"$gte": 5}). None counts as not given; `max_results`
    is no condition. Raises InvalidInput.
    """
    rest = {key: value for key, value in (given or {}).items() if value is not None}
    source = rest.pop("source", None)
    if source is not None:
        _check_source(source)
    conditions = (
        [checked(rest.pop("where"), "filters.where")] if isinstance(rest.get("where"), Mapping) else []
    )
    conditions += [
        equal_to(key, value, f"filters.{key}") for key, value in rest.items() if key not in NOT_CONDITIONS
    ]
    return StoreFilters(source=source, where=joined([one for one in conditions if one is not None]))


def wheres_of(question: Question) -> list[Where | None]:
    """What to ask for, in turn, until something is found: not every collection has its documents' names under
    the same key.
    """
    filters = question.filters
    if filters == NO_FILTERS:
        return [None]
    if not isinstance(filters, StoreFilters):
        raise InvalidInput("These filters are not known to a collection of others.", field="filters")
    if filters.source is None:
        return [filters.where]
    other = joined([_named(key, filters.source) for key in SOURCES if key != SOURCE], "$or")
    assert other is not None
    return [_both(_named(SOURCE, filters.source), filters.where), _both(other, filters.where)]


def _named(key: str, source: Any) -> Where:
    found = equal_to(key, source, "filters.source")
    assert found is not None
    return found


def _both(one: Where, other: Where | None) -> Where | None:
    return joined([part for part in (one, other) if part is not None])


def _check_source(source: Any) -> None:
    names = source if isinstance(source, list | tuple) else [source]
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise InvalidInput("filters.source must be a document's name.", field="filters.source")
    equal_to(SOURCE, source, "filters.source")
